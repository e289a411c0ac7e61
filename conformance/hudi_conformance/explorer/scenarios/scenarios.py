"""The scenarios of the explorer: tables, and the programs that run on them at the same time.

SCENARIOS["two-writers-of-one-group"].scenario("two-writers-of-one-group").explore()
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hudi_conformance.explorer.scenarios.definition import RECOVERY, Definition
from hudi_conformance.explorer.scenarios.programs import Program, partition_deleter, reader, recovery, service_runner, writer
from hudi_conformance.explorer.scenarios.setting import Setting, make_row

# Tables.

A1, B1 = make_row("a", "a1"), make_row("b", "b1")
#: Settings under which every service has work at once.
EAGER: Mapping[str, str] = {
    "hoodie.compact.inline.max.delta.commits": "1",
    "hoodie.log.compaction.blocks.threshold": "2",
    "hoodie.clustering.inline.max.commits": "1",
    "hoodie.clean.commits.retained": "1",
    "hoodie.keep.max.commits": "3",
    "hoodie.keep.min.commits": "2",
    "hoodie.archive.automatic": "false",
}
_FIRST = ("upsert", (make_row("a", "a0"), make_row("b", "b0")))
_AGAIN, _THIRD = ("upsert", (make_row("a", "a00"),)), ("upsert", (make_row("b", "b00"),))
PLAIN = Setting("COPY_ON_WRITE", options=EAGER)
LOGS = Setting("MERGE_ON_READ", (_FIRST, _AGAIN, _THIRD), options=EAGER)
#: Four versions of a file group: something to clean and to archive.
OLD = Setting("COPY_ON_WRITE", (_FIRST, _AGAIN, _THIRD, ("upsert", (make_row("a", "a000"),))), options=EAGER)
TWO_GROUPS = Setting("COPY_ON_WRITE", (("upsert", (make_row("a", "a0"), make_row("b", "b0", "rome"))),), options=EAGER)
OPTIMISTIC = {"hoodie.write.concurrency.mode": "OPTIMISTIC_CONCURRENCY_CONTROL"}
#: The same table; a clean retains one version of each file group.
VERSIONS = replace(OLD, options={**EAGER, "hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS",
                                 "hoodie.clean.fileversions.retained": "1"})  # fmt: skip
#: A pending compaction plan.
PLANNED = replace(LOGS, before=(*LOGS.before, ("compaction-plan", ())))
#: Slices that a compaction superseded, and new logs.
COMPACTED = replace(LOGS, before=(*LOGS.before, ("compaction", ()), _AGAIN, ("compaction", ()), _THIRD))
#: A merge-on-read table with a metadata table.
LISTED = replace(LOGS, options={**EAGER, "hoodie.metadata.enable": "true"})
#: A write that stored its files and crashed before it completed.
CRASHED = replace(PLAIN, crashed_write=(make_row("b", "b-crashed"),))
#: A partition that was overwritten, and a later write to it.
REPLACED = replace(OLD, before=(*OLD.before, ("insert_overwrite", (make_row("c", "c0"),)), ("upsert", (make_row("c", "c1"),))))
#: Non-blocking writers in event-time order; their records are in one bucket.
EVENTS = Setting(
    "MERGE_ON_READ", (("upsert", (make_row("a", "a0"), make_row("b", "b0"))), ("upsert", (make_row("a", "a1", ts=2),))),
    ordering=True,
    options={**EAGER, "hoodie.write.concurrency.mode": "NON_BLOCKING_CONCURRENCY_CONTROL",
             "hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "1"},
    promises={"non_blocking": True, "heartbeats": True, "without_conflicts": True},
)  # fmt: skip


def without_conflicts(setting: Setting) -> Setting:
    """The same table with the promise that every writer completes, since nothing conflicts with it."""
    return replace(setting, promises={**setting.promises, "without_conflicts": True})


# Scenarios.

_A, _B = writer("upsert", A1), writer("upsert", B1)
_OVERWRITE = writer("insert_overwrite", make_row("n", "instead"))
_LATE = writer("upsert", make_row("a", "late", ts=5), make_row("b", "late", ts=5))
_NEWER = writer("upsert", make_row("a", "newer", ts=7))
_OPTIMISTIC = OPTIMISTIC["hoodie.write.concurrency.mode"]
#: What runs while an index is built, and on which table.
_BESIDE: Mapping[str, tuple[Program, Setting]] = {
    "an-update": (_A, LISTED),
    "an-insert": (writer("upsert", make_row("c", "c1")), LISTED),
    "a-delete": (writer("delete", make_row("a", "")), LISTED),
    "a-compaction": (service_runner("compaction"), LISTED),
    "a-clustering": (service_runner("clustering"), LISTED),
    "a-clean": (service_runner("clean"), replace(COMPACTED, options=LISTED.options)),
}
#: A table on which each service has work.
SERVICES_ON: Mapping[str, Setting] = {
    "compaction-plan": LOGS,
    "compaction": LOGS,
    "compaction-execution": PLANNED,
    "log-compaction": LOGS,
    "clustering": PLAIN,
    "clean": OLD,
    "rollback": CRASHED,
    "rollback-of-latest-write": OLD,
    "savepoint": OLD,
    "restore": OLD,
    "archive": OLD,
}
_TOLERANT = replace(PLAIN, options={**EAGER, "hoodie.clustering.updates.strategy": "SparkAllowUpdateStrategy"})
#: Tables with a pending plan whose input slices are no longer the latest ones; a clean retains one version.
_OVERTAKEN: Mapping[str, Setting] = {
    "planned-log-compaction": replace(LOGS, before=(*LOGS.before, ("log-compaction-plan", ()), ("compaction", ()), _AGAIN)),
    "planned-clustering": replace(_TOLERANT, before=(_FIRST, ("clustering-plan", ()), _AGAIN, _THIRD)),
}
#: Services that do not conflict with a writer.
_APART = ("compaction-plan", "compaction", "compaction-execution", "log-compaction", "clean", "savepoint", "archive")
#: Services that roll back the write on which the concurrent writer is based, in rows that it does not change.
_ROLLS_BACK = ("rollback-of-latest-write", "restore")
_PAIRS: Sequence[tuple[str, str, Setting]] = (
    ("compaction-plan", "compaction-plan", LOGS),
    ("compaction", "compaction", LOGS),
    ("compaction-execution", "compaction-execution", PLANNED),
    ("compaction-execution", "compaction-plan", PLANNED),
    ("compaction-execution", "rollback-of-attempt", PLANNED),
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
    ("clean", "rollback-of-latest-write", VERSIONS),
    *(
        (one, "rollback-of-latest-write", SERVICES_ON[one])
        for one in ("compaction", "log-compaction", "clustering", "savepoint", "restore", "archive", "rollback-of-latest-write")
    ),
    ("rollback", "rollback", CRASHED),
    ("rollback", "archive", replace(OLD, crashed_write=(make_row("b", "b-crashed"),))),
    ("savepoint", "savepoint", OLD),
    ("savepoint", "restore", OLD),
    ("savepoint", "archive", OLD),
    ("restore", "restore", OLD),
    ("restore", "archive", OLD),
    ("archive", "archive", OLD),
)


def _a(service: str) -> str:
    """The name of a service with its article."""
    return f"{'an' if service[0] in 'aeiou' else 'a'} {service.replace('-', ' ')}"


SCENARIOS: dict[str, Definition] = {
    "two-writers-of-one-group": Definition("two upserts of one file group", PLAIN, {"a": _A, "b": _B}, 2),
    "two-writers-of-different-groups": Definition("two upserts of different file groups", without_conflicts(TWO_GROUPS),
        {"a": _A, "b": writer("upsert", make_row("b", "b1", "rome"))}),
    "two-writers-of-logs": Definition("two upserts of one file group, as logs", LOGS, {"a": _A, "b": _B}),
    "two-writers-with-clock-skew": Definition("two upserts; one clock is ten seconds behind", PLAIN,
        {"a": writer("upsert", A1), "late": writer("upsert", B1)}, 2),
    "three-writers": Definition("two upserts of one file group, and one elsewhere", TWO_GROUPS,
        {"a": _A, "b": writer("upsert", make_row("a", "a2")), "c": writer("upsert", make_row("b", "b1", "rome"))}, 0),
    "optimistic-writer-and-lazy-clean": Definition("an upsert with heartbeats, and a clean that rolls back failed writes",
        without_conflicts(replace(OLD, options={**EAGER, **OPTIMISTIC}, promises={"heartbeats": True})),
        {"a": _A, "s": service_runner("clean")}),
    "two-optimistic-writers": Definition("two upserts under optimistic control, with heartbeats",
        replace(PLAIN, options={**EAGER, **OPTIMISTIC}, promises={"heartbeats": True}), {"a": _A, "b": _B}),
    "two-optimistic-writers-of-different-groups": Definition("the same of different file groups",
        without_conflicts(replace(TWO_GROUPS, options={**EAGER, **OPTIMISTIC}, promises={"heartbeats": True})),
        {"a": _A, "b": writer("upsert", make_row("b", "b1", "rome"))}),
    "two-optimistic-writers-with-early-detection": Definition("the same of one file group, with early conflict detection",
        replace(PLAIN, options={**EAGER, **OPTIMISTIC, "hoodie.write.concurrency.early.conflict.detection.enable": "true"},
                promises={"heartbeats": True}), {"a": _A, "b": _B}),
    **{f"writer-and-{name}": Definition(f"an upsert beside {_a(name)}",
       without_conflicts(setting) if name in _APART else setting,
       {"a": _B if name in _ROLLS_BACK else _A, "s": service_runner(name)},
       2 if name == "clustering" else 1)
       for name, setting in SERVICES_ON.items() if name != "rollback"},
    "writer-and-rollback": Definition("an upsert, and a rollback that takes its writer for failed", PLAIN,
        {"a": _A, "s": service_runner("rollback")}, 2),
    **{f"{one}-and-{other}": Definition(f"{_a(one)} beside {_a(other)}", setting,
        {"s": service_runner(one), "t": service_runner(other)}) for one, other, setting in _PAIRS},
    "reader-and-writer": Definition("two queries beside an upsert", without_conflicts(PLAIN), {"q": reader(2), "a": _A}),
    **{f"reader-and-{name}": Definition(f"a query beside {_a(name)}", setting,
        {"q": reader(), "s": service_runner(name)})
       for name, setting in SERVICES_ON.items()},
    **{f"reader-of-{name}-and-clean": Definition(f"a query beside a clean, with {_a(name)}",
        replace(setting, options={**VERSIONS.options, **setting.options}), {"q": reader(), "s": service_runner("clean")})
        for name, setting in _OVERTAKEN.items()},
    **{f"{name}-and-overwrite": Definition(f"{_a(name)} beside an overwrite of its partition",
        SERVICES_ON[name], {"s": service_runner(name), "t": _OVERWRITE})
        for name in ("compaction", "log-compaction", "clustering", "clean", "restore")},
    "clustering-and-tolerated-writer": Definition("a clustering beside an upsert that ignores its plan",
        _TOLERANT, {"s": service_runner("clustering"), "a": _A}),
    "clustering-and-tolerated-overwrite": Definition("the same with an overwrite", _TOLERANT,
        {"s": service_runner("clustering"), "a": _OVERWRITE}),
    "overwrite-and-overwrite": Definition("two overwrites of one partition", PLAIN,
        {"a": _OVERWRITE, "b": writer("insert_overwrite", make_row("m", "other"))}),
    "overwrite-and-rollback-of-latest-write": Definition(
        "an overwrite beside the rollback of the write that it is based on", OLD,
        {"a": _OVERWRITE, "s": service_runner("rollback-of-latest-write")}),
    "overwrite-and-archive": Definition("an overwrite beside an archive", OLD,
        {"a": _OVERWRITE, "s": service_runner("archive")}),
    "writer-and-overwrite": Definition("an upsert beside an overwrite of its partition", PLAIN, {"a": _A, "b": _OVERWRITE}),
    "writer-of-logs-and-overwrite": Definition("the same, as logs", LOGS, {"a": _A, "b": _OVERWRITE}),
    "writer-and-deletion": Definition("an upsert beside the deletion of its partition", PLAIN,
        {"a": _A, "b": partition_deleter("oslo")}),
    "clean-and-archive-of-replaced-groups": Definition("a clean of replaced file groups beside an archive", REPLACED,
        {"s": service_runner("clean"), "t": service_runner("archive")}),
    "non-blocking-writers": Definition("two upserts of one file group by non-blocking writers, the newer event second", EVENTS,
        {"a": _LATE, "b": _NEWER}),
    "non-blocking-writers-of-a-new-key": Definition("the same with a key that is new to both", EVENTS,
        {"a": writer("upsert", make_row("n", "n5", ts=5)), "b": writer("upsert", make_row("n", "n7", ts=7))}),
    "non-blocking-writer-and-overwrite": Definition("a non-blocking upsert beside an overwrite of its partition",
        replace(EVENTS, promises={"non_blocking": True, "heartbeats": True}),
        {"a": _LATE, "b": writer("insert_overwrite", make_row("n", "instead"), hoodie__write__concurrency__mode=_OPTIMISTIC)}),
    **{f"non-blocking-writer-and-{name}": Definition(f"a non-blocking upsert beside {_a(name)}", EVENTS,
        {"a": _LATE, "s": service_runner(name)}) for name in ("compaction", "log-compaction")},
    **{f"indexing-beside-{name}": Definition(f"an index is planned and built beside {name.replace('-', ' ')}", setting,
        {"i": service_runner("indexing"), "o": program}, without_errors=True) for name, (program, setting) in _BESIDE.items()},
    "indexing-crashes": Definition("an index build that crashes, and a recovery", LISTED,
        {"s": service_runner("indexing"), RECOVERY: recovery()}, 0, 1),
    "listed-writer-crashes": Definition("an upsert on a table with a metadata table that crashes, and a recovery", LISTED,
        {"a": _A, RECOVERY: recovery()}, 0, 1),
    "writer-crashes": Definition("an upsert that crashes, and a recovery", OLD, {"a": _A, RECOVERY: recovery()}, 0, 1),
    "insert-crashes": Definition("an insert that is retried after a conflict and crashes, and a recovery", OLD,
        {"a": writer("insert", make_row("n", "n"), hoodie__write__num__retries__on__conflict__failures="1"),
         RECOVERY: recovery()}, 0, 1),
    "overwrite-crashes": Definition("an overwrite that crashes, and a recovery", OLD,
        {"a": _OVERWRITE, RECOVERY: recovery()}, 0, 1),
    **{f"{name}-crashes": Definition(f"{_a(name)} that crashes, and a recovery", setting,
        {"s": service_runner(name), RECOVERY: recovery()}, 0, 1) for name, setting in SERVICES_ON.items()},
}  # fmt: skip
#: Former parts of names, and what they are today.
_RENAMED = {
    "-dies": "-crashes",
    "rollback-of-the-newest": "rollback-of-latest-write",
    "taking-back": "rollback-of-attempt",
    "joined-logs": "planned-log-compaction",
    "clustered-groups": "planned-clustering",
    "who-look-early": "with-early-detection",
    "of-what-was-replaced": "of-replaced-groups",
    "with-other-clocks": "with-clock-skew",
}


def current_name(name: str) -> str:
    """The name that a scenario has today. Commands and schedule files may use former names."""
    for old, new in _RENAMED.items():
        name = name.replace(old, new)
    return name
