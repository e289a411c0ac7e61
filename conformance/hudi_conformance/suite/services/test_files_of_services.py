"""What table services store, read from storage: files on the timeline, the metadata of their completion, data files, rows."""

import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import fastavro
import pyarrow.parquet as pq
import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.contract.messages import Service
from hudi_conformance.suite.support.concurrent.slow_writers import LAZY, NON_BLOCKING
from hudi_conformance.suite.support.programs.write_programs import Program, Step, as_arrow, row
from hudi_conformance.suite.support.tables.clustered_tables import ClusteredTable, NewUri, Type
from hudi_conformance.suite.support.tables.tables_under_services import (
    create_updated_table,
    deleted_files,
    keep_commits,
    keep_versions,
    read_instant_file,
    read_snapshot,
)
from hudi_conformance.suite.support.tables.tables_with_logs import DUE
from hudi_conformance.suite.support.tables.written_tables import base_files, files_below, table_folder
from hudi_reference import open_table

WRITES = ("create", "write.insert", "write.upsert", "partition.plain", "read.snapshot", "read.projection", "merge.event-time")
COMPACTS = pytest.mark.needs(*WRITES, "merge-on-read", "service.compaction")
CLUSTERS = pytest.mark.needs(*WRITES, "copy-on-write", "service.clustering")
CLEANS = pytest.mark.needs(*WRITES, "copy-on-write", "service.clean")
ROLLS_BACK = pytest.mark.needs(*WRITES, "copy-on-write", "service.rollback")
#: Service -> the action while it is pending, and when it is completed.
ACTIONS = {
    "compaction": ("compaction", "commit"),
    "clustering": ("clustering", "replacecommit"),
    "clean": ("clean", "clean"),
    "rollback": ("rollback", "rollback"),
}
STEPS = (
    Step("upsert", (row("a", 10, "x"), row("b", 10, "x"), row("c", 10, "x", "rio"))),
    Step("upsert", (row("a", 20, "y"), row("c", 5, "late", "rio"), row("d", 10, "x", "rio"))),
    Step("upsert", (row("a", 15, "late"), row("b", 30, "z"), row("d", 20, "z", "rio"))),
)
Files = Mapping[str, bytes]


@dataclass(frozen=True)
class Served:
    """A table on which a service ran: its requested time, and the files below the base path before and after."""

    table: ClusteredTable
    service: Service
    instant: str
    before: Files
    after: Files

    @property
    def folder(self) -> Path:
        """The base path."""
        return table_folder(self.table.uri)

    @property
    def states(self) -> list[Path]:
        """The files of the service on the timeline: requested, inflight, completed."""
        pending, completed = ACTIONS[self.service]
        home = self.folder / ".hoodie" / "timeline"
        (done,) = home.glob(f"{self.instant}_*.{completed}")
        return [home / f"{self.instant}.{pending}.requested", home / f"{self.instant}.{pending}.inflight", done]

    @property
    def created(self) -> set[str]:
        """The data files that the service created."""
        return data_files(self.after) - data_files(self.before)

    @property
    def removed(self) -> set[str]:
        """The data files that the service removed."""
        return data_files(self.before) - data_files(self.after)

    def completion(self) -> dict[str, Any]:
        """The metadata of completion."""
        return read_instant_file(self.table.uri, self.instant, ACTIONS[self.service][1])[1]


def data_files(files: Files) -> set[str]:
    """Return the base files and log files among the files of a table."""
    return {name for name in files if not name.startswith(".hoodie/") and (name.endswith(".parquet") or ".log." in name)}


def run_service(engine: Client, uri: str, service: Service, type: Type, options: Mapping[str, str] | None = None) -> Served:
    """Write a table and run the service; a rollback is that of the last write."""
    table = ClusteredTable(engine, uri, type).write(*STEPS)
    before = relative_files(uri)
    instant = engine.service(uri, service, instant=table.times[-1] if service == "rollback" else None, options=options or {})
    assert instant is not None, f"there was nothing to do for the {service}"
    return Served(table, service, instant, before, relative_files(uri))


def relative_files(uri: str) -> dict[str, bytes]:
    """Return the files of a table by their paths below the base path."""
    home = table_folder(uri)
    return {path.relative_to(home).as_posix(): content for path, content in files_below(home).items()}


def check_timeline(served: Served) -> None:
    """Check names, places, contents and ages of the service's files on the timeline, and that all have one requested time."""
    names = {name.rpartition("/")[2] for name in served.after.keys() - served.before.keys() if re.search(r"/\d{17}[._]", name)}
    own = {path.name for path in served.states}
    assert {name for name in names if name.startswith(served.instant)} == own
    assert not [name for name in served.after if re.fullmatch(r"\.hoodie/\d{17}[._].*", name)], (
        "an instant outside the timeline"
    )
    assert not [name for name in served.after if re.match(r"\d{17}[._]", name.rpartition("/")[2]) and name[0] != "."]
    for path in served.states:
        if content := path.read_bytes():
            assert len(list(fastavro.reader(io.BytesIO(content)))) == 1, f"{path.name} is not an Avro file of one record"
    assert served.states[2].stat().st_size > 0
    made = [(served.folder / name).stat().st_mtime_ns for name in served.created]
    requested, inflight, completed = (path.stat().st_mtime_ns for path in served.states)
    assert requested <= inflight <= min(made, default=inflight)
    assert max(made, default=inflight) <= completed, "a data file is newer than the completion"


def check_created_files(served: Served) -> None:
    """Check the new base files against the metadata of completion, and that no earlier file has changed."""
    stats = [stat for found in served.completion()["partitionToWriteStats"].values() for stat in found]
    assert {stat["path"] for stat in stats} == served.created != set()
    assert {stat["path"]: stat["fileSizeInBytes"] for stat in stats} == {
        name: len(served.after[name]) for name in served.created
    }
    for name in served.created:
        assert name.endswith(f"_{served.instant}.parquet")
        rows = pq.read_table(io.BytesIO(served.after[name]), columns=["_hoodie_file_name"])
        assert set(rows.column(0).to_pylist()) == {name.rpartition("/")[2]}
    check_kept_files(served)


def check_kept_files(served: Served) -> None:
    """Check that the data files that are still there have their bytes."""
    kept = data_files(served.before) & data_files(served.after)
    assert [name for name in kept if served.before[name] != served.after[name]] == []


@COMPACTS
@pytest.mark.requirements("TL-002", "TL-027", "TL-028", "TL-034", "TL-036", "TL-037", "TL-042", "TL-048", "LAY-011", "LAY-017")
@pytest.mark.requirements("TL-005", "BF-009", "META-010", "LAY-024", "CMP-001", "TL-049", "MRG-028")
def test_a_compaction_stores_its_states_and_files(engine: Client, new_uri: NewUri) -> None:
    """TL-005: a compaction is requested and inflight under its own name and completes as a commit, whose metadata names every
    new base file; earlier files stay as they are.
    """
    served = run_service(engine, new_uri(), "compaction", "MERGE_ON_READ", DUE)
    check_timeline(served)
    check_created_files(served)
    assert served.removed == set()
    served.table.check_rows("after the compaction")


@CLUSTERS
@pytest.mark.requirements("TL-002", "TL-027", "TL-028", "TL-034", "TL-036", "TL-037", "TL-040", "TL-042", "TL-048", "LAY-017")
@pytest.mark.requirements("TL-005", "BF-009", "META-010", "LAY-011", "LAY-024", "CLU-001", "TL-049")
def test_a_clustering_stores_its_states_and_files(engine: Client, new_uri: NewUri) -> None:
    """TL-040: a clustering is requested and inflight under its own name and completes as a replacecommit, whose metadata names
    every new base file; replaced files stay.
    """
    served = run_service(engine, new_uri(), "clustering", "COPY_ON_WRITE")
    check_timeline(served)
    check_created_files(served)
    assert served.removed == set()
    served.table.check_rows("after the clustering")


@CLEANS
@pytest.mark.requirements("TL-002", "TL-005", "TL-027", "TL-028", "TL-036", "TL-037", "TL-048", "LAY-017", "LAY-024", "TL-014")
def test_a_clean_stores_its_states_and_removes_what_it_names(engine: Client, new_uri: NewUri) -> None:
    """TL-005: a clean has three files under its own name; the files that are gone are those that its metadata names, and other
    files stay as they are.
    """
    served = run_service(engine, new_uri(), "clean", "COPY_ON_WRITE", keep_commits(1))
    check_timeline(served)
    assert served.created == set()
    assert {name.rpartition("/")[2] for name in served.removed} == deleted_files(served.completion()) != set()
    check_kept_files(served)
    served.table.check_rows("after the clean")


@CLEANS
@pytest.mark.needs("service.savepoint")
@pytest.mark.parametrize("policy", ["KEEP_LATEST_COMMITS", "KEEP_LATEST_FILE_VERSIONS"])
@pytest.mark.requirements("TL-014", "TL-041")
def test_plan_and_record_of_a_clean_describe_it(engine: Client, new_uri: NewUri, policy: str) -> None:
    """TL-014: the plan of a clean names its policy, the newest commit, the earliest one to retain if the policy has one, and
    the savepoints that it respects. The completed file names them again, with the number of deleted files.
    """
    table = create_updated_table(engine, new_uri(), 5)
    protected, newest = table.instants[0], table.instants[-1]
    engine.service(table.uri, "savepoint", instant=protected)
    options, earliest = (keep_commits(2), table.instants[-2]) if policy == "KEEP_LATEST_COMMITS" else (keep_versions(2), None)
    instant = engine.service(table.uri, "clean", options=options)
    assert instant is not None
    _, plan = read_instant_file(table.uri, instant, "clean.requested")
    _, record = read_instant_file(table.uri, instant, "clean")
    assert (plan["policy"], plan["lastCompletedCommitTimestamp"]) == (policy, newest)
    assert (plan["earliestInstantToRetain"] or {}).get("timestamp") == earliest
    assert record["startCleanTime"] == instant
    assert (record["earliestCommitToRetain"], record["lastCompletedCommitTimestamp"]) == (earliest or "", newest)
    assert {found["policy"] for found in record["partitionMetadata"].values()} == {policy}
    assert record["totalFilesDeleted"] == len(deleted_files(record)) > 1
    for named in (plan, record):
        assert named["extraMetadata"]["savepointed_timestamps"] == protected


@ROLLS_BACK
@pytest.mark.requirements("TL-002", "TL-005", "TL-019", "TL-027", "TL-028", "TL-037", "TL-048", "LAY-017", "LAY-024")
def test_a_rollback_stores_its_states_and_removes_what_it_names(engine: Client, new_uri: NewUri) -> None:
    """TL-019: a rollback of a write has three files under its own name; the files of the write are gone and named, and other
    files stay as they are.
    """
    served = run_service(engine, new_uri(), "rollback", "COPY_ON_WRITE")
    check_timeline(served)
    gone, written = {name.rpartition("/")[2] for name in served.removed}, served.table.times[-1]
    assert gone == deleted_files(served.completion()) != set()
    assert {
        name for name in map(str, served.before) if f"_{written}." in name and not name.startswith(".hoodie")
    } == served.removed
    check_kept_files(served)


@COMPACTS
@pytest.mark.requirements("TL-033", "LAY-012")
@pytest.mark.leaves_damage("it stores data files of no action")
@pytest.mark.parametrize(
    ("folder", "instant"), [("oslo", "20990101000000000"), (".hoodie/metadata/files", "20200101000000000")]
)
def test_a_compaction_ignores_files_of_no_action(engine: Client, new_uri: NewUri, folder: str, instant: str) -> None:
    """TL-033: a base file of a file group of its own adds no row in a compaction if no action has its instant, or if it is
    below .hoodie.
    """
    table = ClusteredTable(engine, new_uri(), "MERGE_ON_READ").write(*STEPS)
    base = next(path for path in table_folder(table.uri).rglob("*.parquet") if ".hoodie" not in path.parts)
    place = table_folder(table.uri) / folder
    place.mkdir(parents=True, exist_ok=True)
    stray = place / f"{uuid4()}-0_0-0-0_{instant}.parquet"
    stray.write_bytes(base.read_bytes())
    compaction = engine.service(table.uri, "compaction", options=DUE)
    assert compaction is not None
    _, done = read_instant_file(table.uri, compaction, "commit")
    assert stray.name.partition("_")[0] not in {s["fileId"] for found in done["partitionToWriteStats"].values() for s in found}
    table.check_rows("after the compaction")


@COMPACTS
@pytest.mark.needs("write.delete")
@pytest.mark.requirements("TL-044", "TL-007")
def test_a_compaction_counts_rows(engine: Client, new_uri: NewUri) -> None:
    """TL-044: the stat of a compacted base file names the instant of the base file before, and counts the rows that it stores,
    those that the logs changed, and those that they deleted.
    """
    first = Step("upsert", tuple(row(key, 10, "x") for key in "abcd"))
    table = ClusteredTable(engine, new_uri(), "MERGE_ON_READ").write(first, Step("upsert", (row("a", 20, "y"),)))
    table.write(Step("delete", (row("b", 0, ""),)))
    instant = engine.service(table.uri, "compaction", options=DUE)
    assert instant is not None
    (stat,) = read_instant_file(table.uri, instant, "commit")[1]["partitionToWriteStats"]["oslo"]
    assert (stat["prevCommit"], stat["numWrites"]) == (table.times[0], 3)
    assert (stat["numUpdateWrites"], stat["numDeletes"]) == (1, 1)  # deployed writers count copied rows as inserts or not


@CLUSTERS
@pytest.mark.requirements("OCC-027")
def test_a_clustering_leaves_no_markers(engine: Client, new_uri: NewUri) -> None:
    """OCC-027: markers say which files an action may leave behind. Once a clustering has completed it has none."""
    served = run_service(engine, new_uri(), "clustering", "COPY_ON_WRITE")
    assert not [name for name in served.after if name.startswith(f".hoodie/.temp/{served.instant}/")]


STRATEGY, BY_SIZE, BY_NUMBER = "hoodie.compaction.strategy", "LogFileSizeBased", "LogFileNumBased"
SIZE_LEAST, NUMBER_LEAST = "hoodie.compaction.logfile.size.threshold", "hoodie.compaction.logfile.num.threshold"
#: The partitions of the planned file groups in the order of the plan, by strategy and settings. `size` is that of the only log
#: file in oslo, which is the greatest; rio has three, bergen two.
STRATEGIES: Mapping[str, tuple[str, dict[str, str], list[str]]] = {
    "by size": (BY_SIZE, {}, ["oslo", "rio", "bergen"]),
    "from a size on": (BY_SIZE, {SIZE_LEAST: "size"}, ["oslo"]),
    "by number": (BY_NUMBER, {}, ["rio", "bergen", "oslo"]),
    "from two files on": (BY_NUMBER, {NUMBER_LEAST: "2"}, ["rio", "bergen"]),
    "from four files on": (BY_NUMBER, {NUMBER_LEAST: "4"}, []),
}


def planned_partitions(uri: str, instant: str) -> list[str]:
    """Return the partitions of the file groups of a compaction plan, in its order."""
    _, plan = read_instant_file(uri, instant, "compaction.requested")
    return [operation["partitionPath"] for operation in plan["operations"]]


@COMPACTS
@pytest.mark.parametrize("name", STRATEGIES)
@pytest.mark.requirements("CMP-001", "TL-015")
def test_a_strategy_selects_and_orders_the_groups_of_a_compaction(engine: Client, new_uri: NewUri, name: str) -> None:
    """CMP-001: the strategy of the settings decides which file groups a plan has, and in which order: those with the largest
    log files first, or those with most of them, from the configured size or number on.
    """
    uri = new_uri()
    engine.create(uri, Program("MERGE_ON_READ", "EVENT_TIME_ORDERING", True).spec())
    cities = {"oslo": 1, "rio": 3, "bergen": 2}
    engine.write(uri, "insert", as_arrow([row(f"k-{city}", 1, "x", city) for city in cities]))
    for number in range(3):
        values = {city: "v" * (30_000 if city == "oslo" else 100 + number) for city, logs in cities.items() if number < logs}
        rows = [row(f"k-{city}", 2 + number, value, city) for city, value in values.items()]
        engine.write(uri, "upsert", as_arrow(rows))
    (size,) = (str(path.stat().st_size) for path in table_folder(uri).glob("oslo/.*.log.*") if path.suffix != ".crc")
    strategy, settings, expected = STRATEGIES[name]
    options = {STRATEGY: f"org.apache.hudi.table.action.compact.strategy.{strategy}CompactionStrategy",
               **{key: size if value == "size" else value for key, value in settings.items()}}  # fmt: skip
    instant = engine.service(uri, "compaction", phase="schedule", options={**options, **DUE})
    assert (planned_partitions(uri, instant) if instant is not None else []) == expected
    assert [found["value"][:1] for found in read_snapshot(engine, uri)] == ["v"] * 3


@COMPACTS
@pytest.mark.needs("log.only-slices")
@pytest.mark.parametrize(("budget", "strategy", "expected"), [(100, BY_SIZE, 1), (130, BY_SIZE, 2), (130, "UnBounded", 3)])
@pytest.mark.requirements("CMP-001", "TL-015")
def test_a_compaction_has_a_budget(engine: Client, new_uri: NewUri, budget: int, strategy: str, expected: int) -> None:
    """CMP-001: a plan has the first file groups up to the budget of input and output, and the one that exceeds it; a group
    without a base file counts as 120 megabytes. A strategy without bounds plans all. The reference writes the groups.
    """
    uri = new_uri()
    engine.create(uri, Program("MERGE_ON_READ", "EVENT_TIME_ORDERING", True).spec())
    buckets = {**NON_BLOCKING, **LAZY, "hoodie.bucket.index.num.buckets": "4"}
    open_table(uri, options=buckets).upsert(as_arrow([row(key, 1, "x") for key in "abc"]))
    assert not base_files(uri), "the case is about file groups of log files alone"
    options = {"hoodie.compaction.target.io": str(budget), **DUE,
               STRATEGY: f"org.apache.hudi.table.action.compact.strategy.{strategy}CompactionStrategy"}  # fmt: skip
    instant = engine.service(uri, "compaction", phase="schedule", options=options)
    assert instant is not None
    assert len(planned_partitions(uri, instant)) == expected
    engine.service(uri, "compaction", phase="execute", instant=instant, options=options)
    stats = [stat for found in read_instant_file(uri, instant, "commit")[1]["partitionToWriteStats"].values() for stat in found]
    assert [stat["prevCommit"] for stat in stats] == ["null"] * expected, "there was no base file before"
    assert [found["value"] for found in read_snapshot(engine, uri)] == ["x"] * 3
