"""Tables with a bucket index: the hash of a key determines its file group, on both types of table and with both engines.

Expected buckets, ranges and file ids are those that the classes of Apache Hudi 1.0.2 give.
"""

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.suite.support.concurrent.in_process import only_engines_of_this_project
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, Program, Step, as_arrow, expect_rows, row
from hudi_conformance.suite.support.tables.clustered_tables import Type
from hudi_conformance.suite.support.tables.written_tables import data_files, files_below, replace_in_metadata, table_folder
from hudi_reference import WritableTable, create_table, open_table
from hudi_reference.services.clustering.plan import schedule_clustering
from hudi_reference.services.compaction.compaction import execute_compaction, schedule_compaction

BUCKETED: Mapping[str, str] = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "4"}
RANGES: Mapping[str, str] = {**BUCKETED, "hoodie.index.bucket.engine": "CONSISTENT_HASHING"}
#: The file groups of four ranges in the partition x, and the range of each key.
GROUPS = ("6b1b8823-089f-30f7-9d40-ca5aa7e1a38a-0", "51af483f-fad2-322e-936f-62fa509b3513-0",
          "d82fa86c-0779-31a8-9951-354669461166-0", "f2f913ca-3b63-3359-8eb4-db4ace29a409-0")  # fmt: skip
RANGE_OF = {"a": 2, "b": 1, "c": 3, "d": 2, "e": 3, "f": 3, "g": 2}
WRITES = pytest.mark.needs("create", "write.insert", "write.upsert", "write.delete", "write.bucket-index", "read.snapshot",
                           "read.projection", "partition.plain", "merge.event-time")  # fmt: skip
STEPS = (
    Step("insert", tuple(row(key, 1, "first", "x") for key in "abcdef")),
    Step("upsert", tuple(row(key, 2, "second", "x") for key in "bcdg")),
    Step("delete", (row("a", 0, "", "x"),)),
    Step("upsert", (row("f", 3, "third", "x"), row("e", 3, "third", "x"))),
)


def bucket_number(key: str) -> int:
    """Return the bucket of a key of one letter, of four: Java's hash of a list with this text, without its sign."""
    return (31 + ord(key)) % 4


def group_ids(uri: str) -> set[str]:
    """Return the ids of the file groups of the table."""
    return {path.rpartition("/")[2].lstrip(".").partition("_")[0] for path in data_files(uri)}


def write_and_compare(engine: Client, uri: str, type: Type, options: Mapping[str, str]) -> None:
    """Write the steps, and compare a snapshot with the model after each."""
    program = Program(type, "EVENT_TIME_ORDERING", True)
    engine.create(uri, program.spec())
    model = program.model()
    for step in STEPS:
        instant = engine.write(uri, step.operation, as_arrow(step.rows), options=options)
        model.apply(step.operation, step.rows, instant)
        expect_rows(engine, uri, model.snapshot(), f"after {step}")


@WRITES
@BOTH_TYPES
@pytest.mark.requirements("LAY-021")
def test_a_bucket_has_one_file_group(engine: Client, new_uri: Callable[[], str], type: Type) -> None:
    """LAY-021: after inserts, updates and deletes each key is in the one file group of its bucket,
    whose id begins with the number of the bucket.
    """
    uri = new_uri()
    write_and_compare(engine, uri, type, BUCKETED)
    found = group_ids(uri)
    assert sorted(one[:9] for one in found) == [f"{bucket:08}-" for bucket in sorted({bucket_number(key) for key in "abcdefg"})]


@WRITES
@BOTH_TYPES
@pytest.mark.requirements("LAY-021")
def test_a_writer_with_fewer_buckets_changes_no_other_row(engine: Client, new_uri: Callable[[], str], type: Type) -> None:
    """LAY-021: a table has four buckets, and the settings of a writer say two, so that it looks for keys in other file groups.
    The write is refused, or changes the stored rows: no key is in two file groups.
    """
    uri, program = new_uri(), Program(type, "EVENT_TIME_ORDERING", True)
    engine.create(uri, program.spec())
    model, rows = program.model(), [row(key, 1, "first", "x") for key in "abcdef"]
    model.apply("upsert", rows, engine.write(uri, "upsert", as_arrow(rows), options=BUCKETED))
    changes = [row(key, 2, "second", "x") for key in "abcdef"]
    with suppress(ContractError):
        instant = engine.write(uri, "upsert", as_arrow(changes), options={**BUCKETED, "hoodie.bucket.index.num.buckets": "2"})
        model.apply("upsert", changes, instant)
    expect_rows(engine, uri, model.snapshot(), "after a write with two buckets")


@WRITES
@pytest.mark.requirements("LAY-021")
def test_there_are_256_buckets_by_default(engine: Client, new_uri: Callable[[], str]) -> None:
    """LAY-021: writers that set no number of buckets agree on the bucket of a key: 3136, the hash of [ab], modulo 256."""
    uri = new_uri()
    engine.create(uri, Program("COPY_ON_WRITE", "EVENT_TIME_ORDERING", True).spec())
    engine.write(uri, "insert", as_arrow([row("ab", 1, "x")]), options={"hoodie.index.type": "BUCKET"})
    assert [one[:9] for one in group_ids(uri)] == [f"{3136 % 256:08}-"]


#: Values of the key fields `id` and `value`, and the bucket of 256: the hash of the list of both, in which a null is 0. Commas
#: and colons belong to the values.
PAIRS = {("a", None): 128, ("a", ""): 128, ("a,b", "c"): 45, ("a:b", "c:d"): 101}


@WRITES
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"key={pair[0]}-{pair[1]}")
@pytest.mark.requirements("LAY-021", "META-007")
def test_the_bucket_of_a_key_of_two_fields(engine: Client, new_uri: Callable[[], str], pair: tuple[str, str | None]) -> None:
    """LAY-021: the bucket follows from the values of the key fields, also if one is null, empty or has a comma or a colon.
    Another writer finds the stored row there.
    """
    uri, (key, value) = new_uri(), pair
    engine.create(uri, replace(Program("COPY_ON_WRITE", "EVENT_TIME_ORDERING", True).spec(), record_key=("id", "value")))
    for ts in (1, 2):
        rows = as_arrow([{**row(key, ts, ""), "value": value}])
        engine.write(uri, "upsert", rows, options={"hoodie.index.type": "BUCKET"})
    assert [one[:9] for one in group_ids(uri)] == [f"{PAIRS[pair]:08}-"]
    assert engine.read(uri, Query(columns=("id", "value", "ts"))).to_pylist() == [{"id": key, "value": value, "ts": 2}]


#: Settings of a bucket index that do not fit a copy-on-write table with the key field `id`.
UNFIT = {
    "a field that is no key": {**BUCKETED, "hoodie.bucket.index.hash.field": "value"},
    "one of two fields": {**BUCKETED, "hoodie.bucket.index.hash.field": "id,value"},
    "ranges": RANGES,
}


@WRITES
@pytest.mark.needs("copy-on-write")
@pytest.mark.parametrize("unfit", UNFIT)
@pytest.mark.requirements("LAY-021", "MRG-007")
def test_settings_of_buckets_that_do_not_fit_the_table(engine: Client, new_uri: Callable[[], str], unfit: str) -> None:
    """LAY-021: a bucket follows from the record key, and ranges of hashes need log files. A write with other settings is
    refused, and nothing is stored.
    """
    uri = new_uri()
    engine.create(uri, Program("COPY_ON_WRITE", "EVENT_TIME_ORDERING", True).spec())
    with pytest.raises(ContractError):
        engine.write(uri, "upsert", as_arrow(STEPS[0].rows), options=UNFIT[unfit])
    assert data_files(uri) == set()


@WRITES
@pytest.mark.needs("merge-on-read", "log.only-slices")
@pytest.mark.requirements("LAY-021", "MRG-007")
def test_a_range_of_hashes_has_one_file_group(engine: Client, new_uri: Callable[[], str]) -> None:
    """MRG-007: with consistent hashing each key is in the file group that the partition and the range of its hash determine."""
    uri = new_uri()
    write_and_compare(engine, uri, "MERGE_ON_READ", RANGES)
    assert group_ids(uri) == {GROUPS[place] for place in RANGE_OF.values()}
    stored = (
        table_folder(uri) / ".hoodie" / ".bucket_index" / "consistent_hashing_metadata" / "x" / "00000000000000.hashing_meta"
    )
    assert stored.is_file()


@WRITES
@pytest.mark.needs("merge-on-read", "log.only-slices")
@pytest.mark.requirements("LAY-021", "MRG-007")
def test_ranges_of_hashes_with_random_ids(engine: Client, new_uri: Callable[[], str]) -> None:
    """LAY-021: splits and merges of buckets leave ranges whose file ids are random. Writers place each key in the file group
    that the hashing metadata names for its range, and find it there. A range ends with its value: the hash of g is that of the
    first range.
    """
    uri = new_uri()
    folder = table_folder(uri) / ".hoodie" / ".bucket_index" / "consistent_hashing_metadata" / "x"
    prefixes = ("0c7b9f42-5d3e-4a61-8c1f-2f0e6d1b7a10", "b1d2c3e4-9a8b-4c7d-8e6f-5a4b3c2d1e0f")
    values = (1_427_303_575, 2**31 - 1)
    nodes = [{"value": value, "fileIdPrefix": one, "tag": "NORMAL"} for value, one in zip(values, prefixes, strict=True)]
    content = {"version": 0, "partitionPath": "x", "instant": "00000000000000", "numBuckets": 2, "seqNo": 0, "nodes": nodes}
    program = Program("MERGE_ON_READ", "EVENT_TIME_ORDERING", True)
    engine.create(uri, program.spec())
    folder.mkdir(parents=True)
    (folder / "00000000000000.hashing_meta").write_text(json.dumps(content))
    model = program.model()
    for step in STEPS:
        model.apply(step.operation, step.rows, engine.write(uri, step.operation, as_arrow(step.rows), options=RANGES))
        expect_rows(engine, uri, model.snapshot(), f"after {step}")
    assert group_ids(uri) == {f"{one}-0" for one in prefixes}
    found = engine.read(uri, Query(columns=("id", "_hoodie_file_name"))).to_pylist()
    first = {one["id"] for one in found if one["_hoodie_file_name"].lstrip(".").startswith(prefixes[0])}
    assert first == {"b", "d", "g"}


@WRITES
@pytest.mark.needs("merge-on-read", "log.only-slices")
@pytest.mark.parametrize("state", ["completed", "pending"])
@pytest.mark.leaves_damage("it stores ranges that the rows of before are not in")
@pytest.mark.requirements("LAY-021", "MRG-007")
def test_later_ranges_count_when_their_action_completed(engine: Client, new_uri: Callable[[], str], state: str) -> None:
    """MRG-007: later metadata of a partition, here one range for all hashes, counts as soon as its action has completed: new
    keys go to the file group of that range. Before that a write to the partition is refused, and changes nothing.
    """
    only_engines_of_this_project(engine, "a write while buckets are being split or merged")
    uri, later = new_uri(), (row("h", 4, "new", "x"), row("i", 4, "new", "x"), row("j", 4, "new", "x"), row("k", 4, "new", "x"))
    write_and_compare(engine, uri, "MERGE_ON_READ", RANGES)
    folder = table_folder(uri) / ".hoodie" / ".bucket_index" / "consistent_hashing_metadata" / "x"
    metadata = json.loads((folder / "00000000000000.hashing_meta").read_text())
    done = sorted(path.name for path in (table_folder(uri) / ".hoodie" / "timeline").glob("*_*.deltacommit"))
    instant = done[-1].partition("_")[0] if state == "completed" else "20990101000000000"
    nodes = [{**metadata["nodes"][0], "value": 0x7FFFFFFF, "fileIdPrefix": GROUPS[0].removesuffix("-0")}]
    text = json.dumps({**metadata, "instant": instant, "numBuckets": 1, "nodes": nodes})
    (folder / f"{instant}.hashing_meta").write_text(text)
    before = data_files(uri)
    if state == "pending":
        with pytest.raises(ContractError):
            engine.write(uri, "upsert", as_arrow(later), options=RANGES)
        assert data_files(uri) == before
        return
    engine.write(uri, "upsert", as_arrow(later), options=RANGES)
    assert {path.rpartition("/")[2].lstrip(".").partition("_")[0] for path in data_files(uri) - before} == {GROUPS[0]}


@WRITES
@pytest.mark.needs("merge-on-read", "write.insert-overwrite")
@pytest.mark.requirements("TL-039")
def test_an_overwrite_of_buckets_stores_base_files(engine: Client, new_uri: Callable[[], str]) -> None:
    """TL-039: an overwrite stores its rows in base files, also where a bucket index makes other writes store new keys in log
    files: compactions of Apache Hudi 1.2.0 skip log blocks of a replacing write, so that its rows would be lost (ER-213).
    """
    uri, program = new_uri(), Program("MERGE_ON_READ", "EVENT_TIME_ORDERING", True)
    engine.create(uri, program.spec())
    model, before = program.model(), set[str]()
    overwrite = Step("insert_overwrite", (row("b", 5, "instead", "x"), row("g", 1, "instead", "x")))
    for step in (STEPS[0], overwrite):
        before = data_files(uri)
        model.apply(step.operation, step.rows, engine.write(uri, step.operation, as_arrow(step.rows), options=BUCKETED))
        expect_rows(engine, uri, model.snapshot(), f"after {step}")
    added = sorted(data_files(uri) - before)
    assert [path.rpartition("/")[2][:9] for path in added] == ["00000001-", "00000002-"]
    assert all(path.endswith(".parquet") for path in added), f"stored {', '.join(added)}"


@WRITES
@pytest.mark.needs("merge-on-read", "log.only-slices", "write.insert-overwrite")
@pytest.mark.requirements("LAY-021", "MRG-007", "TL-039")
def test_rows_after_an_overwrite_of_ranges_are_found(engine: Client, new_uri: Callable[[], str]) -> None:
    """LAY-021: an overwrite replaces the file groups of the ranges. The rows of a later write belong to no replaced file group,
    in which queries would not find them; an engine that cannot place them refuses the overwrite or the write (ER-218).
    """
    uri, program = new_uri(), Program("MERGE_ON_READ", "EVENT_TIME_ORDERING", True)
    engine.create(uri, program.spec())
    model = program.model()
    overwrite = Step("insert_overwrite", (row("b", 5, "instead", "x"), row("g", 5, "instead", "x")))
    for step in (STEPS[0], overwrite, Step("upsert", (row("b", 6, "later", "x"), row("h", 6, "later", "x")))):
        with suppress(ContractError):
            model.apply(step.operation, step.rows, engine.write(uri, step.operation, as_arrow(step.rows), options=RANGES))
        expect_rows(engine, uri, model.snapshot(), f"after {step}")


#: A file group begins with a log file, and is replaced.
LATER = (
    Step("upsert", (row("b", 2, "new group", "y"),)),
    Step("insert_overwrite", (row("c", 3, "instead", "y"),)),
)


@WRITES
@pytest.mark.needs("merge-on-read", "log.only-slices", "write.insert-overwrite", "read.as-of")
@pytest.mark.requirements("TYP-008", "TL-039")
def test_time_travel_before_a_group_of_logs(engine: Client, new_uri: Callable[[], str]) -> None:
    """TYP-008: a file group began with a log file and was replaced, both after the time of the query. Nothing that the state of
    that time had is missing.
    """
    uri, program = new_uri(), Program("MERGE_ON_READ", "EVENT_TIME_ORDERING", True)
    engine.create(uri, program.spec())
    model, states = program.model(), []
    for step in (STEPS[0], *LATER):
        instant = engine.write(uri, step.operation, as_arrow(step.rows), options=BUCKETED)
        model.apply(step.operation, step.rows, instant)
        states.append((instant, [(one["id"], one["value"]) for one in model.snapshot()]))
    for instant, expected in states:
        found = engine.read(uri, Query("as-of", as_of=instant, columns=("id", "value"))).to_pylist()
        assert sorted((one["id"], one["value"]) for one in found) == sorted(expected), f"as of {instant}"


@WRITES
@pytest.mark.needs("merge-on-read", "log.only-slices", "write.insert-overwrite", "service.savepoint", "service.restore")
@pytest.mark.requirements("TL-023", "TL-039")
def test_a_restore_before_a_group_of_logs(engine: Client, new_uri: Callable[[], str]) -> None:
    """TL-023: a restore to a savepoint removes the write that began a file group with a log file, and the one that replaced the
    group.
    """
    uri, program = new_uri(), Program("MERGE_ON_READ", "EVENT_TIME_ORDERING", True)
    engine.create(uri, program.spec())
    model = program.model()
    saved = engine.write(uri, "insert", as_arrow(STEPS[0].rows), options=BUCKETED)
    model.apply("insert", STEPS[0].rows, saved)
    engine.service(uri, "savepoint", instant=saved)
    for step in LATER:
        engine.write(uri, step.operation, as_arrow(step.rows), options=BUCKETED)
    engine.service(uri, "restore", instant=saved)
    expect_rows(engine, uri, model.snapshot(), "restored")


@WRITES
@BOTH_TYPES
@pytest.mark.requirements("LAY-021", "PROP-001")
@pytest.mark.parametrize("operation", ["insert", "upsert"])
def test_writers_without_the_index_keep_the_layout(
    engine: Client, new_uri: Callable[[], str], type: Type, operation: str
) -> None:
    """LAY-021: the file ids of the table show a bucket index, and the writer's settings have none. It maintains the buckets, or
    is refused before it writes a file: it never adds other file groups, which writers with the index cannot parse.
    """
    only_engines_of_this_project(engine, "what a writer does about an index that its settings do not name")
    uri, program = new_uri(), Program(type, "EVENT_TIME_ORDERING", True)
    spec = program.spec()
    made = create_table(
        uri, name=spec.name, schema=dict(spec.schema), record_key=spec.record_key, partition=spec.partition,
        ordering=spec.ordering, table_type=type, options=BUCKETED,
    )  # fmt: skip
    made.upsert(as_arrow(STEPS[0].rows))
    files = files_below(table_folder(uri))
    try:
        engine.write(uri, operation, as_arrow([row("new", 1, "x", "x")]))  # type: ignore[arg-type]
    except ContractError:
        assert files_below(table_folder(uri)) == files, "the write was refused after it had changed files"
    assert {one[:5] for one in group_ids(uri)} == {"00000"}


@WRITES
@BOTH_TYPES
@pytest.mark.requirements("LAY-021", "MRG-007")
@pytest.mark.parametrize("place", ["the settings", "the table"])
def test_partitions_may_have_numbers_of_buckets_of_their_own(
    engine: Client, new_uri: Callable[[], str], type: Type, place: str
) -> None:
    """LAY-021: the partition x has two buckets, and others have four, by the settings of the writer or by the file in which the
    table stores this. An engine places the keys of x in two buckets, or is refused before it stores a file.
    """
    only_engines_of_this_project(engine, "what a writer does about numbers of buckets that only later releases know")
    uri = new_uri()
    engine.create(uri, Program(type, "EVENT_TIME_ORDERING", True).spec())
    options, folder = (
        dict(BUCKETED),
        table_folder(uri) / ".hoodie" / ".bucket_index" / "partition_bucket_index_meta" / "configs",
    )
    if place == "the table":
        stored = {"version": 1, "rule": "regex", "expressions": "x,2", "defaultBucketNumber": 4, "instant": "00000000000000"}
        folder.mkdir(parents=True)
        (folder / "00000000000000.hashing_config").write_text(json.dumps(stored))
    else:
        options["hoodie.bucket.index.partition.expressions"] = "x,2"
    files = files_below(table_folder(uri))
    try:
        engine.write(uri, "insert", as_arrow(STEPS[0].rows), options=options)
    except ContractError:
        assert files_below(table_folder(uri)) == files, "the write was refused after it had changed files"
    assert {one[:9] for one in group_ids(uri)} <= {"00000000-", "00000001-"}


@pytest.mark.needs("read.snapshot", "merge-on-read", "log.avro", "merge.event-time", "partition.plain")
@pytest.mark.requirements("RDR-008")
def test_log_file_of_a_pending_clustering(engine: Client, new_uri: Callable[[], str]) -> None:
    """RDR-008: while buckets are split, a write stores its rows in log files of the buckets of before, and in those of the
    new buckets, which have the instant of the pending clustering in their names (ER-163). A query reads the former only.
    """
    uri = new_uri()
    table = _create_three_partitions(uri)
    clustering = _plan(uri, "clustering")
    instant = table.upsert(as_arrow([row("a", 2, "new", "oslo"), row("b", 2, "new", "rio")]))
    (log,) = table_folder(uri).glob("rio/.*.log.*")
    _rename_log(uri, instant, log, clustering, group=NEW_BUCKET)
    found = engine.read(uri, Query(columns=("id", "value"))).to_pylist()
    assert sorted((one["id"], one["value"]) for one in found) == [("a", "new"), ("b", "old"), ("c", "old")]


#: The first part of the id of a bucket that a pending clustering makes.
NEW_BUCKET = "00000000-0000-0000-0000-000000000000"
#: The value of the row whose change has the instant of a plan in the name of its log file.
PLANS = {"clustering": "old", "compaction": "new"}


@pytest.mark.needs("read.snapshot", "merge-on-read", "log.avro", "merge.event-time", "partition.plain")
@pytest.mark.requirements("RDR-008")
@pytest.mark.parametrize("service", PLANS)
def test_log_file_of_a_later_plan(engine: Client, new_uri: Callable[[], str], service: str) -> None:
    """RDR-008: a write that was requested before the plan of a service names its log file by the plan, if it looks the slice up
    after that (ER-163). A query reads the slice of a completed compaction, and no bucket of a pending clustering.
    """
    uri = new_uri()
    table = _create_three_partitions(uri)
    if service == "compaction":
        table.upsert(as_arrow([row("b", 1, "logged", "rio")]))
    plan = _plan(uri, service)
    instant = table.upsert(as_arrow([row("a", 2, "new", "oslo"), row("b", 2, "new", "rio")]))
    if service == "compaction":
        execute_compaction(open_table(uri), plan)
    (log,) = (one for one in table_folder(uri).glob("rio/.*.log.*") if instant in one.name)
    _rename_log(uri, instant, log, plan, group=NEW_BUCKET if service == "clustering" else log.name[1:37])
    _request_earlier(uri, instant, f"{int(plan) - 1:017}")
    found = engine.read(uri, Query(columns=("id", "value"))).to_pylist()
    assert sorted((one["id"], one["value"]) for one in found) == [("a", "new"), ("b", PLANS[service]), ("c", "old")]


def _create_three_partitions(uri: str) -> WritableTable:
    """A table with one row in each of three partitions."""
    spec = Program("MERGE_ON_READ", "EVENT_TIME_ORDERING", True).spec()
    table = create_table(uri, name=spec.name, schema=dict(spec.schema), record_key=spec.record_key, partition=spec.partition,
                         ordering=spec.ordering, table_type=spec.type)  # fmt: skip
    table.insert(as_arrow([row("a", 1, "old", "oslo"), row("b", 1, "old", "rio"), row("c", 1, "old", "lima")]))
    return table


def _rename_log(uri: str, instant: str, log: Path, plan: str, *, group: str) -> None:
    """Name the log file of a write by a plan, in a file group, also in the metadata of the write."""
    renamed = log.name.replace(instant, plan).replace(log.name[1:37], group)
    log.rename(log.with_name(renamed))
    replace_in_metadata(uri, instant, log.name, renamed)
    replace_in_metadata(uri, instant, log.name[1:37], group)


def _plan(uri: str, service: str) -> str:
    """The instant of a plan: to cluster the partition lima, or to compact rio."""
    table = open_table(uri)
    if service == "clustering":
        instant = schedule_clustering(table, {"hoodie.clustering.plan.strategy.partition.selected": "lima"})
    else:
        instant = schedule_compaction(table, {"hoodie.compact.inline.max.delta.commits": "1"})
    assert instant is not None
    return instant


def _request_earlier(uri: str, instant: str, earlier: str) -> None:
    """Give a write another requested time of the same length, in names and contents of all of its files."""
    for path, content in files_below(table_folder(uri)).items():
        if instant.encode() in content:
            path.write_bytes(content.replace(instant.encode(), earlier.encode()))
        if instant in path.name:
            path.rename(path.with_name(path.name.replace(instant, earlier)))
