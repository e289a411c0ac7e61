"""A finding about several rows or keys names the first of them and counts the others."""

from collections.abc import Callable
from typing import Any

import deep_damage_samples as d
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from hudi_reference.storage import Storage


def _without(*keys: str) -> Callable[[pa.Table], pa.Table]:
    return lambda rows: rows.filter(pc.invert(pc.is_in(rows.column("id"), pa.array(keys))))


def _added(*keys: str) -> Callable[[pa.Table], pa.Table]:
    """Copies of the first row with other keys."""

    def change(rows: pa.Table) -> pa.Table:
        first = rows.slice(0, 1)
        return pa.concat_tables([rows, *(d.with_value("_hoodie_record_key", 0, key)(first) for key in keys)])

    return change


def _each(column: str, value: Any, *keys: str) -> Callable[[pa.Table], pa.Table]:
    """Another value of a column in the rows of these keys."""

    def change(rows: pa.Table) -> pa.Table:
        for row in pc.indices_nonzero(pc.is_in(rows.column("id"), pa.array(keys))).to_pylist():
            rows = d.with_value(column, row, value)(rows)
        return rows

    return change


def _twice(*keys: str) -> Callable[[pa.Table], pa.Table]:
    return lambda rows: pa.concat_tables([rows, rows.filter(pc.is_in(rows.column("id"), pa.array(keys)))])


#: Table, change of the newest base file with eight rows of the keys k00, k02 and so on, rule, severity, and what is found.
FOLDED: dict[str, tuple[Callable[[], Storage], Callable[[pa.Table], pa.Table], str, str, str]] = {
    "a row that a compaction lost": (d.compacted, _without("k04"), "CMP-002", "wrong-answers", "no row of 'k04'"),
    "rows that a compaction lost": (d.compacted, _without("k06", "k04"), "CMP-002", "wrong-answers", "no row of 'k04' and 1 more keys"),
    "a row that a compaction added": (d.compacted, _added("k90"), "CMP-006", "wrong-answers", "a row of 'k90'"),
    "rows that a compaction added": (d.compacted, _added("k91", "k90", "k92"), "CMP-006", "wrong-answers", "a row of 'k90' and 2 more keys"),
    "a value that a compaction changed": (d.compacted, _each("fare", 77, "k04"), "CMP-002", "wrong-answers", "77"),
    "values that a compaction changed": (d.compacted, _each("fare", 77, "k04", "k06"), "CMP-002", "wrong-answers", "77, and 1 more rows"),
    "a value that a write changed": (d.copy_on_write, _each("fare", 77, "k04"), "META-004", "wrong-answers", "77"),
    "values that a write changed": (d.copy_on_write, _each("fare", 77, "k04", "k06"), "META-004", "wrong-answers", "77, and 1 more rows"),
    "values that a write lost": (d.copy_on_write, _each("fare", None, "k04", "k06"), "META-004", "data-lost", "None, and 1 more rows"),
    "a column that a write lost": (d.copy_on_write, lambda rows: rows.drop_columns(["fare"]), "META-004", "data-lost", "no such column"),
    "a row that a clustering lost": (d.clustered, _without("k04"), "TL-011", "data-lost", "7 rows; none of 'k04'"),
    "rows that a clustering lost": (d.clustered, _without("k06", "k04"), "TL-011", "data-lost", "6 rows; none of 'k04' and 1 more rows"),
    "a row that a clustering added": (d.clustered, _added("k90"), "TL-011", "wrong-answers", "9 rows; also one of 'k90'"),
    "rows that a clustering added": (d.clustered, _added("k91", "k90"), "TL-011", "wrong-answers", "10 rows; also one of 'k90' and 1 more rows"),
}  # fmt: skip


@pytest.mark.parametrize("name", FOLDED)
def test_the_first_is_named_and_the_others_are_counted(name: str) -> None:
    """The text of the finding, which is the only one of its rule."""
    make, change, rule, severity, expected = FOLDED[name]
    storage = make()
    d.in_newest(change)(storage)
    (found,) = (one for one in d.found_in(storage) if one.rule == rule)
    assert (found.severity, found.found) == (severity, expected)
    assert ("return a null" in found.meaning) == expected.startswith("None")


@pytest.mark.parametrize(
    ("keys", "expected"),
    [(("k04",), "several rows of 'k04' in {}"), (("k06", "k04"), "several rows of 'k04', and 1 more keys in {}")],
)
def test_keys_that_a_file_has_twice_are_one_finding(keys: tuple[str, ...], expected: str) -> None:
    """PROP-017: one finding for each pair of files."""
    storage = d.copy_on_write()
    d.in_newest(_twice(*keys))(storage)
    (found,) = (one for one in d.found_in(storage) if one.rule == "PROP-017")
    assert (found.severity, found.found) == ("wrong-answers", expected.format(d.base_files(storage)[-1]))


def _lose_entries(index: str, *keys: str) -> d.Edit:
    """The entries of these record keys are removed."""

    def edit(storage: Storage) -> None:
        d.change_index(storage, index, removed=[key for key in d.entries_of(storage, index) if key.endswith(keys)])

    return edit


@pytest.mark.parametrize(
    ("index", "rule", "keys", "expected"),
    [
        ("record_index", "IDX-010", ("k04",), "no entry for 'k04'"),
        ("record_index", "IDX-010", ("k06", "k04"), "no entry for 'k04' and 1 more keys"),
        ("secondary_index_by_city", "IDX-024", ("k04",), "none for 'City4$k04'"),
        ("secondary_index_by_city", "IDX-024", ("k06", "k04"), "none for 'City4$k04' and 1 more keys"),
    ],
)
def test_keys_that_an_index_lacks_are_one_finding(index: str, rule: str, keys: tuple[str, ...], expected: str) -> None:
    """IDX-010 and IDX-024: one finding for each file group, or for the index."""
    storage = d.indexed()
    _lose_entries(index, *keys)(storage)
    (found,) = (one for one in d.found_in(storage) if one.rule == rule)
    assert (found.severity, found.found) == ("wrong-answers", expected)


@pytest.mark.parametrize(
    ("keys", "expected"),
    [(("k04",), "'z' in row 2"), (("k04", "k06", "k08"), "'z' in row 2, and others in 2 more rows")],
)
def test_rows_of_another_partition_are_one_finding(keys: tuple[str, ...], expected: str) -> None:
    """META-009: the first row is named with its value."""
    storage = d.inserted()
    d.in_newest(_each("_hoodie_partition_path", "z", *keys))(storage)
    (found,) = (one for one in d.found_in(storage) if one.rule == "META-009")
    assert (found.severity, found.found) == ("wrong-answers", expected)


@pytest.mark.parametrize(("change", "key"), [(_added("a00"), "a00"), (_added("z00"), "z00")])
def test_the_key_outside_of_the_range_of_the_footer_is_named(change: Callable[[pa.Table], pa.Table], key: str) -> None:
    """IDX-004: the least key, or else the greatest one."""
    storage = d.inserted()
    d.in_newest(change)(storage)
    found = [one for one in d.found_in(storage) if one.rule == "IDX-004" and "range" in one.expected]
    assert [(one.severity, one.key) for one in found] == [("wrong-answers", key)]


def test_a_row_of_another_file_is_named_before_one_of_another_attempt() -> None:
    """META-010: readers refuse the file for the row of another file group, and not for that of another attempt."""
    storage = d.inserted()
    own = d.base_files(storage)[-1].rpartition("/")[2]
    attempt, other = own.replace("-0_", "-0_9", 1), f"{'0' * 8}{own[8:]}"
    for names, severity, expected in (
        ((attempt, own), "cosmetic", f"{attempt!r} in row 1"),
        ((attempt, other), "wrong-answers", f"{other!r} in row 2"),
    ):
        for row, name in enumerate(names, 1):
            d.in_newest(d.with_value("_hoodie_file_name", row, name))(storage)
        (found,) = (one for one in d.found_in(storage) if one.rule == "META-010")
        assert (found.severity, found.found) == (severity, expected)
        assert ("refuse" in found.meaning) == (severity == "wrong-answers")
