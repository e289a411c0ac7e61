"""`docs/concurrency.md`: concurrent actions that conflict, from the tables in `write.concurrency.conflict_resolution`."""

from collections.abc import Iterator

from hudi_reference.write.concurrency.config import (
    BUCKETS_KEY,
    EARLY_KEY,
    ENGINE_KEY,
    FIELDS_KEY,
    INDEX_KEY,
    INTERVAL_KEY,
    KEYS_KEY,
    MISSES_KEY,
    MODE_KEY,
    POLICY_KEY,
    RETRIES_KEY,
    SCHEMAS_KEY,
    Concurrency,
    Mode,
    Policy,
)
from hudi_reference.write.concurrency.conflict_resolution import MATRIX, Verdict, WriteKind

_HEAD = """# Concurrent writers and services

<!-- Written by python -m tools.pages; its table is in reference/hudi_reference/write/concurrency/conflict_resolution.py -->

This page describes how a write is checked for conflicts, which actions conflict, and the settings that change this.

A write is based on the actions that had completed when it read the table. It writes its data files without a lock. Then it
acquires the lock of the table, reads the timeline again, and checks each action whose completion time is later than the latest
one that it had read. If the two conflict, as the table below defines, the write aborts.
The check, the completion time and the completed file happen under one acquisition of the lock.

```mermaid
sequenceDiagram
    participant W as writer
    participant T as timeline, lock
    participant D as data files
    W->>T: read the completed actions: the snapshot
    opt failed writes are cleaned lazily
        W->>T: first heartbeat
    end
    W->>T: lock, requested time, requested file, unlock
    W->>T: inflight file
    loop each file
        W->>D: marker, then the file
    end
    W->>T: lock, read the actions completed since the snapshot
    alt no common file group
        W->>T: completion time, completed file, unlock
    else conflict
        W->>T: unlock; the heartbeat stops; the next clean rolls the write back
    end
```
"""

_TOUCHES = {
    WriteKind.APPENDS: "write, to log files",
    WriteKind.REWRITES: "write, to base files",
    WriteKind.REPLACES: "overwrite, deleted partition",
    WriteKind.JOINS: "log compaction",
    WriteKind.COMPACTS: "compaction",
    WriteKind.CLUSTERS: "clustering",
}
_VERDICTS = {
    Verdict.BOTH: "both complete",
    Verdict.FIRST: "the action that completes first stays, the other one aborts",
    Verdict.NON_BLOCKING: f"both complete under `{Mode.NON_BLOCKING}`, otherwise the first",
    Verdict.STREAMING: f"both complete; under `{Mode.OPTIMISTIC}` the write aborts if it began before the plan was requested",
}
_DEFAULTS = Concurrency()
#: The section about the test with real processes.
_CHAOS = """
## Real processes that are killed

`python -m tools.chaos --seconds 60` runs three writers, a process for services, one that rolls failed writes back,
and a reader on one table, kills each with SIGKILL after a random time, and starts it again. The tables are of
versions 8 and 9, of both types, under two lock providers, in folders and in an object store. At the end a judge reads
the history of all operations: an acknowledged write must not be lost, a row must not be there twice, and each answer
must be a committed state. `.ci/run` does so for 60 seconds, `.ci/nightly` for ten minutes, and also with three
mutants that the judge must find.

An hour by hand (`--seconds 3600 --seed 26113001`, 60 tables, on two cores beside other work): 2,338 kills, 259,661
reads, 1,748 completed and 27,681 aborted writes, 859 services, 3,411 rounds of rollbacks, nothing wrong. Five reads
and one write ended with an error, because an action was archived between the listing of the timeline and the read of
its file; since then a query lists the timeline again.
"""


def concurrency_page() -> str:
    """The page, with a line end at its end."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield _HEAD
    yield "## Which actions conflict\n"
    yield "The row is the action that is about to complete. The column is an action that completed since the snapshot of"
    yield "the row. Both modified the same file group. Clean, savepoint, rollback and indexing modify no file group. An"
    yield "overwrite and a deletion of a partition modify the file groups that the partition had when they began; file groups"
    yield "that other writers create in the meantime are kept.\n"
    reasons = list(dict.fromkeys(cell.because for cell in MATRIX.values()))
    yield f"| | {' | '.join(_TOUCHES[other] for other in WriteKind)} |"
    yield f"|{'---|' * (len(WriteKind) + 1)}"
    for this in WriteKind:
        cells = (MATRIX[this, other] for other in WriteKind)
        yield f"| **{_TOUCHES[this]}** | {' | '.join(f'{c.verdict} ({reasons.index(c.because) + 1})' for c in cells)} |"
    yield ""
    for verdict, words in _VERDICTS.items():
        yield f"* *{verdict}*: {words}."
    yield ""
    for number, reason in enumerate(reasons, 1):
        yield f"{number}. {reason}"
    yield "\n## Settings of a writer\n"
    yield "| setting | default | meaning |"
    yield "|---|---|---|"
    for key, default, words in _settings():
        yield f"| `{key}` | {default} | {words} |"
    yield "\nA writer without a concurrency mode checks for conflicts like an optimistic one, ignores compactions, and does not"
    yield "roll back failed writes of other writers. It sends no heartbeats: do not run it together with writers that clean"
    yield "lazily."
    yield "\nA single writer of Apache Hudi rolls back failed writes before each write (`EAGER`), and fails if a later write"
    yield "has completed: `Found commits after time`. So before the reference or another program writes to a table that such a"
    yield "writer left with a failed write, roll that back: give `hoodie.clean.failed.writes.policy=EAGER`, or run"
    yield "`hudi-conformance service TABLE rollback --instant TIME`. The command also helps afterwards."
    yield from _CHAOS.splitlines()
    yield "\nRead next: [locks.md](locks.md), [explore.md](explore.md)."


def _settings() -> Iterator[tuple[str, str, str]]:
    yield MODE_KEY, "none", ", ".join(f"`{mode}`" for mode in Mode)
    policies = ", ".join(f"`{policy}`" for policy in Policy)
    yield (
        POLICY_KEY,
        f"`{Policy.EAGER}` for a single writer, `{Policy.LAZY}` for several",
        (f"{policies}: roll back all pending writes before each write; those with expired heartbeats before each clean; none"),
    )
    yield INTERVAL_KEY, str(_DEFAULTS.interval), "milliseconds between two heartbeats"
    yield MISSES_KEY, str(_DEFAULTS.misses), "heartbeats that may be missed before a writer is expired"
    yield (
        RETRIES_KEY,
        str(_DEFAULTS.retries),
        "how often a write that aborted on a conflict is retried on the new state",
    )
    yield (
        EARLY_KEY,
        "false",
        "check the markers of active, earlier writers before a data file is written, in addition to the check at the end",
    )
    yield (
        SCHEMAS_KEY,
        "true",
        "a write aborts if a concurrent action has columns that it lacks, or was requested later and lacks its columns",
    )
    yield KEYS_KEY, "false", "a write aborts if another writer has written a record with the same key, in any file group"
    yield (
        INDEX_KEY,
        "none",
        "`BUCKET`: the key determines the file group; required for non-blocking writers. "
        "`RECORD_INDEX`, `GLOBAL_SIMPLE`, `GLOBAL_BLOOM`: keys are unique in the whole table "
        "([data-skipping.md](data-skipping.md#how-writers-find-records))",
    )
    yield ENGINE_KEY, "`SIMPLE`", "`CONSISTENT_HASHING` on merge-on-read tables: ranges of hashes"
    yield BUCKETS_KEY, "256", "number of buckets of a partition"
    yield FIELDS_KEY, "the record key", "fields that are hashed"
