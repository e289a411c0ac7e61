"""Keys and partition paths of every key generator; the values are from tables that Apache Hudi 1.0.2 wrote."""

import time
from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from hudi_reference.errors import InvalidRows, UnsupportedKeyGenerator
from hudi_reference.layout.properties import TableProperties
from hudi_reference.records.keys.record_keys import LOCAL_TIMES, KeyGenerator, kind_of_generator, with_settings

TIME = "hoodie.keygen.timebased."


def generator(partition="p", key="id", **entries):
    """The generator of a table with these properties; `timebased` ones by their short names."""
    named = {TIME + name.replace("__", "."): value for name, value in entries.items() if not name.startswith("hoodie")}
    given = {name: value for name, value in entries.items() if name.startswith("hoodie")}
    return KeyGenerator.from_properties(TableProperties(
        {"hoodie.table.recordkey.fields": key, "hoodie.table.partition.fields": partition, **named, **given}
    ))  # fmt: skip


def timed(kind, output="yyyy/MM/dd HH", **more):
    """The time-based generator of field p."""
    return generator(**{"hoodie.table.keygenerator.type": "TIMESTAMP"}, timestamp__type=kind, output__dateformat=output, **more)


def paths(found, values, kind=None):
    """The paths of rows whose field p has these values."""
    return found.paths(pa.table({"p": pa.array(values, kind)})).to_pylist()


def test_numbers_with_a_time_unit():
    """A null is the value 1 of the unit; numbers before the epoch are dates before it."""
    seconds = [1_600_000_000, None, 0, -1]
    expected = ["2020/09/13 12", "1970/01/01 00", "1970/01/01 00", "1969/12/31 23"]
    assert paths(timed("UNIX_TIMESTAMP"), seconds) == expected
    assert paths(timed("SCALAR"), seconds) == expected
    assert paths(timed("EPOCHMILLISECONDS"), [1_600_000_000_123]) == ["2020/09/13 12"]
    assert paths(timed("EPOCHMICROSECONDS"), [1_600_000_000_123_456]) == ["2020/09/13 12"]
    assert paths(timed("SCALAR", timestamp__scalar__time__unit="DAYS"), [18000, None]) == ["2019/04/14 00", "1970/01/02 00"]


def test_dates_timestamps_decimals_and_doubles_are_numbers():
    """A date counts days, a timestamp what its column stores; what is behind the point does not count."""
    assert paths(timed("SCALAR", "yyyy/MM", timestamp__scalar__time__unit="DAYS"), [date(2020, 4, 1)]) == ["2020/04"]
    moment = [datetime(2020, 4, 1, 12, tzinfo=UTC)]
    assert paths(timed("EPOCHMICROSECONDS", "yyyy/MM"), moment, pa.timestamp("us", "UTC")) == ["2020/04"]
    assert paths(timed("UNIX_TIMESTAMP", "yyyy/MM"), [Decimal("1600000000.75")]) == ["2020/09"]
    assert paths(timed("UNIX_TIMESTAMP", "yyyy/MM"), [1_600_000_000.75, float("nan")]) == ["2020/09", "1970/01"]


def test_first_matching_pattern_is_used():
    """An offset in the text is kept unless a zone is given; a null is the epoch."""
    both = "yyyy-MM-dd'T'HH:mm:ssZ,yyyy-MM-dd'T'HH:mm:ss.SSSZ"
    found = timed("DATE_STRING", "yyyyMMddHH", input__dateformat=both)
    texts = ["2020-04-01T13:01:33.428Z", "2020-04-01T13:01:33-05:00", None]
    assert paths(found, texts) == ["2020040113", "2020040113", "1970010100"]
    zones = {"input__timezone": "America/New_York", "output__timezone": "Europe/Berlin"}
    shown = timed("DATE_STRING", "yyyy-MM-dd EEE HH:mm a", input__dateformat="yyyy-MM-dd HH:mm:ss", **zones)
    assert paths(shown, ["2020-04-01 23:30:00"]) == ["2020-04-02 Thu 05:30 AM"]
    assert paths(timed("MIXED", "yyyy/MM", input__dateformat="yyyyMMdd"), ["20200401", None]) == ["2020/04", "1970/01"]


@pytest.mark.parametrize("value", ["nonsense", "", "2020-13-01"])
def test_text_that_matches_no_pattern_is_refused(value):
    """PROP-016: no path is computed from it."""
    with pytest.raises(InvalidRows, match="fits no pattern"):
        paths(timed("DATE_STRING", "yyyy", input__dateformat="yyyy-MM-dd"), [value])


def test_number_in_a_text_column_needs_a_unit():
    """PROP-016: otherwise the unit of the number is unknown."""
    with pytest.raises(InvalidRows, match="a number, but the partition values are texts"):
        paths(timed("MIXED", "yyyy", input__dateformat="yyyy-MM-dd"), [1_600_000_000])


@pytest.mark.parametrize(
    "entries", [{"timestamp__type": "WEEKS"}, {"timestamp__type": "SCALAR", "timestamp__scalar__time__unit": "WEEKS"}, {}]
)
def test_invalid_settings_of_key_generators_are_refused(entries):
    """PROP-016: the error names the setting and its valid values."""
    with pytest.raises(UnsupportedKeyGenerator) as error:
        generator(**{"hoodie.table.keygenerator.type": "TIMESTAMP"}, **entries)
    assert TIME in str(error.value.expected)


def test_hive_style_and_escapes_are_those_of_every_path():
    """The name of the field stands once before a date of several folders; escaped, it is one folder."""
    hive = timed("UNIX_TIMESTAMP", **{"hoodie.datasource.write.hive_style_partitioning": "true"})
    escaped = timed("UNIX_TIMESTAMP", **{"hoodie.datasource.write.partitionpath.urlencode": "true"})
    assert paths(hive, [1_600_000_000]) == ["p=2020/09/13 12"]
    assert paths(escaped, [1_600_000_000]) == ["2020%2F09%2F13 12"]


ROWS = pa.table({"id": ["a", "b"], "ts": [1, 1], "p": [1_600_000_000, None], "q": ["x", None]})
CUSTOM = {"hoodie.table.keygenerator.type": "CUSTOM", "timestamp__type": "UNIX_TIMESTAMP", "output__dateformat": "yyyyMMdd"}


def test_a_custom_generator_has_a_type_for_each_field():
    """PROP-008: `q:simple,p:timestamp`, in small letters or capitals; without its type a field is refused."""
    found = generator("q:simple,p:TIMESTAMP", **CUSTOM)
    assert found.paths(ROWS).to_pylist() == ["x/20200913", "__HIVE_DEFAULT_PARTITION__/19700101"]
    with pytest.raises(UnsupportedKeyGenerator, match="without its type"):
        generator("q", **CUSTOM)


@pytest.mark.parametrize(
    ("given", "has_types"),
    [("q:simple, p:TIMESTAMP", True), ("p:TIMESTAMP,q:SIMPLE", False), ("q:SIMPLE", False), ("q,p", False)],
)
def test_a_writer_gives_the_types_that_the_table_lacks(given, has_types):
    """PROP-008: tables of version 6 store only the names; the writer must name the same fields in the same order."""
    stored = {"hoodie.table.partition.fields": "q,p", "hoodie.table.keygenerator.type": "CUSTOM"}
    settings = {TIME + "timestamp.type": "UNIX_TIMESTAMP", TIME + "output.dateformat": "yyyyMMdd"}
    properties = with_settings(TableProperties(stored), {**settings, "hoodie.datasource.write.partitionpath.field": given})
    if has_types:
        assert KeyGenerator.from_properties(properties).paths(ROWS).to_pylist()[0] == "x/20200913"
        return
    with pytest.raises(UnsupportedKeyGenerator, match="without its type") as error:
        KeyGenerator.from_properties(properties)
    assert "hoodie.datasource.write.partitionpath.field" in error.value.remedy


def test_the_types_of_the_table_count_if_it_has_them():
    """PROP-008: a setting of the writer does not change where the rows of a table are."""
    other = {"hoodie.datasource.write.partitionpath.field": "q:SIMPLE,p:SIMPLE"}
    assert generator("q:SIMPLE,p:TIMESTAMP", **CUSTOM, **other).paths(ROWS).to_pylist()[0] == "x/20200913"


def test_the_form_of_a_key_follows_from_the_generator():
    """META-007: one field is bare but for the generator of global deletes, several are composite."""
    assert generator("q").keys(ROWS).to_pylist() == ["a", "b"]
    assert generator("q", "id,ts").keys(ROWS).to_pylist() == ["id:a,ts:1", "id:b,ts:1"]
    deletes = generator("", **{"hoodie.table.keygenerator.type": "GLOBAL_DELETE"})
    assert deletes.keys(ROWS).to_pylist() == ["id:a", "id:b"]
    complex_keys = {"hoodie.table.keygenerator.class": "org.apache.hudi.keygen.ComplexKeyGenerator"}
    assert generator("q", **complex_keys).keys(ROWS).to_pylist() == ["a", "b"]
    older = generator("q", **complex_keys, **{"hoodie.write.complex.keygen.new.encoding": "false"})
    assert older.keys(ROWS).to_pylist() == ["id:a", "id:b"]


@pytest.mark.parametrize(
    ("partition", "key", "kind"),
    [("", "id", "NON_PARTITION"), ("", "id,ts", "NON_PARTITION"), ("p", "id", "SIMPLE"), ("p", "", "SIMPLE"),
     ("p", "id,ts", "COMPLEX"), ("p,q", "id", "COMPLEX"), ("p:simple", "id", "CUSTOM"), ("p:simple,q:timestamp", "id", "CUSTOM")],
)  # fmt: skip
def test_a_generator_that_is_not_named_follows_from_the_fields(partition, key, kind):
    """PROP-016: as deployed writers choose."""
    entries = {"hoodie.table.recordkey.fields": key, "hoodie.table.partition.fields": partition}
    assert kind_of_generator(TableProperties(entries)) == kind


def test_custom_generator_classes_are_refused():
    """PROP-016: keys of an unknown class cannot be computed."""
    with pytest.raises(UnsupportedKeyGenerator, match="USER_PROVIDED"):
        generator(**{"hoodie.table.keygenerator.type": "USER_PROVIDED"})


def test_a_nested_field_is_a_key():
    """META-007: `a.b` is field b of struct a."""
    rows = pa.table({"a": [{"b": "x"}], "p": ["y"]})
    assert generator("p", "a.b").keys(rows).to_pylist() == ["x"]
    with pytest.raises(InvalidRows, match="is missing"):
        generator("p", "a.c").keys(rows)


def test_settings_of_the_writer_do_not_override_the_table():
    """A table without settings takes those of the writer; one with settings keeps them."""
    bare = TableProperties({"hoodie.table.name": "t"})
    asked = {TIME + "output.dateformat": "yyyy", "hoodie.clean.automatic": "false"}
    assert with_settings(bare, asked).entries == {"hoodie.table.name": "t", TIME + "output.dateformat": "yyyy"}
    own = TableProperties({TIME + "output.dateformat": "MM"})
    assert with_settings(own, asked).entries == own.entries


@pytest.mark.parametrize(
    ("version", "encoding", "key"),
    [("8", None, "1"), ("8", "true", "1"), ("8", "false", "id:1"), ("9", None, "id:1"), ("9", "true", "id:1")],
)
def test_a_complex_key_of_one_field_names_it_from_version_9_on(version, encoding, key):
    """PROP-007: at version 8 a setting decides, at version 9 it has no effect."""
    option = {} if encoding is None else {"hoodie.write.complex.keygen.new.encoding": encoding}
    kind = {"hoodie.table.keygenerator.type": "COMPLEX", "hoodie.table.version": version, **option}
    assert generator("p,q", **kind).keys(pa.table({"id": ["1"]})).to_pylist() == [key]
    assert generator("p", **{**kind, "hoodie.table.keygenerator.type": "SIMPLE"}).keys(pa.table({"id": ["1"]})).to_pylist() == [
        "1"
    ]


def test_a_date_takes_three_folders_where_the_table_says_so():
    """PROP-016: only with one partition field, and not in hive style."""
    slashes = {"hoodie.datasource.write.slash.separated.date.partitioning": "true"}
    assert paths(generator(**slashes), ["2026-07-03", None, "2026/07/04"]) == [
        "2026/07/03", "__HIVE_DEFAULT_PARTITION__", "2026/07/04",
    ]  # fmt: skip
    assert paths(generator(**slashes), [date(2026, 7, 3)]) == ["2026/07/03"]
    hive = {"hoodie.datasource.write.hive_style_partitioning": "true"}
    assert paths(generator(**slashes, **hive), ["2026-07-03"]) == ["p=2026-07-03"]
    rows = pa.table({"p": ["2026-07-03"], "q": ["x"]})
    assert generator("p,q", **slashes).paths(rows).to_pylist() == ["2026-07-03/x"]


@pytest.fixture
def new_york(monkeypatch):
    """The process is in the time zone of New York."""
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("new_york")
def test_local_times_in_keys_and_paths():
    """META-007: with a setting of the writer, timestamps have the text of `java.sql.Timestamp` in the zone of the process."""
    entries = with_settings(TableProperties({}), {LOCAL_TIMES: "true"}).entries
    for unit, micros, text in (
        ("us", 1_704_164_645_123_456, "2024-01-01 22:04:05.123"),
        ("us", 1_704_164_645_120_000, "2024-01-01 22:04:05.12"),
        ("us", -1, "1969-12-31 19:00:00.0"),
        ("us", -2_208_988_799_999_999, "1899-12-31 19:00:00.001"),
        ("ms", -1_000_000, "1969-12-31 18:59:59.0"),
        ("s", 1_704_153_600_000_000, "2024-01-01 19:00:00.0"),
    ):
        column = pa.array([micros, None], pa.timestamp("us", "UTC")).cast(pa.timestamp(unit, "UTC"))
        rows = pa.table({"p": column, "id": ["a", "b"]})
        assert generator(key="id,p", **entries).keys(rows).to_pylist() == [f"id:a,p:{text}", "id:b,p:__null__"]
        assert generator(**entries).paths(rows).to_pylist()[0] == text
    timed_paths = timed("UNIX_TIMESTAMP", **entries)
    assert paths(timed_paths, [datetime(2020, 4, 1, 12, tzinfo=UTC)], pa.timestamp("us", "UTC")) == ["2020/04/01 12"]
    local = pa.array([datetime(2024, 1, 2)], pa.timestamp("us"))
    assert generator(partition="", key="p", **entries).keys(pa.table({"p": local})).to_pylist() == ["1704153600000000"]
    with pytest.raises(InvalidRows):
        generator(partition="", key="p", **entries).keys(pa.table({"p": pa.array([-(10**17)], pa.timestamp("us", "UTC"))}))


@pytest.mark.parametrize("hive", [False, True])
def test_partitions_with_another_text_of_times_are_refused(hive):
    """META-009: Spark SQL stores local times without fractions as folders of timestamps. A writer that makes numbers refuses
    such a table, and tables whose writers have the setting for local times; so does one with the setting for tables of numbers.
    """
    columns = pa.schema([("id", pa.string()), ("d", pa.date32()), ("p", pa.timestamp("us", "UTC"))])
    texts = {"number": "-1704164645123456", "sql": "2024-01-02 03%3A04%3A05", "local": "2024-01-02 03%3A04%3A05.12"}
    for setting, fits in (({}, "number"), ({LOCAL_TIMES: "true"}, "local")):
        entries = {"hoodie.datasource.write.hive_style_partitioning": str(hive).lower(), **setting}
        checked = generator(partition="d,p", **entries)
        for kind, text in {**texts, "null": "__HIVE_DEFAULT_PARTITION__"}.items():
            path = f"d=2024-01-02/p={text}" if hive else f"2024-01-02/{text}"
            if kind in (fits, "null"):
                checked.check_paths([path], columns)
            else:
                with pytest.raises(UnsupportedKeyGenerator):
                    checked.check_paths([path], columns)
