"""No false finding: random programs of writes and services, some of which crash, leave only sound tables.

A table is validated in the middle of a program, with all plans that are pending then, and long after every heartbeat. `-m long`
runs many more programs.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from random import Random

import pyarrow as pa
import pytest

from hudi_conformance.explorer.crash_points import Crash, CrashingStorage
from hudi_conformance.validator.all_checks import ALL
from hudi_conformance.validator.checks.finding import UNSOUND
from hudi_conformance.validator.stored.table import load_table
from hudi_conformance.validator.validation import validate
from hudi_reference import (
    WritableTable,
    clean,
    cluster,
    compact,
    create_table,
    drop_index,
    index,
    log_compact,
    open_table,
    restore,
    savepoint,
)
from hudi_reference.clock import ManualClock
from hudi_reference.errors import HudiError
from hudi_reference.ids import SeededIds
from hudi_reference.services.archive.archive import archive
from hudi_reference.services.clean.clean import schedule_clean
from hudi_reference.services.clustering.plan import schedule_clustering
from hudi_reference.services.compaction.compaction import schedule_compaction
from hudi_reference.services.compaction.log_compaction import schedule_log_compaction
from hudi_reference.services.indexing.indexing import schedule_indexing
from hudi_reference.services.rollback.failed_writes import roll_back_failed
from hudi_reference.services.rollback.restore import schedule_restore
from hudi_reference.services.rollback.rollback import schedule_rollback
from hudi_reference.storage import MemoryStorage

URI, START, HOUR = "memory:table", 1_767_225_600_000, 3_600_000
SCHEMA = {
    "type": "record", "name": "t",
    "fields": [{"name": n, "type": ["null", k], "default": None} for n, k in {"id": "string", "v": "string", "p": "string", "ts": "long"}.items()],
}  # fmt: skip
INDEXES = ("column.stats", "record.index", "bloom.filter")
BUCKETS = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "3"}
SEVERAL_WRITERS = {
    "hoodie.clean.failed.writes.policy": "LAZY", "hoodie.write.concurrency.mode": "OPTIMISTIC_CONCURRENCY_CONTROL",
}  # fmt: skip
CLUSTER = {"hoodie.clustering.inline.max.commits": "1"}
KEEP_ONE = {"hoodie.clean.commits.retained": "1"}
ARCHIVE = {"hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3", **KEEP_ONE}


def rows(random: Random) -> pa.Table:
    """Some of eight keys, each of which is in one partition."""
    keys = random.sample("abcdefgh", random.randint(1, 4))
    values, paths = [str(random.random()) for _ in keys], ["xyz"[ord(key) % 3] for key in keys]
    return pa.table({"id": keys, "v": values, "p": paths, "ts": pa.array([random.randrange(9) for _ in keys], pa.int64())})


def any_commit(table: WritableTable, random: Random) -> str:
    """The requested time of a completed write."""
    return random.choice(table.timeline.commits).requested


#: The steps of programs, with their weights.
STEPS: Mapping[Callable[[WritableTable, Random], object], float] = {
    lambda table, random: table.upsert(rows(random)): 5,
    lambda table, random: table.insert(rows(random)): 2,
    lambda table, random: table.bulk_insert(rows(random)): 1,
    lambda table, random: table.delete(rows(random).select(["id", "p"])): 1,
    lambda table, random: table.insert_overwrite(rows(random)): 1,
    lambda table, random: table.delete_partitions([random.choice("xyz")]): 0.5,
    lambda table, _: schedule_clean(table, KEEP_ONE): 1,
    lambda table, _: schedule_compaction(table): 1.5,
    lambda table, _: schedule_log_compaction(table): 1,
    lambda table, _: schedule_clustering(table, CLUSTER): 1.2,
    lambda table, _: schedule_indexing(table, {f"hoodie.metadata.index.{INDEXES[0]}.enable": "true", **table.options}): 0.6,
    lambda table, _: schedule_rollback(table, table.timeline.writes[-1].requested): 0.4,
    lambda table, random: schedule_restore(table, any_commit(table, random)): 0.2,
    lambda table, _: clean(table, KEEP_ONE): 1,
    lambda table, _: compact(table): 1,
    lambda table, _: log_compact(table): 0.7,
    lambda table, _: cluster(table, CLUSTER): 0.7,
    lambda table, _: index(table, table.options): 0.5,
    lambda table, random: drop_index(table, random.choice(["column_stats", "bloom_filters", "record_index"])): 0.3,
    lambda table, _: roll_back_failed(table): 0.8,
    lambda table, random: savepoint(table, any_commit(table, random)): 0.5,
    lambda table, _: archive(table, ARCHIVE): 1,
    lambda table, random: restore(table, any_commit(table, random)): 0.2,
}


def options_of(random: Random, type: str) -> dict[str, str]:
    """Settings of writers: metadata table, its indexes, buckets, several writers."""
    options = {"hoodie.metadata.enable": random.choice(["true", "true", "false"])}
    if options["hoodie.metadata.enable"] == "true":
        chosen = [name for name in INDEXES if random.random() < 0.6]
        options |= {f"hoodie.metadata.{'' if name == 'record.index' else 'index.'}{name}.enable": "true" for name in chosen}
    if random.random() < 0.25:
        options |= BUCKETS
        if type == "MERGE_ON_READ" and random.random() < 0.4:
            options["hoodie.index.bucket.engine"] = "CONSISTENT_HASHING"
    return options | (SEVERAL_WRITERS if random.random() < 0.4 else {})


def check_sound(storage: MemoryStorage, now: int, program: list[str]) -> None:
    """`validate --deep` finds no wrong answer and no lost data."""
    for time in (now, START + 10**11):
        found = validate(load_table(URI, storage=storage, clock=ManualClock(time)), ALL)
        assert not found.broken, program
        assert [one for one in found.findings if one.severity in UNSOUND] == [], program


def run_program(seed: int) -> int:
    """Run a random program, and validate the table after some of its steps, and after crashes; how often it was."""
    random, storage, validated = Random(seed), MemoryStorage(), 0
    type, version = random.choice(["COPY_ON_WRITE", "MERGE_ON_READ", "MERGE_ON_READ"]), random.choice([8, 9])
    options, properties = options_of(random, type), {}
    if random.random() < 0.2:
        modes = ["OP_KEY_ONLY", "DATA_BEFORE", "DATA_BEFORE_AFTER"]
        properties = {"hoodie.table.cdc.enabled": "true", "hoodie.table.cdc.supplemental.logging.mode": random.choice(modes)}
    create_table(
        URI, name="t", schema=SCHEMA, record_key=("id",), partition=random.choice([(), ("p",)]), table_type=type,
        ordering=random.choice([("ts",), ()]), version=version, options=options, properties=properties,
        storage=storage, clock=ManualClock(START), ids=SeededIds(0),
    )  # fmt: skip
    program = [f"seed {seed}: {type}, version {version}, {options}, {properties}"]
    for number in range(1, random.randint(5, 17)):
        step, now = random.choices(list(STEPS), list(STEPS.values()))[0], START + number * HOUR
        crashes = random.random() < 0.2
        store = CrashingStorage(storage, random.randrange(25) if crashes else 10**9)
        table = open_table(URI, storage=store, clock=ManualClock(now), ids=SeededIds(number), options=options)
        program.append(f"{step.__code__.co_names[-1]}{', may crash' if crashes else ''}")
        with suppress(Crash, HudiError, IndexError):  # an IndexError: there is no write yet
            step(table, random)
        if crashes or random.random() < 0.4:
            validated += 1
            check_sound(storage, now + 60_000, program)
    return validated


@pytest.mark.parametrize("first", [0, *(pytest.param(n, marks=pytest.mark.long) for n in range(5, 200, 5))])
def test_random_programs_leave_sound_tables(first: int) -> None:
    """RDR-012, MDT-001, SVC-006: neither pending plans nor crashed processes make a table unsound."""
    assert sum(map(run_program, range(first, first + 5))) > 5
