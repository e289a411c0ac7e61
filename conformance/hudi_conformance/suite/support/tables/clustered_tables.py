"""Tables that an engine writes and clusters, with the model, and the files in their folders."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, Literal

import pyarrow.parquet as pq
import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.programs.write_programs import TYPES, Program, Row, Step, as_arrow, expect_rows, row
from hudi_conformance.suite.support.tables.tables_under_services import Json, instant_files, read_instant_file, read_snapshot
from hudi_conformance.suite.support.tables.written_tables import base_files

NewUri = Callable[[], str]
Type = Literal["COPY_ON_WRITE", "MERGE_ON_READ"]

WRITES = ("create", "write.insert", "write.upsert", "partition.plain", "read.snapshot", "read.projection", "merge.event-time")
CLUSTERS = pytest.mark.needs(*WRITES, "service.clustering")
RELAYS = pytest.mark.needs(*WRITES, "service.clustering", writer=(*WRITES, "service.clustering"))

PLAN = "hoodie.clustering.plan.strategy."
SORT, TARGET, GROUP = f"{PLAN}sort.columns", f"{PLAN}target.file.max.bytes", f"{PLAN}max.bytes.per.group"
LAYOUT = "hoodie.layout.optimize.strategy"
STRATEGY = "hoodie.clustering.updates.strategy"
PACKAGE = "org.apache.hudi.client.clustering.update.strategy."
ALLOW = {STRATEGY: f"{PACKAGE}SparkAllowUpdateStrategy"}
REJECT = {STRATEGY: f"{PACKAGE}SparkRejectUpdateStrategy"}
WITHDRAW = {**ALLOW, "hoodie.clustering.rollback.pending.replacecommit.on.conflict": "true"}
#: Inserts create new file groups, even if there are small ones.
APART = {"hoodie.parquet.small.file.limit": "0", "hoodie.merge.small.file.group.candidates.limit": "0"}
META = ("_hoodie_commit_time", "_hoodie_commit_seqno", "_hoodie_record_key", "_hoodie_partition_path")

#: Several file groups in a partition with overlapping values, nulls among them; then changes of some of the rows.
INSERTS = (
    Step("insert", (row("a", 30, "x"), row("b", 10, "y"), row("c", 20, "x", "rio"))),
    Step("insert", (row("d", 20, "y"), row("e", 5, "x"), {**row("f", 25, ""), "value": None})),
    Step("insert", (row("g", 15, "z"), row("h", 35, "x"), row("i", 1, "y", "rio"))),
)
CHANGES = (Step("upsert", (row("a", 31, "changed"), row("e", 1, "late"), row("c", 40, "gone", "rio", deleted=True))),)


class ClusteredTable:
    """A table that an engine writes and clusters, and its model."""

    def __init__(
        self,
        engine: Client,
        uri: str,
        type: Type = "COPY_ON_WRITE",
        properties: Mapping[str, str] | None = None,
        version: int = 8,
    ) -> None:
        self.engine, self.uri, self.version = engine, uri, version
        program = Program(type, "EVENT_TIME_ORDERING", True, version=version)
        engine.create(uri, replace(program.spec(), properties=properties or {}))
        self.model = program.model()
        self.times: list[str] = []

    def write(self, *steps: Step, options: Mapping[str, str] | None = None) -> "ClusteredTable":
        """Carry out these writes; inserts create new file groups."""
        for step in steps:
            given = {**APART, **(options or {})}
            self.times.append(self.engine.write(self.uri, step.operation, as_arrow(step.rows), options=given))
            self.model.apply(step.operation, step.rows, self.times[-1])
        return self

    def run(self, engine: Client | None = None, *, options: Mapping[str, str] | None = None, **more: Any) -> str | None:
        """Run the service, by another engine if one is given."""
        return (engine or self.engine).service(self.uri, "clustering", options=options or {}, **more)

    def schedule(self, options: Mapping[str, str] | None = None, engine: Client | None = None) -> str:
        """Schedule a clustering; return the requested time of the plan."""
        instant = self.run(engine, options=options, phase="schedule")
        assert instant is not None
        return instant

    def cluster(self, options: Mapping[str, str] | None = None) -> str:
        """Run a clustering; return its requested time."""
        instant = self.run(options=options)
        assert instant is not None
        return instant

    def check_rows(self, when: str, reader: Client | None = None) -> None:
        """Check that a snapshot returns the rows of the model."""
        expect_rows(reader or self.engine, self.uri, self.model.snapshot(), when)

    def rows_with_meta_columns(self) -> list[Json]:
        """Return the rows of a snapshot with their commit times and numbers."""
        return read_snapshot(self.engine, self.uri, (*META, *TYPES))

    def plan(self, instant: str) -> Json:
        """Return the clustering plan in the requested file of that time."""
        name, record = read_instant_file(self.uri, instant, "clustering.requested")
        assert (name, record["operationType"]) == ("HoodieRequestedReplaceMetadata", "CLUSTER")
        found: Json = record["clusteringPlan"]
        return found

    def groups(self, instant: str) -> list[set[str]]:
        """Return the file ids of each group of the plan."""
        return [{found["fileId"] for found in group["slices"]} for group in self.plan(instant)["inputGroups"]]

    def completed_metadata(self, instant: str) -> Json:
        """Return the metadata in the completed file of that requested time."""
        name, record = read_instant_file(self.uri, instant, "replacecommit")
        assert name == "HoodieReplaceCommitMetadata"
        return record

    def is_done(self, instant: str) -> bool:
        """Return whether the clustering of that requested time is completed."""
        return any(name.startswith(f"{instant}_") for name in instant_files(self.uri, "replacecommit"))


def insert_many(number: int, count: int, size: int = 1000) -> Step:
    """Return an insert of this many rows, each with about `size` bytes that compress little; the values of all inserts
    overlap.
    """
    drawn = Random(number)
    rows = (row(f"{number}-{n:04}", drawn.randrange(1_000_000), drawn.randbytes(size // 2).hex()) for n in range(count))
    return Step("insert", tuple(rows))


def files_of_clustering(uri: str, instant: str, partition: str | None = None) -> list[Path]:
    """Return the base files of one clustering, in the order of their first rows' values."""
    found = [path for path in base_files(uri) if f"_{instant}." in path.name]
    return [path for path in found if partition in (None, path.parent.name)]


def rows_in_file_order(path: Path) -> list[Row]:
    """Return the rows of a base file in their order."""
    rows: list[Row] = pq.ParquetFile(path).read().to_pylist()
    return rows


def sort_keys(rows: Iterable[Row], columns: Sequence[str]) -> list[tuple[Any, ...]]:
    """Return the sort keys of rows, with nulls before all values."""
    return [tuple((found[name] is not None, found[name]) for name in columns) for found in rows]
