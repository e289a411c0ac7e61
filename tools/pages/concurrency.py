"""`docs/concurrency.md`: who may complete beside whom, from the tables in `write.concurrency.conflict_resolution`."""

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

_HEAD = """# Writers and services at once

<!-- Written by python -m tools.pages; its table is in reference/hudi_reference/write/concurrency/conflict_resolution.py -->

A write is based on what had completed when it read the table. It stores its files without any lock. At its end it takes the
lock of the table, reads the timeline anew and looks at everyone who completed meanwhile: their completion times are later than
the greatest one that it knew. File groups that both have touched decide; who is about to complete is the one who gives way. The
check, the completion time and the completed file are one hold of the lock.

```mermaid
sequenceDiagram
    participant W as writer
    participant T as timeline, lock
    participant D as data files
    W->>T: read: what has completed is the snapshot
    opt failed writes are cleaned lazily
        W->>T: first heartbeat
    end
    W->>T: lock, begin time, requested, unlock
    W->>T: inflight
    loop each file
        W->>D: marker, then the file
    end
    W->>T: lock, read: who completed since the snapshot?
    alt nobody touched the same file groups
        W->>T: completion time, completed file, unlock
    else a conflict
        W->>T: unlock; the heart stops, a clean rolls the rest back
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
    Verdict.FIRST: "who completes first stays, the other one aborts",
    Verdict.NON_BLOCKING: f"both complete under `{Mode.NON_BLOCKING}`, else the first",
    Verdict.STREAMING: f"both complete; under `{Mode.OPTIMISTIC}` the write aborts if it began before the plan was there",
}
_DEFAULTS = Concurrency()


def concurrency_page() -> str:
    """The page, with a line end at its end."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield _HEAD
    yield "## Who may complete beside whom\n"
    yield "The row is about to complete, the column has completed since the row's snapshot, and both touched one file group."
    yield "Cleans, savepoints, rollbacks and indexing write to no file group. An overwrite, or the deletion of a partition,"
    yield "touches the file groups that the partition had when it began; those that others begin meanwhile stay, as if they"
    yield "had come later.\n"
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
    yield "| setting | without it | what it does |"
    yield "|---|---|---|"
    for key, default, words in _settings():
        yield f"| `{key}` | {default} | {words} |"
    yield "\nA writer that names no mode checks for conflicts as optimistic ones do, lets compactions be, and rolls nothing"
    yield "back that others have left. It writes no heartbeat, so keep it away from writers that clean up lazily."


def _settings() -> Iterator[tuple[str, str, str]]:
    yield MODE_KEY, "none", ", ".join(f"`{mode}`" for mode in Mode)
    policies = ", ".join(f"`{policy}`" for policy in Policy)
    yield (
        POLICY_KEY,
        f"`{Policy.EAGER}` for a single writer, `{Policy.LAZY}` for several",
        (f"{policies}: before each write whatever is pending, before each clean those whose heart has stopped, or nobody"),
    )
    yield INTERVAL_KEY, str(_DEFAULTS.interval), "milliseconds between two heartbeats"
    yield MISSES_KEY, str(_DEFAULTS.misses), "heartbeats that may be missed before a writer counts as dead"
    yield RETRIES_KEY, str(_DEFAULTS.retries), "how often a write that lost is begun anew, on the new state"
    yield (
        EARLY_KEY,
        "false",
        "markers of living, earlier writers count before a file is stored; the check at the end stays",
    )
    yield SCHEMAS_KEY, "true", "a write aborts if it does not know a column that somebody else has committed meanwhile"
    yield KEYS_KEY, "false", "a write aborts if somebody else has written a record of the same key, in whatever file group"
    yield INDEX_KEY, "none", "`BUCKET`: the file group follows from the key (merge-on-read); writers that do not block need it"
    yield ENGINE_KEY, "`SIMPLE`", "no other one is written"
    yield BUCKETS_KEY, "256", "buckets of a partition"
    yield FIELDS_KEY, "the record key", "fields that the hash is made of"
