"""Plans that services find in a table: each input is the pending plan of one of them.

The table and the clock are the same in every run, so that inputs of an earlier run still name its files.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any

import pyarrow as pa
from tools.damage.tables import stored
from tools.fuzz.structure_aware.avro_container import split_container
from tools.fuzz.targets.oracle import Limits, require
from tools.fuzz.targets.seed_files import golden_contents
from tools.fuzz.targets.target import Target

from hudi_reference import WritableTable, clean, cluster, compact, create_table, log_compact, open_table
from hudi_reference.clock import ManualClock
from hudi_reference.errors import CannotUndo, HudiError
from hudi_reference.ids import SeededIds
from hudi_reference.services.archive.archive import archive
from hudi_reference.services.clean.clean import schedule_clean
from hudi_reference.services.clustering.plan import schedule_clustering
from hudi_reference.services.compaction.compaction import schedule_compaction
from hudi_reference.services.compaction.log_compaction import schedule_log_compaction
from hudi_reference.services.indexing.indexing import index, schedule_indexing
from hudi_reference.services.rollback.failed_writes import roll_back_failed
from hudi_reference.services.rollback.restore import execute_restore, schedule_restore
from hudi_reference.services.rollback.rollback import schedule_rollback
from hudi_reference.services.withdrawal import withdraw_plan
from hudi_reference.storage import MemoryStorage
from hudi_reference.timeline.contents.avro_container import read_record, write_record

SCHEMA = {
    "type": "record",
    "name": "row",
    "fields": [{"name": name, "type": ["null", "string"], "default": None} for name in ("id", "v", "p")],
}
START, LATER = 1_767_225_600_000, 1_767_312_000_000
_KEEP_FOUR = {"hoodie.keep.min.commits": "4", "hoodie.keep.max.commits": "5", "hoodie.clean.commits.retained": "1"}
_RETAIN_ONE = {"hoodie.clean.commits.retained": "1"}
INDEXES = {
    "hoodie.metadata.enable": "true",
    "hoodie.metadata.index.column.stats.enable": "true",
    "hoodie.metadata.record.index.enable": "true",
}
_FURTHER_INDEX = {"hoodie.metadata.enable": "true", "hoodie.metadata.index.bloom.filter.enable": "true"}
_Rows = Counter[str]


@dataclass(frozen=True)
class Service:
    """How a plan of one action is published, by which record it is known, and what executes it at that requested time."""

    record: bytes
    schedule: Callable[[WritableTable], str | None]
    execute: Callable[[WritableTable, str], object]
    #: Whether an execution may bring back the rows of an earlier write.
    goes_back: bool = False


SERVICES: Mapping[str, Service] = {
    "clean": Service(b"HoodieCleanerPlan", lambda t: schedule_clean(t, _RETAIN_ONE), lambda t, _: clean(t)),
    "rollback": Service(
        b"HoodieRollbackPlan", lambda t: schedule_rollback(t, t.timeline.commits[-1].requested),
        lambda t, _: roll_back_failed(t), goes_back=True,
    ),
    "restore": Service(
        b"HoodieRestorePlan", lambda t: schedule_restore(t, t.timeline.commits[-3].requested), execute_restore, goes_back=True,
    ),
    "compaction": Service(b"HoodieCompactionPlan", schedule_compaction, lambda t, _: compact(t)),
    "logcompaction": Service(b"HoodieCompactionPlan", schedule_log_compaction, lambda t, _: log_compact(t)),
    "clustering": Service(b"HoodieRequestedReplaceMetadata", schedule_clustering, lambda t, _: cluster(t)),
    "indexing": Service(b"HoodieIndexPlan", lambda t: schedule_indexing(t, _FURTHER_INDEX), lambda t, _: index(t)),
}  # fmt: skip


@cache
def table_and_states(*, has_indexes: bool = False) -> tuple[Mapping[str, bytes], tuple[_Rows, ...]]:
    """The objects of a table with archived writes, a compacted slice, logs on it, and other file groups; its rows after each
    write. With `has_indexes` it has a metadata table with column statistics and a record index.
    """
    storage, clock = MemoryStorage(), ManualClock(START)
    table = create_table(
        "memory:table", name="t", schema=SCHEMA, record_key=("id",), partition=("p",), table_type="MERGE_ON_READ",
        storage=storage, clock=clock, ids=SeededIds(1), options=INDEXES if has_indexes else None,
    )  # fmt: skip
    states = []
    for write, names, value in (
        (table.upsert, "ab", "1"), (table.upsert, "a", "2"), (table.bulk_insert, "c", "3"), (table.bulk_insert, "d", "4"),
        (None, "", ""), (table.upsert, "ab", "5"), (table.upsert, "ac", "6"), (table.upsert, "b", "7"),
        (table.upsert, "a", "8"),
    ):  # fmt: skip
        if write is None:
            compact(table)
        else:
            write(pa.table({"id": list(names), "v": [value] * len(names), "p": ["x"] * len(names)}))
            states.append(_rows(table))
    archive(table, _KEEP_FOUR)
    return {info.path: storage.get(info.path) for info in storage.list()}, tuple(states)


def opened(storage: MemoryStorage) -> WritableTable:
    """The table in a storage, a day after its last write."""
    return open_table("memory:table", storage=storage, clock=ManualClock(LATER), ids=SeededIds(2))


def _rows(table: WritableTable) -> _Rows:
    return Counter(map(repr, table.snapshot(["id", "v", "p"]).to_pylist()))


@cache
def published(action: str, *, has_indexes: bool = False) -> tuple[str, bytes, Mapping[str, bytes]]:
    """The name of the file of a plan that this table can have, its content, and the objects of the table with it."""
    storage = stored(table_and_states(has_indexes=has_indexes)[0])
    requested = SERVICES[action].schedule(opened(storage))
    path = f".hoodie/timeline/{requested}.{action}.requested"
    return path, storage.get(path), {info.path: storage.get(info.path) for info in storage.list()}


def plan(data: bytes) -> None:
    """The pending plan of the actions whose record it names, or of every action.

    Properties: the rows are those of the table, or after a rollback or restore those of an earlier write; a plan that is
    refused can be withdrawn. Raises HudiError.
    """
    named = [action for action, service in SERVICES.items() if service.record in data]
    for action in named or SERVICES:
        _check(action, data)


def _check(action: str, data: bytes) -> None:
    service, states = SERVICES[action], table_and_states()[1]
    path, _, objects = published(action)
    storage, requested = stored({**objects, path: data}), path.rpartition("/")[2].partition(".")[0]
    try:
        service.execute(opened(storage), requested)
    except HudiError as error:
        require(error.message, "an error without a message")
        try:
            withdraw_plan(opened(storage), requested)
        except CannotUndo:  # dropped, or completed
            pending = {found.requested for found in opened(storage).timeline.pending}
            require(requested not in pending, f"a refused plan of {action} stays")
    allowed = states if service.goes_back else states[-1:]
    require(_rows(opened(storage)) in allowed, f"a plan of {action} changes rows")


def _plans() -> list[bytes]:
    known = [published(action) for action in SERVICES]
    varied = [vary_plan(*plan, Random(f"{plan[0]} {number}")) for plan in known for number in range(20)]
    whole = [data for _, data, _ in known]
    return [*whole, *varied, *golden_contents("timeline/*.requested", longest=1 << 14, most=10)]


def vary_plan(path: str, data: bytes, objects: Iterable[str], random: Random) -> bytes:
    """The plan in that file with texts of the table, whose `objects` these are, in places of others, and with entries of lists
    doubled, removed or exchanged.
    """
    record = read_record(data, path)
    names = [text for stored_path in objects for text in (stored_path, *re.split(r"[/_.]", stored_path))]
    for _ in range(random.randint(1, 3)):
        texts, lists = _places(record)
        if lists and random.random() < 0.5:
            _vary_list(random.choice(lists), random)
        elif texts:
            holder, key = random.choice(texts)
            holder[key] = random.choice([*names, *(other[at] for other, at in texts)])
    return write_record(record.schema, record, bytes(16))


def _places(value: Any) -> tuple[list[tuple[Any, Any]], list[list[Any]]]:
    """Container and key of each text in a record, and its lists."""
    texts, lists = [], [value] if isinstance(value, list) and value else []
    for key, inner in list(value.items() if isinstance(value, dict) else enumerate(value)):
        if isinstance(inner, str):
            texts.append((value, key))
        elif isinstance(inner, dict | list):
            more_texts, more_lists = _places(inner)
            texts, lists = [*texts, *more_texts], [*lists, *more_lists]
    return texts, lists


def _vary_list(found: list[Any], random: Random) -> None:
    chosen = random.choice(found)
    random.choice((lambda: found.append(chosen), lambda: found.remove(chosen), lambda: random.shuffle(found)))()


TARGETS = (
    Target("plan", "a pending plan of each service in a table, executed", plan, _plans, split_container, Limits(20_000)),
)
