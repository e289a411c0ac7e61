"""What the explorer explores: tables, and who meets on them.

MEETINGS["two-writers-of-one-group"].scenario("two-writers-of-one-group").explore()
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hudi_conformance.explorer.scenarios.programs import (
    RECOVERY,
    Meeting,
    Program,
    Setting,
    deletes,
    reads,
    recovers,
    row,
    serves,
    writes,
)

# Settings.

A1, B1 = row("a", "a1"), row("b", "b1")
#: Settings under which each service finds something to do at once.
EAGER: Mapping[str, str] = {
    "hoodie.compact.inline.max.delta.commits": "1",
    "hoodie.log.compaction.blocks.threshold": "2",
    "hoodie.clustering.inline.max.commits": "1",
    "hoodie.clean.commits.retained": "1",
    "hoodie.keep.max.commits": "3",
    "hoodie.keep.min.commits": "2",
    "hoodie.archive.automatic": "false",
}
_FIRST = ("upsert", (row("a", "a0"), row("b", "b0")))
_AGAIN, _THIRD = ("upsert", (row("a", "a00"),)), ("upsert", (row("b", "b00"),))
PLAIN = Setting("COPY_ON_WRITE", options=EAGER)
LOGS = Setting("MERGE_ON_READ", (_FIRST, _AGAIN, _THIRD), options=EAGER)
#: Four versions of a file group: something to clean and to archive.
OLD = Setting("COPY_ON_WRITE", (_FIRST, _AGAIN, _THIRD, ("upsert", (row("a", "a000"),))), options=EAGER)
TWO_GROUPS = Setting("COPY_ON_WRITE", (("upsert", (row("a", "a0"), row("b", "b0", "rome"))),), options=EAGER)
OPTIMISTIC = {"hoodie.write.concurrency.mode": "OPTIMISTIC_CONCURRENCY_CONTROL"}
#: The same where a clean leaves one version of each file group.
VERSIONS = replace(OLD, options={**EAGER, "hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS",
                                 "hoodie.clean.fileversions.retained": "1"})  # fmt: skip
#: A compaction that is planned, and nobody has carried it out.
PLANNED = replace(LOGS, before=(*LOGS.before, ("compaction-plan", ())))
#: Slices that a compaction left behind, and new logs.
COMPACTED = replace(LOGS, before=(*LOGS.before, ("compaction", ()), _AGAIN, ("compaction", ()), _THIRD))
#: A merge-on-read table with a metadata table, and something to do for every service.
LISTED = replace(LOGS, options={**EAGER, "hoodie.metadata.enable": "true"})
#: A write that stored its files and died before it completed.
DEAD = replace(PLAIN, dead=(row("b", "b-dead"),))
#: A partition that was overwritten, and what came there since.
REPLACED = replace(OLD, before=(*OLD.before, ("insert_overwrite", (row("c", "c0"),)), ("upsert", (row("c", "c1"),))))
#: Writers that do not block one another, in event-time order: their records meet in one bucket.
EVENTS = Setting(
    "MERGE_ON_READ", (("upsert", (row("a", "a0"), row("b", "b0"))), ("upsert", (row("a", "a1", ts=2),))), ordering=True,
    options={**EAGER, "hoodie.write.concurrency.mode": "NON_BLOCKING_CONCURRENCY_CONTROL",
             "hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "1"},
    promises={"non_blocking": True, "heartbeats": True, "apart": True},
)  # fmt: skip


def apart(setting: Setting) -> Setting:
    """The same where nobody is in a writer's way."""
    return replace(setting, promises={**setting.promises, "apart": True})


# Meetings.

_A, _B = writes("upsert", A1), writes("upsert", B1)
_OVERWRITE = writes("insert_overwrite", row("n", "instead"))
_LATE = writes("upsert", row("a", "late", ts=5), row("b", "late", ts=5))
_NEWER = writes("upsert", row("a", "newer", ts=7))
_OPTIMISTIC = OPTIMISTIC["hoodie.write.concurrency.mode"]
#: What goes on while an index is built, and on which table.
_BESIDE: Mapping[str, tuple[Program, Setting]] = {
    "an-update": (_A, LISTED),
    "an-insert": (writes("upsert", row("c", "c1")), LISTED),
    "a-delete": (writes("delete", row("a", "")), LISTED),
    "a-compaction": (serves("compaction"), LISTED),
    "a-clustering": (serves("clustering"), LISTED),
    "a-clean": (serves("clean"), replace(COMPACTED, options=LISTED.options)),
}
#: A table on which each service finds something to do.
SERVICES_ON: Mapping[str, Setting] = {
    "compaction-plan": LOGS,
    "compaction": LOGS,
    "compaction-execution": PLANNED,
    "log-compaction": LOGS,
    "clustering": PLAIN,
    "clean": OLD,
    "rollback": DEAD,
    "rollback-of-the-newest": OLD,
    "savepoint": OLD,
    "restore": OLD,
    "archive": OLD,
}
_TOLERANT = replace(PLAIN, options={**EAGER, "hoodie.clustering.updates.strategy": "SparkAllowUpdateStrategy"})
#: Plans that were overtaken, so that what they read is in older slices, of which a clean leaves one.
_OVERTAKEN: Mapping[str, Setting] = {
    "joined-logs": replace(LOGS, before=(*LOGS.before, ("log-compaction-plan", ()), ("compaction", ()), _AGAIN)),
    "clustered-groups": replace(_TOLERANT, before=(_FIRST, ("clustering-plan", ()), _AGAIN, _THIRD)),
}
#: Services that are in no writer's way.
_APART = ("compaction-plan", "compaction", "compaction-execution", "log-compaction", "clean", "savepoint", "archive")
#: Services that take back what the writer beside them builds on, in rows that it does not change.
_UNDOES = ("rollback-of-the-newest", "restore")
_PAIRS: Sequence[tuple[str, str, Setting]] = (
    ("compaction-plan", "compaction-plan", LOGS),
    ("compaction", "compaction", LOGS),
    ("compaction-execution", "compaction-execution", PLANNED),
    ("compaction-execution", "compaction-plan", PLANNED),
    ("compaction-execution", "taking-back", PLANNED),
    ("compaction", "log-compaction", LOGS),
    ("log-compaction", "log-compaction", LOGS),
    ("compaction", "clustering", LOGS),
    ("compaction", "clean", COMPACTED),
    ("compaction", "restore", LOGS),
    ("compaction-execution", "restore", PLANNED),
    ("compaction", "archive", LOGS),
    ("compaction", "rollback", LOGS),
    ("clustering", "clustering", PLAIN),
    ("clustering", "clean", OLD),
    ("clustering", "restore", OLD),
    ("clean", "clean", OLD),
    ("clean", "savepoint", OLD),
    ("clean", "restore", OLD),
    ("clean", "archive", OLD),
    ("clean", "rollback-of-the-newest", VERSIONS),
    *(
        (one, "rollback-of-the-newest", SERVICES_ON[one])
        for one in ("compaction", "log-compaction", "clustering", "savepoint", "restore", "archive", "rollback-of-the-newest")
    ),
    ("rollback", "rollback", DEAD),
    ("rollback", "archive", replace(OLD, dead=(row("b", "b-dead"),))),
    ("savepoint", "savepoint", OLD),
    ("savepoint", "restore", OLD),
    ("savepoint", "archive", OLD),
    ("restore", "restore", OLD),
    ("restore", "archive", OLD),
    ("archive", "archive", OLD),
)
MEETINGS: dict[str, Meeting] = {
    "two-writers-of-one-group": Meeting("two upserts of one file group", PLAIN, {"a": _A, "b": _B}, 2),
    "two-writers-of-different-groups": Meeting("two upserts of different file groups", apart(TWO_GROUPS),
        {"a": _A, "b": writes("upsert", row("b", "b1", "rome"))}),
    "two-writers-of-logs": Meeting("two upserts of one file group, as logs", LOGS, {"a": _A, "b": _B}),
    "two-writers-with-other-clocks": Meeting("two upserts; one clock is ten seconds behind", PLAIN,
        {"a": writes("upsert", A1), "late": writes("upsert", B1)}, 2),
    "three-writers": Meeting("two upserts of one file group, and one elsewhere", TWO_GROUPS,
        {"a": _A, "b": writes("upsert", row("a", "a2")), "c": writes("upsert", row("b", "b1", "rome"))}, 0),
    "optimistic-writer-and-lazy-clean": Meeting("an upsert whose heart beats, and a clean that looks for the dead",
        apart(replace(OLD, options={**EAGER, **OPTIMISTIC}, promises={"heartbeats": True})), {"a": _A, "s": serves("clean")}),
    "two-optimistic-writers": Meeting("two upserts under optimistic control, whose hearts beat",
        replace(PLAIN, options={**EAGER, **OPTIMISTIC}, promises={"heartbeats": True}), {"a": _A, "b": _B}),
    "two-optimistic-writers-of-different-groups": Meeting("the same of different file groups",
        apart(replace(TWO_GROUPS, options={**EAGER, **OPTIMISTIC}, promises={"heartbeats": True})),
        {"a": _A, "b": writes("upsert", row("b", "b1", "rome"))}),
    "two-optimistic-writers-who-look-early": Meeting("the same of one file group, who look for each other's markers",
        replace(PLAIN, options={**EAGER, **OPTIMISTIC, "hoodie.write.concurrency.early.conflict.detection.enable": "true"},
                promises={"heartbeats": True}), {"a": _A, "b": _B}),
    **{f"writer-and-{name}": Meeting(f"an upsert beside a {name.replace('-', ' ')}",
       apart(setting) if name in _APART else setting, {"a": _B if name in _UNDOES else _A, "s": serves(name)},
       2 if name == "clustering" else 1)
       for name, setting in SERVICES_ON.items() if name != "rollback"},
    "writer-and-rollback": Meeting("an upsert, and somebody who takes its writer for dead", PLAIN,
        {"a": _A, "s": serves("rollback")}, 2),
    **{f"{one}-and-{other}": Meeting(f"a {one.replace('-', ' ')} beside a {other.replace('-', ' ')}", setting,
        {"s": serves(one), "t": serves(other)}) for one, other, setting in _PAIRS},
    "reader-and-writer": Meeting("two queries beside an upsert", apart(PLAIN), {"q": reads(2), "a": _A}),
    **{f"reader-and-{name}": Meeting(f"a query beside a {name.replace('-', ' ')}", setting, {"q": reads(), "s": serves(name)})
       for name, setting in SERVICES_ON.items()},
    **{f"reader-of-{name}-and-clean": Meeting(f"a query beside a clean, and a plan of {name.replace('-', ' ')} overtaken",
        replace(setting, options={**VERSIONS.options, **setting.options}), {"q": reads(), "s": serves("clean")})
        for name, setting in _OVERTAKEN.items()},
    **{f"{name}-and-overwrite": Meeting(f"a {name.replace('-', ' ')} beside an overwrite of its partition", SERVICES_ON[name],
        {"s": serves(name), "t": _OVERWRITE}) for name in ("compaction", "log-compaction", "clustering", "clean", "restore")},
    "clustering-and-tolerated-writer": Meeting("a clustering beside an upsert that goes on although it is planned", _TOLERANT,
        {"s": serves("clustering"), "a": _A}),
    "clustering-and-tolerated-overwrite": Meeting("the same with an overwrite", _TOLERANT,
        {"s": serves("clustering"), "a": _OVERWRITE}),
    "overwrite-and-overwrite": Meeting("two overwrites of one partition", PLAIN,
        {"a": _OVERWRITE, "b": writes("insert_overwrite", row("m", "other"))}),
    "overwrite-and-rollback-of-the-newest": Meeting("an overwrite beside the rollback of what it has seen", OLD,
        {"a": _OVERWRITE, "s": serves("rollback-of-the-newest")}),
    "overwrite-and-archive": Meeting("an overwrite beside an archive", OLD, {"a": _OVERWRITE, "s": serves("archive")}),
    "writer-and-overwrite": Meeting("an upsert beside an overwrite of its partition", PLAIN, {"a": _A, "b": _OVERWRITE}),
    "writer-of-logs-and-overwrite": Meeting("the same, as logs", LOGS, {"a": _A, "b": _OVERWRITE}),
    "writer-and-deletion": Meeting("an upsert beside the deletion of its partition", PLAIN, {"a": _A, "b": deletes("oslo")}),
    "clean-and-archive-of-what-was-replaced": Meeting("a clean of replaced file groups beside an archive", REPLACED,
        {"s": serves("clean"), "t": serves("archive")}),
    "non-blocking-writers": Meeting("two upserts of one file group that need not block, the newer event second", EVENTS,
        {"a": _LATE, "b": _NEWER}),
    "non-blocking-writers-of-a-new-key": Meeting("the same with a key that is new to both", EVENTS,
        {"a": writes("upsert", row("n", "n5", ts=5)), "b": writes("upsert", row("n", "n7", ts=7))}),
    "non-blocking-writer-and-overwrite": Meeting("an upsert that need not block beside an overwrite of its partition",
        replace(EVENTS, promises={"non_blocking": True, "heartbeats": True}),
        {"a": _LATE, "b": writes("insert_overwrite", row("n", "instead"), hoodie__write__concurrency__mode=_OPTIMISTIC)}),
    **{f"non-blocking-writer-and-{name}": Meeting(f"an upsert that need not block beside a {name.replace('-', ' ')}", EVENTS,
        {"a": _LATE, "s": serves(name)}) for name in ("compaction", "log-compaction")},
    **{f"indexing-beside-{name}": Meeting(f"an index is planned and built beside {name.replace('-', ' ')}", setting,
        {"i": serves("indexing"), "o": program}, quiet=True) for name, (program, setting) in _BESIDE.items()},
    "indexing-dies": Meeting("the build of an index that dies, and a recovery", LISTED,
        {"s": serves("indexing"), RECOVERY: recovers()}, 0, 1),
    "listed-writer-dies": Meeting("an upsert that dies over the metadata table, and a recovery", LISTED,
        {"a": _A, RECOVERY: recovers()}, 0, 1),
    "writer-dies": Meeting("an upsert that dies, and a recovery", OLD, {"a": _A, RECOVERY: recovers()}, 0, 1),
    "insert-dies": Meeting("an insert that is begun anew where it lost, and dies; and a recovery", OLD,
        {"a": writes("insert", row("n", "n"), hoodie__write__num__retries__on__conflict__failures="1"), RECOVERY: recovers()},
        0, 1),
    "overwrite-dies": Meeting("an overwrite that dies, and a recovery", OLD, {"a": _OVERWRITE, RECOVERY: recovers()}, 0, 1),
    **{f"{name}-dies": Meeting(f"a {name.replace('-', ' ')} that dies, and a recovery", setting,
        {"s": serves(name), RECOVERY: recovers()}, 0, 1) for name, setting in SERVICES_ON.items()},
}  # fmt: skip
