"""Keys and partition paths of tables that engines write, by the table's key generator, and rows that are refused."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest

from hudi_conformance.contract import EngineError, Query, Refused, TableSpec
from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.concurrent.in_process import only_engines_of_this_project
from hudi_conformance.suite.support.keyed_rows import (
    SCHEMA,
    WRITES,
    as_arrow,
    create_table,
    keys_and_partitions,
    make_row,
)
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES
from hudi_conformance.suite.support.tables.written_tables import table_folder

TIME = "hoodie.keygen.timebased."
SECONDS = {f"{TIME}timestamp.type": "UNIX_TIMESTAMP", f"{TIME}output.dateformat": "yyyy/MM/dd"}
AT, NULL = 1_600_000_000, "__HIVE_DEFAULT_PARTITION__"


def name_generator(uri: str, generator: Mapping[str, str]) -> None:
    """Replace the properties of a table that name its key generator by these, given without their prefix."""
    prefix, file = "hoodie.table.keygenerator.", table_folder(uri) / ".hoodie" / "hoodie.properties"
    lines = [line for line in file.read_text("latin-1").splitlines() if not line.startswith(prefix)]
    file.write_text("\n".join([*lines, *(f"{prefix}{name}={value}" for name, value in generator.items()), ""]), "latin-1")
    (file.parent / ".hoodie.properties.crc").unlink(missing_ok=True)


@BOTH_TYPES
@pytest.mark.requirements("PROP-008", "PROP-016", "META-009", "META-007")
@pytest.mark.needs(*WRITES, "partition.plain")
def test_times_become_partition_paths(engine: Client, new_uri: Callable[[], str], type: str) -> None:
    """META-009: a table with the time-based generator stores its settings, so that each write finds the partitions of earlier
    ones.
    """
    uri = new_uri()
    properties = {"hoodie.table.keygenerator.type": "TIMESTAMP", **SECONDS}
    create_table(engine, uri, type, record_key=("id",), partition=("p",), properties=properties)
    engine.write(uri, "upsert", as_arrow(make_row("a", AT), make_row("b", None), make_row("c", -1)))
    engine.write(uri, "upsert", as_arrow(make_row("a", AT + 1, name="new")))
    assert keys_and_partitions(engine, uri) == {
        ("a", "2020/09/13", "new"),
        ("b", "1970/01/01", "old"),
        ("c", "1969/12/31", "old"),
    }


YEAR = datetime.now(UTC).year
TEXT = {"timestamp.type": "DATE_STRING"}
#: Settings after the prefix of their names, a value, and the partition path that Joda-Time and Java make of it.
TIMES: Mapping[str, tuple[dict[str, str], int | str, str]] = {
    "midnight": ({"timestamp.type": "UNIX_TIMESTAMP", "output.dateformat": "kk-KK-hh-a"}, 0, "24-00-12-AM"),
    "an afternoon": ({"timestamp.type": "UNIX_TIMESTAMP", "output.dateformat": "kk-KK-hh-a"}, 46_800, "13-01-01-PM"),
    "a fraction before 1970": (
        {"timestamp.type": "SCALAR", "timestamp.scalar.time.unit": "microseconds", "output.dateformat": "ss.SSS"},
        -1500,
        "59.999",
    ),
    "one zone for both": (
        {"timestamp.type": "UNIX_TIMESTAMP", "output.dateformat": "HH", "timezone": "GMT+02:00", "output.timezone": "UTC"},
        0,
        "02",
    ),
    "a zone of paths": (
        {"timestamp.type": "UNIX_TIMESTAMP", "output.dateformat": "EEE-Z", "output.timezone": "GMT-01:30"}, 0, "Wed--0130",
    ),
    "two digits of the past": ({**TEXT, "input.dateformat": "yy-MM-dd", "output.dateformat": "yyyy"},
                               f"{(YEAR - 80) % 100:02}-01-02", str(YEAR - 80)),
    "two digits of the future": ({**TEXT, "input.dateformat": "yy-MM-dd", "output.dateformat": "yyyy"},
                                 f"{(YEAR + 19) % 100:02}-01-02", str(YEAR + 19)),
    "noon": ({**TEXT, "input.dateformat": "hh a", "output.dateformat": "HH"}, "12 PM", "12"),
    "no dividers": ({**TEXT, "input.dateformat": "yyyyMMddHH", "output.dateformat": "yyyy/MM/dd/HH"}, "2026070312",
                    "2026/07/03/12"),
    "the name of a month": ({**TEXT, "input.dateformat": "MMM dd yyyy", "output.dateformat": "MM"}, "Jul 03 2026", "07"),
    "an offset in the text": (
        {**TEXT, "input.dateformat": "yyyy-MM-dd HHZ", "output.dateformat": "yyyy-MM-dd HH", "input.timezone": "GMT+05:00"},
        "2026-07-03 01+0200",
        "2026-07-03 04",
    ),
    "an offset with a colon": (
        {**TEXT, "input.dateformat": "yyyy-MM-dd HHZ", "output.dateformat": "yyyy-MM-dd HH", "output.timezone": "UTC"},
        "2026-07-03 01+02:00",
        "2026-07-02 23",
    ),
    "a zone of texts": (
        {**TEXT, "input.dateformat": "yyyy-MM-dd HH", "output.dateformat": "yyyy-MM-dd HH", "input.timezone": "GMT+05:00",
         "output.timezone": "UTC"},
        "2026-07-03 01",
        "2026-07-02 20",
    ),
    "a zone with another prefix": (
        {"timestamp.type": "UNIX_TIMESTAMP", "output.dateformat": "HH", "timezone": "UTC+02:00"}, 0, "00",
    ),
    "long names": (
        {"timestamp.type": "UNIX_TIMESTAMP", "output.dateformat": "EEEE-MMMM"}, AT, "Sunday-September",
    ),
    "numbers of days": ({"timestamp.type": "UNIX_TIMESTAMP", "output.dateformat": "DDD-e"}, AT, "257-7"),
    "midday": ({"timestamp.type": "UNIX_TIMESTAMP", "output.dateformat": "kk-KK-hh-a"}, 43_200, "12-00-12-PM"),
    "a quote": ({"timestamp.type": "UNIX_TIMESTAMP", "output.dateformat": "yyyy''MM'at'"}, AT, "2020'09at"),
    "a part of the milliseconds": ({"timestamp.type": "EPOCHMILLISECONDS", "output.dateformat": "ss.S"}, 7, "00.0"),
    "microseconds": ({"timestamp.type": "EPOCHMICROSECONDS", "output.dateformat": "ss.SSS"}, 1_500_000, "01.500"),
    "one zone for texts too": (
        {**TEXT, "input.dateformat": "yyyy-MM-dd HH", "output.dateformat": "yyyy-MM-dd HH", "timezone": "GMT+02:00",
         "input.timezone": "GMT+05:00"},
        "2026-07-03 01",
        "2026-07-03 01",
    ),
    "a scalar without unit": ({"timestamp.type": "SCALAR", "output.dateformat": "mm-ss"}, 61, "01-01"),
    "a short fraction": ({**TEXT, "input.dateformat": "HH:mm:ss.SSS", "output.dateformat": "SSS"}, "01:02:03.25", "250"),
    "names in another case": ({**TEXT, "input.dateformat": "MMM dd yyyy hh a", "output.dateformat": "MM-HH"},
                              "JUL 03 2026 12 pm", "07-12"),
    "a date without year": ({**TEXT, "input.dateformat": "MM-dd", "output.dateformat": "yyyy-MM-dd"}, "02-29", "2000-02-29"),
    "another delimiter": (
        {**TEXT, "input.dateformat": "yyyy-MM-dd;MM/yyyy", "input.dateformat.list.delimiter.regex": ";",
         "output.dateformat": "yyyy-MM"},
        "07/2026",
        "2026-07",
    ),
}  # fmt: skip


@pytest.mark.requirements("PROP-008", "PROP-016", "META-009")
@pytest.mark.needs(*WRITES, "copy-on-write", "partition.plain")
@pytest.mark.parametrize("name", TIMES)
def test_formats_of_times_in_paths(engine: Client, new_uri: Callable[[], str], name: str) -> None:
    """META-009: the path is what Joda-Time formats: letters, zones, fractions, and years of two digits, of which the earliest
    is 80 years ago.
    """
    uri, (settings, value, path) = new_uri(), TIMES[name]
    properties = {"hoodie.table.keygenerator.type": "TIMESTAMP", **{TIME + key: text for key, text in settings.items()}}
    field = "q" if isinstance(value, str) else "p"
    create_table(engine, uri, "COPY_ON_WRITE", record_key=("id",), partition=(field,), properties=properties)
    engine.write(uri, "upsert", as_arrow({**make_row("a", AT), field: value}))
    assert keys_and_partitions(engine, uri) == {("a", path, "old")}


@pytest.mark.requirements("PROP-016", "META-009")
@pytest.mark.needs(*WRITES, "copy-on-write", "partition.plain")
@pytest.mark.parametrize("kind", ["double", "float"])
@pytest.mark.parametrize(("seconds", "path"), [(61.75, "01-01"), (-61.75, "58-59")])
def test_times_with_a_fraction_in_paths(
    engine: Client, new_uri: Callable[[], str], kind: str, seconds: float, path: str
) -> None:
    """META-009: a time that is a number with a fraction loses the fraction, towards zero, before its path is made."""
    uri, arrow = new_uri(), {"double": pa.float64(), "float": pa.float32()}[kind]
    settings = {"timestamp.type": "UNIX_TIMESTAMP", "output.dateformat": "mm-ss"}
    properties = {"hoodie.table.keygenerator.type": "TIMESTAMP", **{TIME + key: text for key, text in settings.items()}}
    fields = [{"name": "id", "type": "string"}, {"name": "p", "type": kind}, {"name": "name", "type": "string"}]
    schema = {"type": "record", "name": "timed", "namespace": "hoodie.timed", "fields": fields}
    mode = "COMMIT_TIME_ORDERING"
    engine.create(uri, TableSpec("timed", "COPY_ON_WRITE", schema, ("id",), ("p",), merge_mode=mode, properties=properties))  # type: ignore[arg-type]
    columns = [pa.field("id", pa.string(), nullable=False), pa.field("p", arrow, nullable=False)]
    rows = pa.schema([*columns, pa.field("name", pa.string(), nullable=False)])
    for name in ("old", "new"):
        engine.write(uri, "upsert", pa.Table.from_pylist([{"id": "a", "p": seconds, "name": name}], schema=rows))
    assert keys_and_partitions(engine, uri) == {("a", path, "new")}


@pytest.mark.requirements("PROP-016", "META-009")
@pytest.mark.needs(*WRITES, "copy-on-write", "partition.plain")
@pytest.mark.parametrize(("letters", "names"), [
    ("MMMM", "January February March April May June July August September October November December"),
    ("MMM", "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec"),
    ("EEEE", "Thursday Friday Saturday Sunday Monday Tuesday Wednesday"),
    ("EEE", "Thu Fri Sat Sun Mon Tue Wed"),
])  # fmt: skip
def test_names_of_months_and_days_in_paths(engine: Client, new_uri: Callable[[], str], letters: str, names: str) -> None:
    """META-009: paths have the English names of all months and of all days of the week, from January 1, 1970 on, a Thursday."""
    uri, expected, settings = new_uri(), names.split(), {**SECONDS, f"{TIME}output.dateformat": letters}
    properties = {"hoodie.table.keygenerator.type": "TIMESTAMP", **settings}
    create_table(engine, uri, "COPY_ON_WRITE", record_key=("id",), partition=("p",), properties=properties)
    times = [datetime(1970, *((n, 15) if letters[0] == "M" else (1, n)), tzinfo=UTC) for n in range(1, len(expected) + 1)]
    engine.write(
        uri, "upsert", as_arrow(*(make_row(name, int(at.timestamp())) for name, at in zip(expected, times, strict=True)))
    )
    assert keys_and_partitions(engine, uri) == {(name, name, "old") for name in expected}


@pytest.mark.requirements("PROP-016", "META-009")
@pytest.mark.needs(*WRITES, "copy-on-write", "partition.plain")
def test_settings_of_times_under_their_older_names(engine: Client, new_uri: Callable[[], str]) -> None:
    """PROP-016: settings under the names of older releases count."""
    uri, older = new_uri(), "hoodie.deltastreamer.keygen.timebased."
    stored = {f"{older}{key.removeprefix(TIME)}": value for key, value in SECONDS.items()}
    properties = {"hoodie.table.keygenerator.type": "TIMESTAMP", **stored}
    create_table(engine, uri, "COPY_ON_WRITE", record_key=("id",), partition=("p",), properties=properties)
    engine.write(uri, "upsert", as_arrow(make_row("a", AT)))
    assert keys_and_partitions(engine, uri) == {("a", "2020/09/13", "old")}


@pytest.mark.requirements("PROP-016", "META-009")
@pytest.mark.needs(*WRITES, "copy-on-write", "partition.plain")
def test_settings_of_the_table_count_before_those_of_a_writer(engine: Client, new_uri: Callable[[], str]) -> None:
    """PROP-016: a writer with another pattern finds the partition of the record, because the table stores its own pattern; or
    the write is refused.
    """
    uri = new_uri()
    properties = {"hoodie.table.keygenerator.type": "TIMESTAMP", **SECONDS}
    create_table(engine, uri, "COPY_ON_WRITE", record_key=("id",), partition=("p",), properties=properties)
    engine.write(uri, "upsert", as_arrow(make_row("a", AT)))
    other = {**SECONDS, f"{TIME}output.dateformat": "yyyy"}
    name = "new"
    try:
        engine.write(uri, "upsert", as_arrow(make_row("a", AT, name="new")), options=other)
    except (EngineError, Refused):
        name = "old"
    assert keys_and_partitions(engine, uri) == {("a", "2020/09/13", name)}


@pytest.mark.requirements("PROP-008", "META-009")
@pytest.mark.needs(*WRITES, "copy-on-write", "partition.plain")
@pytest.mark.parametrize("named", ["p", "q:SIMPLE,p:SIMPLE"])
def test_a_writer_with_other_partition_fields(engine: Client, new_uri: Callable[[], str], named: str) -> None:
    """PROP-008: the table stores its partition fields. A writer whose settings name others finds the record in the partition of
    the stored one, or the write is refused: the record is in no second folder.
    """
    uri = new_uri()
    create_table(engine, uri, "COPY_ON_WRITE", record_key=("id",), partition=("q",))
    engine.write(uri, "upsert", as_arrow(make_row("a", AT)))
    ((_, partition, name),) = keys_and_partitions(engine, uri)
    with suppress(EngineError, Refused):
        other = {"hoodie.datasource.write.partitionpath.field": named}
        engine.write(uri, "upsert", as_arrow(make_row("a", AT, name="new")), options=other)
        name = "new"
    assert keys_and_partitions(engine, uri) == {("a", partition, name)}


@pytest.mark.requirements("PROP-007", "PROP-008", "META-007", "META-009")
@pytest.mark.needs(*WRITES, "partition.plain", "partition.several-levels", "copy-on-write")
@pytest.mark.parametrize(
    ("key", "partition", "stored"),
    [
        ((("id",), ("q",), ("a", "x"))),
        ((("id", "p"), ("q",), ("id:a,p:7", "x"))),
        ((("id",), ("q", "p"), ("a", "x/7"))),
        ((("id",), (), ("a", ""))),
    ],
    ids=["one field of each", "two key fields", "two partition fields", "no partition"],
)
@pytest.mark.versions(8)
def test_a_table_that_names_no_generator(
    engine: Client, new_uri: Callable[[], str], key: tuple[str, ...], partition: tuple[str, ...], stored: tuple[str, str]
) -> None:
    """PROP-007: if the properties name no key generator, the fields of key and partition determine it."""
    uri = new_uri()
    create_table(engine, uri, "COPY_ON_WRITE", record_key=key, partition=partition)
    engine.write(uri, "upsert", as_arrow(make_row("a", 7)))
    name_generator(uri, {})
    engine.write(uri, "upsert", as_arrow(make_row("a", 7, name="new")))
    assert keys_and_partitions(engine, uri) == {(*stored, "new")}


@pytest.mark.requirements("PROP-016", "META-007")
@pytest.mark.needs(*WRITES, "partition.plain", "copy-on-write", "key.complex")
@pytest.mark.parametrize(
    ("generator", "key"),
    [
        ({"type": "SIMPLE_AVRO"}, "a"),
        ({"type": "COMPLEX_AVRO"}, "id:a"),
        ({"class": "org.apache.hudi.keygen.ComplexAvroKeyGenerator"}, "id:a"),
    ],
    ids=["simple", "complex", "complex by its class"],
)
@pytest.mark.versions(8)
def test_names_of_a_generator(engine: Client, new_uri: Callable[[], str], generator: Mapping[str, str], key: str) -> None:
    """PROP-016: each type of key generator also exists with the suffix _AVRO and the same keys. Tables of older
    releases name the class of the generator instead.
    """
    uri, options = new_uri(), {"hoodie.write.complex.keygen.new.encoding": "false"}
    create_table(engine, uri, "COPY_ON_WRITE", record_key=("id",), partition=("q",))
    name_generator(uri, generator)
    for name in ("old", "new"):
        engine.write(uri, "upsert", as_arrow(make_row("a", 7, name=name)), options=options)
    assert keys_and_partitions(engine, uri) == {(key, "x", "new")}


KEYGEN = "org.apache.hudi.keygen."
#: The class of a key generator, the partition fields and further settings of a table, and key and partition path of a row.
CLASSES: Mapping[str, tuple[str, Mapping[str, str], tuple[str, str]]] = {
    "SimpleKeyGenerator": ("q", {}, ("a", "x")),
    "SimpleAvroKeyGenerator": ("q", {}, ("a", "x")),
    "ComplexKeyGenerator": ("q", {}, ("id:a", "x")),
    "TimestampBasedKeyGenerator": ("p", SECONDS, ("a", "2020/09/13")),
    "TimestampBasedAvroKeyGenerator": ("p", SECONDS, ("a", "2020/09/13")),
    "CustomKeyGenerator": ("q:simple", {}, ("a", "x")),
    "CustomAvroKeyGenerator": ("q:simple", {}, ("a", "x")),
    "NonpartitionedKeyGenerator": ("", {}, ("a", "")),
    "NonpartitionedAvroKeyGenerator": ("", {}, ("a", "")),
}


@pytest.mark.requirements("PROP-016", "META-007", "META-009")
@pytest.mark.needs(*WRITES, "partition.plain", "partition.none", "copy-on-write", "key.complex")
@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.versions(8)
def test_a_generator_is_known_by_its_class(engine: Client, new_uri: Callable[[], str], name: str) -> None:
    """PROP-016: a table of an older release names the class of its key generator and no type. Its keys and paths are those of
    the type of the class, so that a write finds the stored record.
    """
    uri, (field, settings, stored) = new_uri(), CLASSES[name]
    options = {"hoodie.write.complex.keygen.new.encoding": "false"}
    kind = {"hoodie.table.keygenerator.type": "CUSTOM", "hoodie.table.partition.fields": field} if ":" in field else {}
    kind |= {"hoodie.table.keygenerator.type": "TIMESTAMP"} if settings else {}
    partition = (field.partition(":")[0],) if field else ()
    create_table(engine, uri, "COPY_ON_WRITE", record_key=("id",), partition=partition, properties={**kind, **settings})
    name_generator(uri, {"class": KEYGEN + name})
    for value in ("old", "new"):
        engine.write(uri, "upsert", as_arrow(make_row("a", AT, name=value)), options=options)
    assert keys_and_partitions(engine, uri) == {(*stored, "new")}


@BOTH_TYPES
@pytest.mark.requirements("PROP-008", "PROP-016", "META-009")
@pytest.mark.needs(*WRITES, "partition.plain", "partition.several-levels")
def test_a_custom_generator_handles_each_field_by_its_type(engine: Client, new_uri: Callable[[], str], type: str) -> None:
    """PROP-008: each partition field has the form that its type defines; settings that the table does not store are options of
    the writer.
    """
    uri = new_uri()
    properties = {"hoodie.table.keygenerator.type": "CUSTOM", "hoodie.table.partition.fields": "q:simple,p:timestamp"}
    create_table(engine, uri, type, record_key=("id",), partition=("q", "p"), properties=properties)
    engine.write(uri, "upsert", as_arrow(make_row("a", AT), make_row("b", None, None)), options=SECONDS)
    engine.write(uri, "upsert", as_arrow(make_row("a", AT, name="new")), options=SECONDS)
    assert keys_and_partitions(engine, uri) == {("a", "x/2020/09/13", "new"), ("b", f"{NULL}/1970/01/01", "old")}


@pytest.mark.requirements("META-007", "PROP-007")
@pytest.mark.needs(*WRITES, "copy-on-write", "partition.plain", "key.complex")
def test_a_composite_key_contains_the_field_names(engine: Client, new_uri: Callable[[], str]) -> None:
    """PROP-007: the key of several fields contains their names, with placeholders for null; the same values find the record
    again.
    """
    uri = new_uri()
    create_table(engine, uri, "COPY_ON_WRITE", record_key=("id", "p"), partition=("q",))
    engine.write(uri, "upsert", as_arrow(make_row("a", AT), make_row("b", None)))
    engine.write(uri, "upsert", as_arrow(make_row("b", None, name="new")))
    assert keys_and_partitions(engine, uri) == {(f"id:a,p:{AT}", "x", "old"), ("id:b,p:__null__", "x", "new")}


@pytest.mark.requirements("META-007", "PROP-016")
@pytest.mark.needs(*WRITES, "copy-on-write", "partition.plain", "partition.several-levels", "key.complex")
@pytest.mark.parametrize(("setting", "key"), [("true", "a"), ("false", "id:a")])
@pytest.mark.versions(8)
def test_a_setting_of_complex_keys_of_one_field(engine: Client, new_uri: Callable[[], str], setting: str, key: str) -> None:
    """META-007: at version 8 a setting of the writer decides whether a complex key of one field has its name; the record is
    found again.
    """
    uri, options = new_uri(), {"hoodie.write.complex.keygen.new.encoding": setting}
    create_table(engine, uri, "COPY_ON_WRITE", record_key=("id",), partition=("q", "p"))
    for name in ("old", "new"):
        engine.write(uri, "upsert", as_arrow(make_row("a", 7, name=name)), options=options)
    assert keys_and_partitions(engine, uri) == {(key, "x/7", "new")}


@pytest.mark.requirements("META-007", "PROP-007")
@pytest.mark.needs(*WRITES, "copy-on-write", "partition.none")
def test_a_field_of_a_struct_is_the_key(engine: Client, new_uri: Callable[[], str]) -> None:
    """PROP-007: the path of a key field leads into a struct; its value finds the record again."""
    uri = new_uri()
    place: dict[str, Any] = {"type": "record", "name": "place", "fields": [{"name": "id", "type": "string"}]}
    schema = {**SCHEMA, "fields": [{"name": "place", "type": place}, {"name": "name", "type": "string"}]}
    engine.create(uri, TableSpec("keyed", "COPY_ON_WRITE", schema, ("place.id",), merge_mode="COMMIT_TIME_ORDERING"))
    for key, name in (("a", "old"), ("b", "old"), ("a", "new")):
        engine.write(uri, "upsert", pa.table({"place": [{"id": key}], "name": [name]}))
    assert keys_and_partitions(engine, uri) == {("a", "", "new"), ("b", "", "old")}


@pytest.mark.requirements("LAY-011", "LAY-005")
@pytest.mark.needs(*WRITES, "partition.plain", "copy-on-write")
@pytest.mark.parametrize("value", [".hoodie", ".hoodie/timeline", ".."])
def test_a_partition_value_that_names_no_folder(engine: Client, new_uri: Callable[[], str], value: str) -> None:
    """LAY-011: a row whose partition would be the folder of the metadata, or lie outside of the table, is refused, or it is
    found again. Files are stored in the table only, and the folder of the metadata has no base file.
    """
    uri, expected = new_uri(), {"a"}
    create_table(engine, uri, "COPY_ON_WRITE", record_key=("id",), partition=("q",))
    engine.write(uri, "upsert", as_arrow(make_row("a", 1)))
    folder = table_folder(uri)
    beside = set(folder.parent.iterdir())
    with suppress(EngineError, Refused):
        engine.write(uri, "upsert", as_arrow(make_row("b", 1, value)))
        expected.add("b")
    assert {key for key, _, _ in keys_and_partitions(engine, uri)} == expected
    assert set(folder.parent.iterdir()) == beside
    assert {path.suffix for path in (folder / ".hoodie").rglob("*.parquet")} == set()


@BOTH_TYPES
@pytest.mark.requirements("META-007")
@pytest.mark.needs(*WRITES, "partition.plain")
@pytest.mark.parametrize("key", [None, ""], ids=["null", "empty"])
def test_a_row_without_a_key_is_refused(engine: Client, new_uri: Callable[[], str], type: str, key: str | None) -> None:
    """META-007: no row of a write with such a row is stored."""
    uri = new_uri()
    create_table(engine, uri, type, record_key=("id",), partition=("q",))
    engine.write(uri, "upsert", as_arrow(make_row("a", AT)))
    with pytest.raises((EngineError, Refused)):
        engine.write(uri, "upsert", as_arrow(make_row("b", AT), {**make_row("a", AT, name="new"), "id": key}))
    assert keys_and_partitions(engine, uri) == {("a", "x", "old")}


@BOTH_TYPES
@pytest.mark.requirements("MRG-019", "LF-038")
@pytest.mark.needs(*WRITES, "partition.plain", "merge.event-time")
def test_rows_without_their_ordering_column_are_refused(engine: Client, new_uri: Callable[[], str], type: str) -> None:
    """MRG-019: in event-time mode a write cannot leave the ordering column out, because its rows could not be compared."""
    uri = new_uri()
    create_table(engine, uri, type, record_key=("id",), partition=("q",), ordering=("ts",))
    engine.write(uri, "upsert", as_arrow(make_row("a", AT)))
    with pytest.raises((EngineError, Refused)):
        engine.write(uri, "upsert", as_arrow(make_row("a", AT, name="new"), columns=("id", "p", "q", "name")))
    assert keys_and_partitions(engine, uri) == {("a", "x", "old")}


@BOTH_TYPES
@pytest.mark.requirements("MRG-019")
@pytest.mark.needs(*WRITES, "partition.plain", "merge.event-time")
@pytest.mark.parametrize("setting", ["set.null.for.missing.columns", "reconcile.schema"])
def test_a_missing_ordering_column_is_not_filled(engine: Client, new_uri: Callable[[], str], type: str, setting: str) -> None:
    """MRG-019: a setting lets a write leave columns out, which are null then. It may leave out another column than the one of
    the ordering; rows without that one are refused.
    """
    only_engines_of_this_project(engine, "an engine may take rows without their ordering value for the newest")
    prefix = "hoodie.datasource.write." if setting == "reconcile.schema" else "hoodie.write."
    uri, options = new_uri(), {f"{prefix}{setting}": "true"}
    create_table(engine, uri, type, record_key=("id",), partition=("q",), ordering=("ts",))
    engine.write(uri, "upsert", as_arrow(make_row("a", AT)))
    with pytest.raises((EngineError, Refused)):
        engine.write(uri, "upsert", as_arrow(make_row("a", AT, name="new"), columns=("id", "p", "q", "name")), options=options)
    assert keys_and_partitions(engine, uri) == {("a", "x", "old")}
    rows = as_arrow(make_row("a", AT, name="new", ts=2), columns=("id", "ts", "q", "name"))
    engine.write(uri, "upsert", rows, options=options)
    assert keys_and_partitions(engine, uri) == {("a", "x", "new")}


@BOTH_TYPES
@pytest.mark.requirements("TYP-007")
@pytest.mark.needs(*WRITES, "partition.plain", "read.filter")
def test_a_query_of_an_unknown_column_is_an_error(engine: Client, new_uri: Callable[[], str], type: str) -> None:
    """TYP-007: an unknown column is an error both in the projection and in the filter, and not a column of nulls."""
    uri = new_uri()
    create_table(engine, uri, type, record_key=("id",), partition=("q",))
    engine.write(uri, "upsert", as_arrow(make_row("a", AT)))
    assert engine.read(uri, Query(columns=("id", "name"))).num_rows == 1
    for query in (Query(columns=("id", "nmae")), Query(columns=("id",), where=(("nmae", "=", "old"),))):
        with pytest.raises((EngineError, Refused)):
            engine.read(uri, query)


@pytest.mark.parametrize("setting", ["timestamp.type", "timestamp.scalar.time.unit", "output.timezone"])
@pytest.mark.requirements("PROP-016", "TL-048")
@pytest.mark.needs(*WRITES, "copy-on-write", "partition.plain")
def test_settings_of_times_that_name_nothing_are_refused(engine: Client, new_uri: Callable[[], str], setting: str) -> None:
    """PROP-016: an unknown kind of time, unit or zone is an error when the table is created or first written, and no write
    begins; a table with a known one is written.
    """
    uri, settings = new_uri(), {f"{TIME}timestamp.type": "SCALAR", f"{TIME}output.dateformat": "yyyy"}
    properties = {"hoodie.table.keygenerator.type": "TIMESTAMP", **settings, f"{TIME}{setting}": "FORTNIGHTS"}
    with pytest.raises((EngineError, Refused)):
        create_table(engine, uri, "COPY_ON_WRITE", record_key=("id",), partition=("p",), properties=properties)
        engine.write(uri, "upsert", as_arrow(make_row("a", AT)))
    folder = table_folder(uri)
    assert [path.name for path in folder.rglob("*") if path.suffix in {".requested", ".inflight", ".commit", ".parquet"}] == []
    known = {f"{TIME}timestamp.scalar.time.unit": "SECONDS", f"{TIME}output.timezone": "UTC"}
    uri, properties = new_uri(), {**properties, **settings, **known}
    create_table(engine, uri, "COPY_ON_WRITE", record_key=("id",), partition=("p",), properties=properties)
    engine.write(uri, "upsert", as_arrow(make_row("a", AT)))
    assert keys_and_partitions(engine, uri) == {("a", "2020", "old")}
