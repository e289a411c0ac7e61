"""Table services by name, as programs of the explorer run them, and how each kind of pending action is finished."""

from collections.abc import Callable, Mapping

from hudi_reference import (
    archive,
    clean,
    cluster,
    compact,
    delete_savepoint,
    index,
    log_compact,
    restore,
    rollback,
    savepoint,
)
from hudi_reference.services.clean.clean import execute_clean, schedule_clean
from hudi_reference.services.clustering.plan import schedule_clustering
from hudi_reference.services.compaction.compaction import execute_compaction, schedule_compaction
from hudi_reference.services.compaction.log_compaction import schedule_log_compaction
from hudi_reference.services.indexing.indexing import execute_indexing, schedule_indexing
from hudi_reference.services.planning.plan_execution import pending_of
from hudi_reference.services.rollback.restore import execute_restore
from hudi_reference.services.rollback.rollback import execute_rollback, schedule_rollback
from hudi_reference.tables import WritableTable
from hudi_reference.timeline.instants.states import ACTIONS


def _pending_writes(table: WritableTable) -> list[str]:
    return [i.requested for i in table.timeline.pending if ACTIONS[i.action].writes and not ACTIONS[i.action].planned]


def _roll_back_pending(table: WritableTable) -> object:
    """Roll back every pending write, whatever its heartbeat: what an operator may do."""
    found = reversed(_pending_writes(table))
    return [execute_rollback(table, schedule_rollback(table, requested, failed=True)) for requested in found]


def _roll_back_newest(table: WritableTable) -> object:
    newest = table.timeline.latest
    return None if newest is None else rollback(table, newest.requested)


def _roll_back_attempts(table: WritableTable) -> object:
    """Roll back attempts at plans."""
    return [rollback(table, i.requested) for i in table.timeline.pending if ACTIONS[i.action].reverts]


def _first(table: WritableTable) -> str:
    return table.timeline.commits[0].requested


def _execute_compactions(table: WritableTable) -> object:
    return [execute_compaction(table, pending.requested) for pending in pending_of(table.timeline, "compaction")]


def _restore(table: WritableTable) -> object:
    return restore(table, _first(table))


#: The index that an indexer builds: the record index, in two file groups.
INDEX: Mapping[str, str] = {
    "hoodie.metadata.record.index.enable": "true",
    "hoodie.metadata.record.index.min.filegroup.count": "2",
}


def _execute_indexing(table: WritableTable) -> object:
    return [execute_indexing(table, pending.requested) for pending in pending_of(table.timeline, "indexing")]


#: Services by name.
SERVICES: Mapping[str, Callable[[WritableTable], object]] = {
    "compaction": compact,
    "compaction-plan": schedule_compaction,
    "compaction-execution": _execute_compactions,
    "log-compaction": log_compact,
    "log-compaction-plan": schedule_log_compaction,
    "clustering": cluster,
    "clustering-plan": schedule_clustering,
    "clean": lambda table: clean(table, table.options),
    "clean-plan": lambda table: schedule_clean(table, table.options),
    "rollback": _roll_back_pending,
    "rollback-of-attempt": _roll_back_attempts,
    "rollback-of-latest-write": _roll_back_newest,
    "savepoint": lambda table: savepoint(table, _first(table)),
    "restore": _restore,
    "archive": archive,
    "indexing": lambda table: index(table, INDEX),
    "indexing-plan": lambda table: schedule_indexing(table, INDEX),
    "indexing-execution": _execute_indexing,
}
#: Service -> kind of its activity, where the names differ.
KINDS = {
    "compaction-plan": "compaction",
    "compaction-execution": "compaction",
    "log-compaction": "logcompaction",
    "log-compaction-plan": "logcompaction",
    "clustering-plan": "clustering",
    "clean-plan": "clean",
    "indexing-plan": "indexing",
    "indexing-execution": "indexing",
    "rollback-of-latest-write": "withdrawal",
    "rollback-of-attempt": "compaction",
}


def _finish_log_compaction(table: WritableTable, _: str) -> object:
    return log_compact(table)


def _delete_savepoint(table: WritableTable, instant: str) -> object:
    return delete_savepoint(table, instant)


def _finish_clustering(table: WritableTable, _: str) -> object:
    return cluster(table, {**table.options, "hoodie.clustering.inline.max.commits": "1000"})


#: How a pending action is finished, by action; every other one is rolled back.
FINISHING: Mapping[str, Callable[[WritableTable, str], object]] = {
    "compaction": execute_compaction,
    "logcompaction": _finish_log_compaction,
    "clustering": _finish_clustering,
    "clean": execute_clean,
    "rollback": execute_rollback,
    "restore": execute_restore,
    "savepoint": _delete_savepoint,
    "indexing": lambda table, _: index(table),
}
