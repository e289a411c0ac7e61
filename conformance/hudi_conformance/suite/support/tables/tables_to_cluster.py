"""Tables of many small files, and the clustering plans that an engine makes for them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.programs.write_programs import Program, Row, Step, as_arrow, row
from hudi_conformance.suite.support.tables.tables_under_services import Json, read_instant_file
from hudi_conformance.suite.support.tables.written_tables import base_files
from hudi_reference import open_table
from hudi_reference.timeline.contents.avro_container import schema_of, write_record
from hudi_reference.write.commit import transitions_of

NewUri = Callable[[], str]

PLAN = "hoodie.clustering.plan.strategy."
SORT = f"{PLAN}sort.columns"
#: Larger than any file of these tables, in bytes.
LARGE = 1 << 30
FILES = ("create", "write.bulk-insert", "copy-on-write", "partition.plain", "service.clustering")
PLANS = pytest.mark.needs(*FILES)
STRATEGIES = pytest.mark.needs(*FILES, "clustering.plan-strategies")
LOGS = (*FILES, "write.upsert", "merge-on-read", "merge.event-time")


def planner_settings(**found: Any) -> dict[str, str]:
    """Return settings of the planner by the ends of their names, dots written as underscores."""
    return {PLAN + name.replace("_", "."): str(value) for name, value in found.items()}


def incompressible_text(seed: str, length: int) -> str:
    """Return a text of this length that compression hardly shortens."""
    return "".join(sha256(f"{seed}{n}".encode()).hexdigest() for n in range(length // 64 + 1))[:length]


@dataclass(frozen=True)
class Group:
    """A clustering group: the ids of the file groups of one partition, and the number of output file groups."""

    partition: str
    files: frozenset[str]
    outputs: int


@dataclass(frozen=True)
class Planned:
    """A plan: its requested time, its record, and its groups in order."""

    instant: str
    record: Json
    groups: tuple[Group, ...]

    @property
    def plan(self) -> Json:
        """The plan inside the record."""
        found: Json = self.record["clusteringPlan"]
        return found

    @property
    def files(self) -> list[str]:
        """The ids of all file groups, repeated if a plan names one several times."""
        return sorted(file for group in self.groups for file in group.files)

    @property
    def group_set(self) -> set[frozenset[str]]:
        """The groups without their order."""
        return {group.files for group in self.groups}


class SmallFiles:
    """A table to which an engine adds one file group after another."""

    def __init__(self, engine: Client, uri: str, type: Literal["COPY_ON_WRITE", "MERGE_ON_READ"] = "COPY_ON_WRITE") -> None:
        self.engine, self.uri = engine, uri
        program = Program(type, "EVENT_TIME_ORDERING", True)
        engine.create(uri, program.spec())
        self.model = program.model()

    def add_group(self, *rows: Row) -> str:
        """Add a file group with these rows, all of one partition; return its id."""
        before = {path.name for path in base_files(self.uri)}
        instant = self.engine.write(self.uri, "bulk_insert", as_arrow(rows))
        self.model.apply("insert", rows, instant)
        (made,) = (path.name for path in base_files(self.uri) if path.name not in before)
        return made.split("_")[0]

    def add_groups_of_sizes(self, *sizes: int, city: str = "oslo") -> list[str]:
        """Add file groups of one row each, with texts of these sizes."""
        return [
            self.add_group(row(f"{city}{n}", 1, incompressible_text(f"{city}{n}", size), city)) for n, size in enumerate(sizes)
        ]

    def add_groups_of_ranges(self, *ranges: tuple[int, int]) -> list[str]:
        """Add file groups of two rows each, with these bounds of the column `ts`."""
        return [self.add_group(*(row(f"{n}{end}", ts, "x") for end, ts in enumerate(ends))) for n, ends in enumerate(ranges)]

    def update(self, *rows: Row) -> None:
        """Upsert the rows."""
        step = Step("upsert", rows)
        self.model.apply("upsert", rows, self.engine.write(self.uri, step.operation, as_arrow(rows)))

    @property
    def sizes(self) -> dict[str, int]:
        """The size of the base file of each file group, in bytes."""
        return {path.name.split("_")[0]: path.stat().st_size for path in base_files(self.uri)}

    def size(self, files: Iterable[str]) -> int:
        """Return the size of the base files of these groups, in bytes."""
        return sum(self.sizes[file] for file in files)

    def try_plan(self, options: Mapping[str, str] | None = None) -> Planned | None:
        """Return the plan that the engine publishes with these settings; None if it finds nothing to do."""
        instant = self.engine.service(self.uri, "clustering", phase="schedule", options=options or {})
        if instant is None:
            return None
        _, record = read_instant_file(self.uri, instant, "clustering.requested")
        return Planned(instant, record, tuple(map(_group, record["clusteringPlan"]["inputGroups"] or ())))

    def plan(self, options: Mapping[str, str] | None = None) -> Planned:
        """Return the same; a plan must be due."""
        found = self.try_plan(options)
        assert found is not None, "nothing was planned"
        return found

    def execute(self, instant: str, options: Mapping[str, str] | None = None) -> None:
        """Execute that plan."""
        self.engine.service(self.uri, "clustering", phase="execute", instant=instant, options=options or {})


def _group(record: Json) -> Group:
    (partition,) = {slice_["partitionPath"] for slice_ in record["slices"]}
    ids = [slice_["fileId"] for slice_ in record["slices"]]
    assert len(ids) == len(set(ids)), "a file group is named twice"
    return Group(partition, frozenset(ids), record["numOutputFileGroups"])


def plan_clustering(uri: str, partition: str, base_file: Path, logs: Sequence[Path] = ()) -> None:
    """Request a clustering of one file group."""
    slice_ = {
        "dataFilePath": f"file:{base_file}",
        "deltaFilePaths": [f"file:{path}" for path in logs],
        "fileId": base_file.name.split("_")[0],
        "partitionPath": partition,
        "bootstrapFilePath": "",
        "version": 1,
    }
    group = {"slices": [slice_], "metrics": {}, "numOutputFileGroups": 1, "extraMetadata": {}, "version": 1}
    plan: Json = {
        "inputGroups": [group],
        "strategy": None,
        "extraMetadata": {},
        "version": 1,
        "preserveHoodieMetadata": True,
        "missingSchedulePartitions": [],
    }
    record = {"operationType": "CLUSTER", "clusteringPlan": plan, "extraMetadata": {}, "version": 1}
    schema = schema_of("HoodieRequestedReplaceMetadata")
    transitions_of(open_table(uri)).request("clustering", write_record(schema, record, bytes(16)))
