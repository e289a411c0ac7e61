"""Record keys and partition paths beside the fields of rows: the forms that a key generator may have made, and unknown generators."""

from collections.abc import Callable

import deep_damage_samples as d
import pyarrow as pa
import pytest
import validated_tables_samples as t

from hudi_conformance.validator.all_checks import ALL
from hudi_reference.storage import Storage


def _prefixed(prefix: str) -> Callable[[pa.Table], pa.Table]:
    """Stores this text before each record key."""

    def change(rows: pa.Table) -> pa.Table:
        at = rows.column_names.index("_hoodie_record_key")
        return rows.set_column(at, "_hoodie_record_key", pa.array([prefix + key for key in rows.column(at).to_pylist()]))

    return change


@pytest.mark.parametrize(
    ("version", "generator", "prefix", "is_right"),
    [
        (8, "SIMPLE", "", True),
        (8, "SIMPLE", "id:", True),
        (8, "COMPLEX", "", True),
        (8, "COMPLEX", "id:", True),
        (8, "SIMPLE", "ts:", False),
        (8, "COMPLEX", "id:id:", False),
        (9, "SIMPLE", "", True),
        (9, "SIMPLE", "id:", False),
        (9, "COMPLEX", "id:", True),
        (9, "COMPLEX", "", False),
    ],
)
def test_the_forms_of_the_key_of_one_field(version: int, generator: str, prefix: str, is_right: bool) -> None:
    """META-007, META-013: before version 9 releases differ in the form of the key of a single field; since then the generator decides."""
    table = d._create("COPY_ON_WRITE", {}, version=version)
    table.insert(d.rows(0, 2))
    t.change_properties(table.storage, {"hoodie.table.keygenerator.type": generator})
    d.in_newest(_prefixed(prefix))(table.storage)
    found = {one.severity for one in d.found_in(table.storage) if one.rule == "META-007"}
    assert found == (set() if is_right else {"wrong-answers"})


@pytest.mark.parametrize("prefix", ["", "id:", "ts:"])
def test_both_forms_are_right_after_an_upgrade(prefix: str) -> None:
    """META-013: a table that an upgrade brought to version 9 keeps the keys of before, whatever their form is."""
    table = d._create("COPY_ON_WRITE", {}, version=9)
    table.insert(d.rows(0, 2))
    upgraded = {"hoodie.table.keygenerator.type": "COMPLEX", "hoodie.table.initial.version": "8"}
    t.change_properties(table.storage, upgraded)
    d.in_newest(_prefixed(prefix))(table.storage)
    assert ("META-007" in {one.rule for one in d.found_in(table.storage)}) == (prefix == "ts:")


@pytest.mark.parametrize("make", [d.copy_on_write, d.merge_on_read])
def test_keys_and_paths_of_an_unknown_generator_are_not_judged(make: Callable[[], Storage]) -> None:
    """META-007, LAY-018, PROP-008: what a class of the user makes of the fields is not known."""
    storage = make()
    foreign = {"hoodie.table.keygenerator.type": "USER_PROVIDED", "hoodie.table.keygenerator.class": "com.example.Keys"}
    t.change_properties(storage, foreign)
    assert d.found_in(storage) == []
    d.in_newest(_prefixed("example-"))(storage)
    assert not {one.rule for one in d.found_in(storage)} & {"META-007", "LAY-018", "PROP-008"}


def _by_time(**settings: str) -> Storage:
    """Two partitions with the texts of their rows, and a generator that formats times, with these settings."""
    storage = d.copy_on_write()
    names = {f"hoodie.keygen.timebased.{name.replace('_', '.')}": value for name, value in settings.items()}
    t.change_properties(storage, {"hoodie.table.keygenerator.type": "TIMESTAMP"} | names)
    return storage


@pytest.mark.parametrize(
    "settings",
    [{}, {"timestamp_type": "DATE_STRING", "input_dateformat": "yyyy-MM-dd", "output_dateformat": "yyyy/MM/dd"}],
)
def test_texts_are_no_folders_of_a_generator_of_times(settings: dict[str, str]) -> None:
    """PROP-001: the folders x and y are the texts of the rows, of which the generator makes no path."""
    found = [one for one in d.found_in(_by_time(**settings)) if one.rule == "PROP-001"]
    assert [(one.severity, one.key) for one in found] == [("wrong-answers", "hoodie.table.keygenerator.type")]
    assert found[0].found == "'x' in the rows below 'x'"


@pytest.mark.parametrize(
    "settings", [{}, {"timestamp_type": "DATE_STRING", "input_dateformat": "yyyy", "output_dateformat": "yyyy"}]
)
def test_texts_of_times_may_be_folders_of_a_generator_of_times(settings: dict[str, str]) -> None:
    """PROP-001: a year that is read and written in one format is its folder; older releases did not store the formats."""
    table = d._create("COPY_ON_WRITE", {})
    rows = d.rows(0, 2)
    at = rows.column_names.index("p")
    table.insert(rows.set_column(at, "p", pa.array(["2024"] * rows.num_rows)))
    names = {f"hoodie.keygen.timebased.{name.replace('_', '.')}": value for name, value in settings.items()}
    t.change_properties(table.storage, {"hoodie.table.keygenerator.type": "TIMESTAMP"} | names)
    assert not [one for one in d.found_in(table.storage) if one.rule == "PROP-001"]


@pytest.mark.parametrize(("divider", "rules"), [("/", set()), ("_", {"PROP-008"})])
def test_dates_in_folders_with_names(divider: str, rules: set[str]) -> None:
    """ER-275: a writer that splits dates stores 2026-07-03 below p=2026/07/03, and no property tells."""
    named = {"hoodie.datasource.write.hive_style_partitioning": "true"}
    table = d._create("COPY_ON_WRITE", {}, properties=named)
    rows = d.rows(0, 1)
    at = rows.column_names.index("p")
    dates = ["2026/07/03", "2026/07/04"]
    table.insert(rows.set_column(at, "p", pa.array([date.replace("/", divider) for date in dates])))
    for path, date in zip(t.base_files(table.storage), dates, strict=True):
        d.rewrite(table.storage, path, d.with_value("p", 0, date.replace("/", "-")))
    found = {one.rule for one in d.found_in(table.storage)}
    assert found & {"LAY-018", "PROP-008"} == rules


_HOURS = {"timestamp_type": "DATE_STRING", "input_dateformat": "yyyy-MM-dd HH", "output_dateformat": "yyyy/MM/dd"}


@pytest.mark.parametrize(
    ("changes", "is_right"),
    [
        ({}, True),
        ({"output.timezone": "Asia/Tokyo"}, True),
        ({"output.dateformat": "yyyy-MM-dd"}, False),
        ({"input.dateformat": "dd-MM-yyyy HH"}, False),
    ],
)
def test_folders_of_times_have_the_formats_of_the_settings(changes: dict[str, str], is_right: bool) -> None:
    """PROP-001: the folders are those of a row in some time zone at least, which may be that of the writer."""
    prefix = "hoodie.keygen.timebased."
    settings = {f"{prefix}{name.replace('_', '.')}": value for name, value in _HOURS.items()}
    table = d._create("COPY_ON_WRITE", {}, properties={"hoodie.table.keygenerator.type": "TIMESTAMP"} | settings)
    rows = d.rows(0, 2)
    at = rows.column_names.index("p")
    table.insert(rows.set_column(at, "p", pa.array(["2024-01-01 20"] * rows.num_rows)))
    assert [path.partition("/")[0] for path in t.base_files(table.storage)] == ["2024"]
    t.change_properties(table.storage, {f"{prefix}{name}": value for name, value in changes.items()})
    found = [one for one in d.found_in(table.storage) if one.rule == "PROP-001"]
    assert {one.severity for one in found} == (set() if is_right else {"wrong-answers"})


@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
@pytest.mark.parametrize(
    ("values", "strays"),
    [
        (["2024-01-01 20", "2024-01-01 02"], []),
        (["2024-01-01 20", "2024-01-02 02"], []),
        (["2024-01-01 20", "2024-06-01 20"], ["'2024/06/01' in row 1"]),
    ],
)
def test_rows_in_the_folder_of_another_time(table_type: str, values: list[str], strays: list[str]) -> None:
    """LAY-018: the folder of times is that of each of its rows, in some time zone that a writer may have had."""
    settings = {f"hoodie.keygen.timebased.{name.replace('_', '.')}": value for name, value in _HOURS.items()}
    table = d._create(table_type, {}, properties={"hoodie.table.keygenerator.type": "TIMESTAMP"} | settings)
    for ts in (1, 2):
        rows = d.rows(0, 2, ts=ts)
        table.upsert(rows.set_column(rows.column_names.index("p"), "p", pa.array(["2024-01-01 20"] * 2)))

    def moved(rows: pa.Table) -> pa.Table:
        return rows.set_column(rows.column_names.index("p"), "p", pa.array(values))

    if table_type == "COPY_ON_WRITE":
        d.rewrite(table.storage, t.base_files(table.storage)[-1], moved)
    else:
        d.rewrite_log(table.storage, d.with_rows(moved), "2024/01/01")
    found = [one for one in d.found_in(table.storage) if one.rule == "LAY-018"]
    assert [(one.severity, one.expected, one.found) for one in found] == [
        ("wrong-answers", "'2024/01/01'", stray) for stray in strays
    ]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"hoodie.table.partition.fields": "city"}, {("PROP-008", "hoodie.table.partition.fields")}),
        ({"hoodie.datasource.write.hive_style_partitioning": "true"},
         {("LAY-018", "hoodie.datasource.write.hive_style_partitioning")}),
    ],
)  # fmt: skip
def test_wrong_properties_of_folders_are_one_finding(changes: dict[str, str], expected: set[tuple[str, str]]) -> None:
    """PROP-008, LAY-018: what all rows then have in their fields is not reported for each file."""
    storage = d.merge_on_read()
    t.change_properties(storage, changes)
    assert {(one.rule, one.key) for one in t.validated(storage, ALL).findings} == expected
