"""Secondary indexes and expression indexes: after every write and service their entries are those of the rows and files."""

from collections import Counter
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from hudi_conformance.contract import Query, TableSpec
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.contract.messages import Operation
from hudi_conformance.suite.support.concurrent.pending_writes import begin_write
from hudi_conformance.suite.support.indexes.named_tables import (
    CHANGES,
    NAMED,
    SETTINGS,
    NamedTable,
    check_statistics,
    expression_index,
)
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, Step, as_arrow, row
from hudi_conformance.suite.support.tables.clustered_tables import SORT, NewUri, Type
from hudi_conformance.suite.support.tables.metadata_tables import (
    BY_VALUE,
    INFLIGHT,
    PREFIX,
    USABLE,
    WRITES,
)
from hudi_conformance.suite.support.tables.tables_under_services import keep_commits
from hudi_conformance.suite.support.tables.written_tables import files_below, table_folder
from hudi_reference import open_table
from hudi_reference.files.base_file import read_base_file
from hudi_reference.files.bloom.bloom import decode_filter
from hudi_reference.layout.properties import read_properties
from hudi_reference.metadata.keys import bloom_filters_key
from hudi_reference.metadata.records import BloomFilter, ColumnStats
from hudi_reference.metadata.table import MetadataTable
from hudi_reference.storage import LocalStorage


@NAMED
@BOTH_TYPES
@pytest.mark.requirements("IDX-021", "IDX-023", "IDX-024", "IDX-030", "INX-001", "MDT-001")
def test_a_secondary_index_follows_every_write(engine: Client, new_uri: NewUri, type: Type) -> None:
    """IDX-030: a changed value replaces its entry, a removed row and a null have none, other entries stay."""
    table = NamedTable(engine, new_uri(), type, BY_VALUE)
    table.check_values("created")
    for step in CHANGES:
        table.write(step)
        table.check_values(f"after {step}")


#: Texts with a NUL, one of them like a null, and one value of rows in several file groups.
NULS = (
    Step("upsert", (row("b$", 60, "\0"), row("g", 1, "a\0b"), {**row("h", 1, ""), "value": None})),
    Step("upsert", (row("c", 61, "shared", "rio"), *(row(key, 60, "shared", "lima") for key in "pqrs"))),
)


@NAMED
@BOTH_TYPES
@pytest.mark.versions(9)
@pytest.mark.needs("create.table-version.9", "read.filter")
@pytest.mark.requirements("IDX-021", "IDX-024", "IDX-030", "IDX-044", "IDX-045", "IDX-046")
def test_a_secondary_index_of_version_v2_follows_every_write(engine: Client, new_uri: NewUri, type: Type) -> None:
    """IDX-046: at version 9 a null has an entry too, which no text has; IDX-045: one of several file groups has all entries of
    a value, and a filter finds each of its rows.
    """
    table = NamedTable(engine, new_uri(), type, BY_VALUE, version=9)
    assert table.definitions()["secondary_index_by_value"]["version"] == "V2"
    table.check_values("created")
    for step in (*CHANGES, *NULS):
        table.write(step)
        table.check_values(f"after {step}")
    groups = table.values_by_group()
    values = Counter(value for group in groups for value in group)
    assert len(groups) > 1
    assert set(values.values()) == {1}, values
    for value in ("x", "changed", "\0", "a\0b", "shared", "absent"):
        found = engine.read(table.uri, Query(columns=("id",), where=(("value", "=", value),))).column("id").to_pylist()
        assert sorted(found) == sorted(one["id"] for one in table.model.snapshot() if one["value"] == value), repr(value)


@pytest.mark.needs(
    *WRITES, "service.index", "service.index.named", "service.clean", "service.clustering", "service.rollback",
    "write.insert-overwrite", "write.delete-partition",
)  # fmt: skip
@BOTH_TYPES
@pytest.mark.requirements("IDX-021", "IDX-030", "MDT-001")
def test_a_secondary_index_follows_every_service(engine: Client, new_uri: NewUri, type: Type) -> None:
    """IDX-021: services that move rows change no entry; replacing writes and rollbacks change those of their rows."""
    table = NamedTable(engine, new_uri(), type, BY_VALUE).write(*CHANGES)
    assert isinstance(table, NamedTable)
    if type == "MERGE_ON_READ" and "service.compaction" in engine.hello.features:
        assert engine.service(table.uri, "compaction", options={"hoodie.compact.inline.max.delta.commits": "1"}) is not None
        table.check_values("compacted")
    assert engine.service(table.uri, "clustering", options={SORT: "ts"}) is not None
    engine.service(table.uri, "clean", options=keep_commits(1))
    table.check_values("clustered and cleaned")
    failed = begin_write(table.uri, (row("x", 1, "half"),))
    engine.service(table.uri, "rollback", instant=failed.instant)
    table.check_values("a failed write was rolled back")
    table.write(Step("insert_overwrite", (row("z", 1, "all"),)), Step("delete_partition", (row("any", 0, "", "rio"),)))
    table.check_values("partitions were replaced and deleted")


@NAMED
@BOTH_TYPES
@pytest.mark.needs("service.rollback")
@pytest.mark.requirements("MDT-008", "IDX-021", "IDX-025")
@pytest.mark.parametrize("operation", ["delete", "upsert"])
def test_a_write_before_the_build_of_an_index_is_rolled_back(
    engine: Client, new_uri: NewUri, type: Type, operation: Operation
) -> None:
    """MDT-008: the base files of a new index have what the writes before its build stored. A rollback of the last of these
    leaves none of it: the entry of a deleted row is back, that of an added row is gone.
    """
    table = NamedTable(engine, new_uri(), type)
    changes = (row("a", 90, "rolled back"), *(() if operation == "delete" else (row("n", 1, "rolled back"),)))
    instant = engine.write(table.uri, operation, as_arrow(changes), options=SETTINGS)
    assert table.request_index(BY_VALUE) is not None
    assert engine.service(table.uri, "rollback", instant=instant) is not None
    table.check_values("after the rollback")


#: Values of the drawn writes: none, empty, and with the characters that are escaped.
VALUES = ("", "$", "\\", "a$b", "X", "\u00c9\U0001f600", None)


@NAMED
@BOTH_TYPES
@pytest.mark.requirements("IDX-021", "IDX-025", "IDX-030", "IDX-035")
@pytest.mark.parametrize("seed", range(3))
def test_named_indexes_follow_drawn_writes(engine: Client, new_uri: NewUri, type: Type, seed: int) -> None:
    """IDX-021: after drawn updates and deletes both indexes are those of the rows and files."""
    draw, table = Random(seed), NamedTable(engine, new_uri(), type, BY_VALUE, expression_index("low", "value", "lower"))
    for number in range(6):
        rows = tuple({**row(key, 100 + number, ""), "value": draw.choice(VALUES)} for key in draw.sample("adef", 2))
        table.write(Step("delete" if draw.random() < 0.3 else "upsert", rows))
        table.check_values(f"after write {number}: {rows}")
        check_statistics(table, "expr_index_low", "value", lambda text: text.lower())


@NAMED
@pytest.mark.requirements("IDX-021", "INX-001", "INX-011")
def test_a_secondary_index_is_built_beside_writes(engine: Client, new_uri: NewUri) -> None:
    """INX-011: writes between the plan and the build add their entries, and remove those of values that they replace."""
    table = NamedTable(engine, new_uri(), "MERGE_ON_READ")
    instant = table.request_index(BY_VALUE, phase="schedule")
    assert "secondary_index_by_value" in table.listed_partitions(INFLIGHT)
    table.write(*CHANGES)
    table.request_index({}, phase="execute", instant=instant)
    table.check_values("built")


@NAMED
@pytest.mark.requirements("IDX-022", "IDX-023", "IDX-032", "IDX-033", "PROP-014")
def test_definitions_name_function_and_column(engine: Client, new_uri: NewUri) -> None:
    """IDX-022: the JSON document has the partition, the kind, the function and the column of each index; IDX-032: and the
    options of its function.
    """
    day = expression_index("day", "ts", "from_unixtime", format="yyyy-MM-dd")
    found = NamedTable(engine, new_uri(), "COPY_ON_WRITE", BY_VALUE, day).definitions()
    names = ("indexName", "indexType", "indexFunction", "sourceFields", "indexOptions")
    assert [found["secondary_index_by_value"][name] for name in names] == [
        "secondary_index_by_value", "secondary_index", "identity", ["value"], {},
    ]  # fmt: skip
    assert [found["expr_index_day"][name] for name in names] == [
        "expr_index_day", "column_stats", "from_unixtime", ["ts"], {"expr": "from_unixtime", "format": "yyyy-MM-dd"},
    ]  # fmt: skip


@NAMED
@pytest.mark.requirements("IDX-021", "PROP-012", "IDX-022")
def test_a_dropped_index_is_gone(engine: Client, new_uri: NewUri) -> None:
    """IDX-021: a dropped index is not listed, and has neither definition nor files; it can be created again."""
    table = NamedTable(engine, new_uri(), "COPY_ON_WRITE", BY_VALUE, expression_index("low", "value", "lower"))
    table.request_index({f"{PREFIX}index.drop": "by_value"})
    assert "secondary_index_by_value" not in (*table.listed_partitions(), *table.listed_partitions(INFLIGHT))
    assert set(table.definitions()) & {"secondary_index_by_value", "expr_index_low"} == {"expr_index_low"}
    assert not table.metadata_files("secondary_index_by_value/*.hfile")
    table.write(*CHANGES)
    assert table.request_index(BY_VALUE) is not None
    table.check_values("created again")


@NAMED
@pytest.mark.requirements("IDX-021", "PROP-012")
def test_only_the_index_on_which_others_depend_stays(engine: Client, new_uri: NewUri) -> None:
    """IDX-021: beside a secondary index an expression index is dropped; the record index, which it needs, is not."""
    table = NamedTable(engine, new_uri(), "COPY_ON_WRITE", BY_VALUE, expression_index("low", "value", "lower"))
    table.request_index({f"{PREFIX}index.drop": "low"})
    assert set(table.definitions()) & {"secondary_index_by_value", "expr_index_low"} == {"secondary_index_by_value"}
    files, listed = table.metadata_files("record_index/*"), table.listed_partitions()
    with pytest.raises(ContractError):
        table.request_index({f"{PREFIX}index.drop": "record_index"})
    assert (table.metadata_files("record_index/*"), table.listed_partitions()) == (files, listed)
    table.check_values("after the refusal")


@NAMED
@pytest.mark.requirements("IDX-034")
@pytest.mark.parametrize("function", ["concat", "rand", "", "year"])
def test_other_functions_are_refused(engine: Client, new_uri: NewUri, function: str) -> None:
    """IDX-034: a function that cannot be indexed, or not over a text, is refused; no file is left. Another one is indexed."""
    table = NamedTable(engine, new_uri(), "COPY_ON_WRITE")
    before = files_below(table.folder)
    with pytest.raises(ContractError):
        table.request_index(expression_index("other", "value", function))
    assert files_below(table.folder) == before
    table.request_index(expression_index("other", "value", "lower"))
    assert "expr_index_other" in table.definitions()


#: Function, column, options, and the value in Python.
FUNCTIONS: tuple[tuple[str, str, dict[str, str], Callable[[Any], Any]], ...] = (
    ("identity", "value", {}, lambda text: text),
    ("lower", "value", {}, lambda text: text.lower()),
    ("upper", "value", {}, lambda text: text.upper()),
    ("from_unixtime", "ts", {"format": "ss"}, lambda seconds: f"{seconds % 60:02}"),
)


@NAMED
@BOTH_TYPES
@pytest.mark.requirements("IDX-032", "IDX-033", "IDX-035", "IDX-036", "IDX-041", "IDX-042", "MDT-001")
@pytest.mark.parametrize(("function", "column", "options", "compute"), FUNCTIONS, ids=[one[0] for one in FUNCTIONS])
def test_an_expression_index_follows_every_write(
    engine: Client,
    new_uri: NewUri,
    type: Type,
    function: str,
    column: str,
    options: dict[str, str],
    compute: Callable[[Any], Any],
) -> None:
    """IDX-035: the entry of each base file has the range of the function's values in it, and that of a partition contains the
    value of each of its rows.
    """
    table = NamedTable(engine, new_uri(), type, expression_index("e", column, function, **options))
    check_statistics(table, "expr_index_e", column, compute)
    for step in CHANGES:
        table.write(step).check(f"after {step}")
        check_statistics(table, "expr_index_e", column, compute)
    if "service.clustering" in engine.hello.features:
        assert engine.service(table.uri, "clustering", options={SORT: "ts"}) is not None
        check_statistics(table, "expr_index_e", column, compute)


#: Functions of a text, and the options of bloom filters of their values.
FILTERED: Mapping[str, tuple[str, dict[str, str], Callable[[str], str]]] = {
    "the default": ("lower", {}, str.lower),
    "SIMPLE": ("identity", {"filtertype": "SIMPLE", "numentries": "50", "fpp": "0.000001"}, str),
    "DYNAMIC_V0": ("identity", {"filtertype": "DYNAMIC_V0", "numentries": "50", "fpp": "0.000001"}, str),
}


@NAMED
@pytest.mark.requirements("IDX-004", "IDX-005", "IDX-033", "IDX-035", "MDT-001")
@pytest.mark.parametrize("kind", FILTERED)
def test_bloom_filters_of_an_expression_follow_every_write(engine: Client, new_uri: NewUri, kind: str) -> None:
    """IDX-004: the entry of each base file is a filter of the kind that the options name, which has every value of the function
    in the file, and few others.
    """
    uri, (function, options, compute) = new_uri(), FILTERED[kind]
    index = {**expression_index("low", "value", function, **options), "hoodie.expression.index.type": "bloom_filters"}
    table, storage = NamedTable(engine, uri, "COPY_ON_WRITE", index), LocalStorage(table_folder(uri))
    for number, steps in enumerate(((), *((step,) for step in CHANGES))):
        table.write(*steps)
        found = {key: record.payload for key, record in table.records("expr_index_low").items()}
        current = set(engine.read(uri, Query(columns=("_hoodie_file_name",))).column(0).to_pylist())
        assert all(isinstance(one, BloomFilter) and one.type == options.get("filtertype", one.type) for one in found.values())
        for partition, name in ((partition, name) for partition, files in table.files_stored().items() for name in files):
            entry = found.pop(bloom_filters_key(partition, name), None)
            assert entry is not None or name not in current, f"{name} has no entry after write {number}"
            if isinstance(entry, BloomFilter):
                values = read_base_file(storage, f"{partition}/{name}", ["value"]).column(0).to_pylist()
                stored = decode_filter(entry.type, entry.text, name)
                assert all(stored.may_hold([compute(value) for value in values if value])), name
                assert not any(stored.may_hold([f"absent {one}" for one in range(1000)])), name
                assert entry.instant == name.removesuffix(".parquet").rpartition("_")[2]
        assert not found, f"entries of other files after write {number}"


@NAMED
@BOTH_TYPES
@pytest.mark.needs("types.nested")
@pytest.mark.requirements("IDX-021", "IDX-031")
def test_a_secondary_index_of_a_field_of_a_record(engine: Client, new_uri: NewUri, type: Type) -> None:
    """IDX-031: an index of a field inside of another one has an entry for each value and record key; a record that is null, or
    whose field is null, has none that a look-up of a value finds.
    """
    parts = [{"name": name, "type": ["null", "long"], "default": None} for name in ("w", "x")]
    inner = {"type": "record", "name": "point", "fields": parts}
    fields = [{"name": "id", "type": "string"}, {"name": "p", "type": ["null", inner], "default": None}]
    uri, schema = new_uri(), {"type": "record", "name": "nested", "fields": fields}
    engine.create(uri, TableSpec("nested", type, schema, ("id",), merge_mode="COMMIT_TIME_ORDERING"))
    kinds = pa.schema([pa.field("id", pa.string(), nullable=False), ("p", pa.struct([("w", pa.int64()), ("x", pa.int64())]))])
    points = {"a": {"w": 3, "x": 1}, "b": {"x": -2}, "c": {"x": None}, "d": None}
    rows = [{"id": key, "p": point} for key, point in points.items()]
    engine.write(uri, "upsert", pa.Table.from_pylist(rows, schema=kinds), options=SETTINGS)
    engine.service(uri, "index", options={"hoodie.index.name": "by_x", f"{PREFIX}index.secondary.column": "p.x"})
    changed = pa.Table.from_pylist([{"id": "a", "p": {"x": 5}}, {"id": "d", "p": {"x": 7}}], schema=kinds)
    engine.write(uri, "upsert", changed, options=SETTINGS)
    metadata = MetadataTable.for_table(table := open_table(uri))
    assert metadata is not None
    keys = metadata.records("secondary_index_by_x", table.timeline)
    assert sorted(key for key in keys if not key.startswith(("\0", "$"))) == ["-2$b", "5$a", "7$d"]


@NAMED
@pytest.mark.requirements("IDX-035", "IDX-042")
def test_a_pattern_of_times_may_have_a_fraction(engine: Client, new_uri: NewUri) -> None:
    """IDX-042: under a pattern with a fraction of a second the results of a function of times have it; a text that has not
    the form of the pattern has no result.
    """
    index = expression_index("at", "value", "to_timestamp", format="yyyy-MM-dd HH:mm:ss.SSS")
    table = NamedTable(engine, new_uri(), "COPY_ON_WRITE", index)
    texts = {"p": "2024-01-02 03:04:05.678", "q": "2024-01-02 03:04:06.007", "r": "2024-01-02 03:04:07"}
    table.write(Step("insert", tuple(row(key, 1, text, "lima") for key, text in texts.items())))
    found = (record.payload for record in table.records("expr_index_at").values())
    stats = [one for one in found if isinstance(one, ColumnStats) and one.value_count]
    bounds = [(one.least and one.least.value, one.greatest and one.greatest.value, one.null_count) for one in stats]
    assert bounds == [(1_704_164_645_678_000, 1_704_164_646_007_000, 1)]


@NAMED
@pytest.mark.needs("types.nested")
@pytest.mark.requirements("IDX-021")
def test_a_secondary_index_on_a_column_of_records_is_refused(engine: Client, new_uri: NewUri) -> None:
    """IDX-021: a column whose values are records has no text for the keys of an index; the request is refused, and no index is
    listed.
    """
    inner = {"type": "record", "name": "point", "fields": [{"name": "x", "type": ["null", "long"], "default": None}]}
    fields = [{"name": "id", "type": "string"}, {"name": "p", "type": ["null", inner], "default": None}]
    uri, schema = new_uri(), {"type": "record", "name": "nested", "fields": fields}
    engine.create(uri, TableSpec("nested", "COPY_ON_WRITE", schema, ("id",), merge_mode="COMMIT_TIME_ORDERING"))
    kinds = pa.schema([pa.field("id", pa.string(), nullable=False), ("p", pa.struct([("x", pa.int64())]))])
    engine.write(uri, "upsert", pa.Table.from_pylist([{"id": "a", "p": {"x": 1}}], schema=kinds), options=SETTINGS)
    listed = read_properties(LocalStorage(table_folder(uri))).fields(USABLE)
    with pytest.raises(ContractError):
        engine.service(uri, "index", options={"hoodie.index.name": "by_p", f"{PREFIX}index.secondary.column": "p"})
    assert read_properties(LocalStorage(table_folder(uri))).fields(USABLE) == listed
