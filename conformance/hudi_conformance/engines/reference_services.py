"""The contract's table services, carried out by the reference."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from hudi_conformance.contract.errors import EngineError, Refused
from hudi_conformance.contract.messages import Phase, Service
from hudi_reference.services.archive import archive
from hudi_reference.services.clean import clean, execute_clean, schedule_clean
from hudi_reference.services.clustering import cluster, execute_clustering
from hudi_reference.services.clustering_plan import schedule_clustering
from hudi_reference.services.compaction import compact, execute_compaction, schedule_compaction
from hudi_reference.services.log_compaction import execute_log_compaction, log_compact, schedule_log_compaction
from hudi_reference.services.restore import execute_restore, restore, schedule_restore
from hudi_reference.services.rollback import execute_rollback, rollback, schedule_rollback
from hudi_reference.services.savepoint import delete_savepoint, savepoint
from hudi_reference.table.table import Table


@dataclass(frozen=True)
class Order:
    """What is asked of a service: see the contract's `service`."""

    phase: Phase
    instant: str | None
    options: Mapping[str, str]

    def of(self, service: Service) -> str:
        """The instant that a service concerns. Raises EngineError where none is given."""
        if self.instant is None:
            raise EngineError(f"{service} needs an instant")
        return self.instant


def run(table: Table, service: Service, order: Order) -> str | None:
    """Carry the service out; the requested time of its action, None where there was nothing to do. Raises Refused."""
    if service not in SERVICES:
        raise Refused(f"service.{service}", "this service is still to come")
    return SERVICES[service](table, order)


def _archive(table: Table, order: Order) -> str | None:
    """Archiving is no action of its own: the answer is the newest one that went."""
    if order.phase != "run":
        raise Refused("service.archive", "archiving has no plan that could be scheduled")
    going = archive(table, order.options).going
    return going[-1].requested if going else None


def _clean(table: Table, order: Order) -> str | None:
    match order.phase:
        case "schedule":
            return schedule_clean(table, order.options)
        case "execute":
            return execute_clean(table, order.of("clean"))
        case _:
            return clean(table, order.options)


def _compaction(table: Table, order: Order) -> str | None:
    match order.phase:
        case "schedule":
            return schedule_compaction(table, order.options)
        case "execute":
            return execute_compaction(table, order.of("compaction"))
        case _:
            return compact(table, order.options)


def _log_compaction(table: Table, order: Order) -> str | None:
    match order.phase:
        case "schedule":
            return schedule_log_compaction(table, order.options)
        case "execute":
            return execute_log_compaction(table, order.of("log-compaction"))
        case _:
            return log_compact(table, order.options)


def _clustering(table: Table, order: Order) -> str | None:
    match order.phase:
        case "schedule":
            return schedule_clustering(table, order.options)
        case "execute":
            return execute_clustering(table, order.of("clustering"))
        case _:
            return cluster(table, order.options)


def _rollback(table: Table, order: Order) -> str | None:
    phases = {"run": rollback, "schedule": schedule_rollback, "execute": execute_rollback}
    return phases[order.phase](table, order.of("rollback"))


def _restore(table: Table, order: Order) -> str | None:
    match order.phase:
        case "schedule":
            return schedule_restore(table, order.of("restore"))
        case "execute":
            return execute_restore(table, order.of("restore"))
        case _:
            return restore(table, order.of("restore"))


def _savepoint(table: Table, order: Order) -> str | None:
    if order.phase != "run":
        raise Refused("service.savepoint", "a savepoint has no plan that could be scheduled")
    act = delete_savepoint if order.options.get("delete") == "true" else savepoint
    return act(table, order.of("savepoint"))


#: By the contract's name.
SERVICES: Mapping[Service, Callable[[Table, Order], str | None]] = {
    "archive": _archive,
    "clean": _clean,
    "clustering": _clustering,
    "compaction": _compaction,
    "log-compaction": _log_compaction,
    "restore": _restore,
    "rollback": _rollback,
    "savepoint": _savepoint,
}
