"""Programs of writes and of plans that do not fit the table, judged by the history of its rows.

A program writes, archives and makes savepoints. In between it puts plans of services into the table: made for an earlier state
of it, or for a state in which nothing was pending, whole or changed. Each of them is executed, and withdrawn if it is refused.
The rows must then be those from before, or after a rollback or restore those after the write that completed last, and every
completed write can still be read as of its time, or is refused.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random

import pyarrow as pa
from tools.damage.tables import stored
from tools.fuzz.targets.plans import INDEXES, SCHEMA, START, vary_plan

from hudi_reference import WritableTable, create_table, delete_savepoint, index, open_table, savepoint
from hudi_reference.clock import ManualClock
from hudi_reference.errors import HudiError
from hudi_reference.ids import SeededIds
from hudi_reference.services.archive.archive import archive
from hudi_reference.services.clean.clean import execute_clean, schedule_clean
from hudi_reference.services.clustering.clustering import execute_clustering
from hudi_reference.services.clustering.plan import schedule_clustering
from hudi_reference.services.compaction.compaction import execute_compaction, schedule_compaction
from hudi_reference.services.compaction.log_compaction import execute_log_compaction, schedule_log_compaction
from hudi_reference.services.indexing.indexing import schedule_indexing
from hudi_reference.services.rollback.restore import execute_restore, schedule_restore
from hudi_reference.services.rollback.rollback import execute_rollback, schedule_rollback
from hudi_reference.services.withdrawal import withdraw_plan
from hudi_reference.storage import MemoryStorage
from hudi_reference.timeline.active import completion_order

_HOUR = 3_600_000
_ARCHIVE = {"hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3", "hoodie.clean.commits.retained": "1"}
_BUCKETS = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "2"}
_BLOOM_FILTERS = {"hoodie.metadata.enable": "true", "hoodie.metadata.index.bloom.filter.enable": "true"}
_CLEANS = (
    {"hoodie.clean.commits.retained": "1"},
    {"hoodie.clean.commits.retained": "3"},
    {"hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS", "hoodie.clean.fileversions.retained": "1"},
)
_PARTITIONS = (("x", "y"), ("x",), ("a=b", "%41"), ("é", " "), ("X", "x"))

#: How a plan of each service is published.
SCHEDULE: Mapping[str, Callable[[WritableTable, Random], str | None]] = {
    "clean": lambda table, random: schedule_clean(table, random.choice(_CLEANS)),
    "rollback": lambda table, random: schedule_rollback(table, random.choice(table.timeline.writes[-2:]).requested),
    "restore": lambda table, random: schedule_restore(table, random.choice(table.timeline.commits).requested),
    "compaction": lambda table, _: schedule_compaction(table),
    "logcompaction": lambda table, _: schedule_log_compaction(table),
    "clustering": lambda table, _: schedule_clustering(table, {"hoodie.clustering.inline.max.commits": "1"}),
    "indexing": lambda table, _: schedule_indexing(table, _BLOOM_FILTERS),
}
#: How the plan with a requested time is executed.
EXECUTE: Mapping[str, Callable[[WritableTable, str], object]] = {
    "clean": execute_clean,
    "rollback": execute_rollback,
    "restore": execute_restore,
    "compaction": execute_compaction,
    "logcompaction": execute_log_compaction,
    "clustering": execute_clustering,
    "indexing": lambda table, _: index(table),
}
_Rows = Counter[str]


@dataclass
class PlanProgram:
    """One program; `broken` says what must not happen, "" if nothing did."""

    seed: str
    storage: MemoryStorage = field(default_factory=MemoryStorage)
    #: The rows after each write by its requested time, and those of now.
    states: dict[str, _Rows] = field(default_factory=dict)
    rows: _Rows = field(default_factory=Counter)
    #: The objects of the table before each step.
    earlier: list[dict[str, bytes]] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    executed: int = 0
    broken: str = ""

    def __post_init__(self) -> None:
        self.random, self.opened = Random(self.seed), 0
        self.partitions = self.random.choice(_PARTITIONS)
        self.options = self.random.choice([{"hoodie.metadata.enable": "false"}, dict(INDEXES)])
        if self.random.random() < 0.2:
            self.options |= _BUCKETS

    def run(self) -> None:
        """Run all steps, up to the first after which something is broken."""
        random = self.random
        create_table(
            "memory:table", name="t", schema=SCHEMA, record_key=("id",), partition=("p",), storage=self.storage,
            table_type=random.choice(["COPY_ON_WRITE", "MERGE_ON_READ", "MERGE_ON_READ"]), version=random.choice([8, 9]),
            clock=ManualClock(START), ids=SeededIds(0), options=self.options,
        )  # fmt: skip
        for _ in range(random.randint(10, 30)):
            step = random.choices([self.write, self.archive_or_protect, self.plan, self.execute], [3, 1, 4, 4])[0]
            try:
                step()
            except HudiError as error:
                self.steps.append(f"{step.__name__} refused: {error.message}")
            if self.broken:
                return

    def table(self, storage: MemoryStorage | None = None) -> WritableTable:
        """The table, an hour later than the last time; of another storage for a plan of another state."""
        self.opened += 1
        clock, ids = ManualClock(START + self.opened * _HOUR), SeededIds(self.opened)
        return open_table("memory:table", storage=storage or self.storage, clock=clock, ids=ids, options=self.options)

    def write(self) -> None:
        """Write some rows, or delete some or all of a partition."""
        self.earlier = [*self.earlier[-3:], self.objects]
        table, partition = self.table(), self.random.choice(self.partitions)
        keys = self.random.sample("abcde", self.random.randint(1, 3))
        rows = pa.table({"id": keys, "v": [str(self.opened)] * len(keys), "p": [partition] * len(keys)})
        kind = self.random.choice(["upsert"] * 5 + ["insert", "insert_overwrite", "delete", "delete_partitions"])
        argument = [partition] if kind == "delete_partitions" else rows.select(["id", "p"]) if kind == "delete" else rows
        written = getattr(table, kind)(argument)
        self.rows = self.states[written] = _rows_of(self.table())
        self.steps.append(f"{kind} {written}")

    def archive_or_protect(self) -> None:
        """Archive, or make or delete a savepoint."""
        table = self.table()
        commits, savepoints = table.timeline.commits, [one for one in table.timeline.instants if one.action == "savepoint"]
        if not commits or self.random.random() < 0.4:
            archive(table, _ARCHIVE)
        elif savepoints and self.random.random() < 0.5:
            delete_savepoint(table, savepoints[-1].requested)
        else:
            savepoint(table, self.random.choice(commits).requested)
        self.judge("archive or savepoint")

    def plan(self) -> None:
        """Put a plan of a service into the table that was made for another state of it, and may have been changed."""
        random, action = self.random, self.random.choice(list(SCHEDULE))
        objects = random.choice([*self.earlier, self.objects, self.objects, self.objects])
        state = stored(
            {path: data for path, data in objects.items() if random.random() < 0.3 or not _is_pending(path, objects)}
        )
        table = self.table(state)
        requested = SCHEDULE[action](table, random) if table.timeline.commits else None
        path = f".hoodie/timeline/{requested}.{action}.requested"
        if requested is None or self.storage.head(path) is not None:
            return
        data = state.get(path)
        if random.random() < 0.3:
            data = vary_plan(path, data, objects, random)
        self.storage.create(path, data)
        if random.random() < 0.15:
            self.storage.create(f".hoodie/timeline/{requested}.{action}.inflight", b"")
        self.steps.append(f"planned {action} {requested}")
        try:
            _rows_of(self.table())
        except HudiError:  # a reader reports the plan, and it is taken out again
            for info in self.storage.list(f".hoodie/timeline/{requested}.{action}."):
                self.storage.delete(info.path)

    def execute(self) -> None:
        """Execute one of the pending plans; withdraw it if it is refused."""
        pending = [one for one in self.table().timeline.pending if one.action in EXECUTE]
        if not pending:
            return
        one = self.random.choice(pending)
        self.executed += 1
        try:
            EXECUTE[one.action](self.table(), one.requested)
            outcome = "executed"
        except HudiError as error:
            outcome = f"refused: {error.message}"
        self.steps.append(f"{one.action} {one.requested} {outcome}")
        goes_back = one.action in ("rollback", "restore")
        self.judge(self.steps[-1], goes_back=goes_back)
        if outcome != "executed" and not self.broken:
            with suppress(HudiError):
                withdraw_plan(self.table(), one.requested)
            self.judge(f"withdrawn {one.action}", goes_back=goes_back)

    def judge(self, what: str, *, goes_back: bool = False) -> None:
        """Compare the rows with those from before, or with those of the last write that is left."""
        table = self.table()
        known = [one for one in table.timeline.commits if one.requested in self.states]
        if goes_back:
            last = max(known, key=completion_order, default=None)
            self.rows = Counter() if last is None else self.states[last.requested]
        try:
            found = _rows_of(table)
        except HudiError as error:
            self.broken = f"{what}: the table cannot be read: {error.message} ({error.path})"
            return
        if found != self.rows:
            self.broken = f"{what}: rows {dict(found)} in the place of {dict(self.rows)}"
        for write in known:
            with suppress(HudiError):  # a time whose files were cleaned
                if _rows_of(table, write.requested) != self.states[write.requested]:
                    self.broken = self.broken or f"{what}: other rows as of {write.requested}"

    @property
    def objects(self) -> dict[str, bytes]:
        """All objects of the table."""
        return {info.path: self.storage.get(info.path) for info in self.storage.list()}


def plan_programs(count: int, seed: int) -> Iterator[PlanProgram]:
    """Run this many programs."""
    for number in range(count):
        program = PlanProgram(f"{seed}:{number}")
        try:
            program.run()
        except Exception as error:
            program.broken = f"untyped {type(error).__name__}: {error}"[:300]
        yield program


def _rows_of(table: WritableTable, time: str | None = None) -> _Rows:
    names = ["id", "v", "p"]
    return Counter(map(repr, (table.snapshot(names) if time is None else table.as_of(time, names)).to_pylist()))


def _is_pending(path: str, objects: Mapping[str, bytes]) -> bool:
    """Whether a file belongs to a plan of a service that is not completed."""
    found = re.fullmatch(rf"\.hoodie/timeline/(\d+)\.({'|'.join(SCHEDULE)})\.(requested|inflight)", path)
    return found is not None and not any(one.startswith(f".hoodie/timeline/{found[1]}_") for one in objects)
