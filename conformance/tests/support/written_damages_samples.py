"""Damages of what writes and services say of other files: each makes one condition of a check in `checks.writes` matter."""

from collections.abc import Callable
from typing import Any

import validated_tables_samples as t
from damages_samples import Damage

from hudi_reference.layout.names import split_path
from hudi_reference.storage import Storage

_ENTRIES, _READ = "statistics.entries", "times.after-what-was-read"
Edit = Callable[[Storage], None]


def _in_last(action: str, change: Callable[[Any], object]) -> Edit:
    """Change the first entry of the last completed write."""
    return lambda storage: t.change_record(storage, t.completed(storage, action), lambda record: change(t.stats_of(record)[0]))


def _complete_late(action: str, number: int) -> Edit:
    """The write completed after all others, by the name of its completed file."""

    def edit(storage: Storage) -> None:
        path = t.completed(storage, action, number)
        t.move(storage, path, f"{path.rpartition('_')[0]}_{_later(storage)}.{action}")

    return edit


def _later(storage: Storage) -> int:
    names = (split_path(path)[1] for path in t.paths(storage, f"{t.TIMELINE}/"))
    return max(int(name[:17]) for name in names if name[:17].isdigit()) + 10**6


def _name_the_log_before(storage: Storage) -> None:
    """The last write names the log file of the write before it as an earlier one of its slice; that write completed later."""
    before = {one["fileId"]: one["logFiles"] for one in _entries_of(storage, "deltacommit", -2)}

    def change(record: Any) -> None:
        for stat in t.stats_of(record):
            stat["logFiles"] = [*before[stat["fileId"]], *stat["logFiles"]]

    t.change_record(storage, t.completed(storage, "deltacommit"), change)
    _complete_late("deltacommit", 1)(storage)


def _entries_of(storage: Storage, action: str, number: int) -> list[Any]:
    found: list[Any] = []
    t.change_record(storage, t.completed(storage, action, number), lambda record: found.extend(t.stats_of(record)))
    return found


def _name_a_log_of_another_group(stat: Any) -> None:
    stat["logFiles"] = [f".{'0' * 36}-0_20200101000000000.log.1_0-0-0", *stat["logFiles"]]


def _name_the_first_base_file(storage: Storage) -> None:
    """The write after a compaction names the base file before it."""
    first = {one["fileId"]: split_path(one["path"])[1] for one in _entries_of(storage, "deltacommit", 0)}
    _in_last("deltacommit", lambda stat: stat.update(baseFile=first[stat["fileId"]]))(storage)


def _capturing() -> Storage:
    return t.changed("COPY_ON_WRITE", **{"hoodie.table.cdc.enabled": "true"})


def _count_more_bytes(stat: Any) -> None:
    stat["cdcStats"] = {path: size - 1 for path, size in stat["cdcStats"].items()}


def _replace_more(storage: Storage) -> None:
    """The clustering says that it replaced a file group that its plan does not have."""
    t.change_record(storage, t.completed(storage, "replacecommit"),
                    lambda record: record["partitionToReplaceFileIds"]["north"].append(f"{'0' * 36}-0"))  # fmt: skip


def _plan_less(storage: Storage) -> None:
    """The plan of a completed compaction lacks one of the file groups of which it stored base files."""
    path = t.paths(storage, ".compaction.requested")[0]
    t.change_record(storage, path, lambda record: record["operations"].pop())


def _plan_another_base_instant(storage: Storage) -> None:
    path = t.paths(storage, ".compaction.requested")[0]
    t.change_record(storage, path, lambda record: record["operations"][0].update(baseInstantTime="20200101000000000"))


def _cluster_another_group(storage: Storage) -> None:
    def change(record: Any) -> None:
        record["clusteringPlan"]["inputGroups"][0]["slices"][0]["fileId"] = f"{'0' * 36}-0"

    t.change_record(storage, t.paths(storage, ".clustering.requested")[0], change)


def overwritten_table() -> Storage:
    """An overwrite of the whole table with rows of one partition."""
    storage = t.copy_on_write()
    t.reopened(storage).insert_overwrite_table(t.rows(2, 6, fare=7))
    return storage


def _keep_the_other_partition(storage: Storage) -> None:
    """The overwrite does not say that it replaced the partition of which it stored no row."""
    t.change_record(storage, t.completed(storage, "replacecommit"),
                    lambda record: record["partitionToReplaceFileIds"].pop("south"))  # fmt: skip


WRITTEN_DAMAGES = (
    Damage("a log file of another group", _ENTRIES, "TL-005", t.merge_on_read,
           _in_last("deltacommit", _name_a_log_of_another_group), severity="cosmetic", says="log files of group"),
    Damage("the base file before the last one", _ENTRIES, "TL-005", t.compacted, _name_the_first_base_file,
           severity="cosmetic", says="baseFile="),
    Damage("no size of a file with rows", _ENTRIES, "TL-005", t.copy_on_write,
           _in_last("commit", lambda stat: stat.update(fileSizeInBytes=0)), severity="cosmetic",
           says="the size of the file in fileSizeInBytes"),
    Damage("another earlier write of a log file", _ENTRIES, "TL-005", t.merge_on_read,
           _in_last("deltacommit", lambda stat: stat.update(prevCommit="20200101000000000")), severity="cosmetic",
           also=("OCC-008",), says="prevCommit=2026"),
    Damage("another size of captured changes", _ENTRIES, "TL-005", _capturing, _in_last("commit", _count_more_bytes),
           severity="cosmetic", says=" bytes of ."),
    Damage("completed after the savepoint of it", _READ, "TT-004", t.cleaned, _complete_late("commit", 0),
           ("TT-005", "TL-021", "TL-041"), says="the savepoint protects it"),
    Damage("completed after the clean that saw it", _READ, "TT-004", t.cleaned, _complete_late("commit", -1),
           ("TT-005", "TL-005"), says="the clean names it as the last write"),
    Damage("completed after the write that names its log file", _READ, "TT-004", t.merge_on_read, _name_the_log_before,
           ("TT-005",), says="the write names its log file as an earlier one"),
    Damage("a clustering that replaced more than its plan", "results.clusterings", "CLU-001", t.clustered, _replace_more,
           ("TL-039", "OCC-016"), severity="data-lost", says="also replaced"),
    Damage("a compaction of more than its plan", "results.compactions", "CMP-001", t.compacted, _plan_less,
           ("CMP-003",), severity="wrong-answers", says="also of"),
    Damage("a planned base file of another instant", "results.plan-entries", "TL-015", lambda: t.with_plan("compaction"),
           _plan_another_base_instant, ("CLN-002", "CMP-003", "ARC-002", "TL-052"), says="the base file of 20200101000000000"),
    Damage("a planned clustering of another group", "results.plan-entries", "TL-012", lambda: t.with_plan("clustering"),
           _cluster_another_group, ("CLN-002", "CLU-003")),
    Damage("a partition that an overwrite of the table kept", "results.replaced-groups", "TL-039", overwritten_table,
           _keep_the_other_partition),
    Damage("planned before its write completed", "traces.closed-plans", "CMP-003", lambda: t.with_plan("compaction"),
           _complete_late("deltacommit", -1), ("TT-005", "TT-004", "TL-052"), severity="wrong-answers",
           says="after the compaction, over later ones"),
)  # fmt: skip
