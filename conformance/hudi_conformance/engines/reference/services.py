"""The table services of the contract, executed by the reference."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from hudi_conformance.contract.errors import EngineError, Refused
from hudi_conformance.contract.messages import Phase, Service
from hudi_reference.query.table import Table
from hudi_reference.services.archive.archive import archive
from hudi_reference.services.clean.clean import clean, execute_clean, schedule_clean
from hudi_reference.services.clustering.clustering import cluster, execute_clustering
from hudi_reference.services.clustering.plan import schedule_clustering
from hudi_reference.services.compaction.compaction import compact, execute_compaction, schedule_compaction
from hudi_reference.services.compaction.log_compaction import execute_log_compaction, log_compact, schedule_log_compaction
from hudi_reference.services.indexing.indexing import execute_indexing, index, schedule_indexing
from hudi_reference.services.migration.migrate import migrate
from hudi_reference.services.rollback.restore import execute_restore, restore, schedule_restore
from hudi_reference.services.rollback.rollback import execute_rollback, rollback, schedule_rollback
from hudi_reference.services.rollback.savepoint import delete_savepoint, savepoint


@dataclass(frozen=True)
class Order:
    """The arguments of a service: see the operation `service`."""

    phase: Phase
    instant: str | None
    options: Mapping[str, str]

    def of(self, service: Service) -> str:
        """The instant of the service. Raises EngineError if none is given."""
        if self.instant is None:
            raise EngineError(f"{service} needs an instant")
        return self.instant


#: Executes an order on a table; the requested time of the action, None if there was nothing to do.
Act = Callable[[Table, Order], str | None]


def run(table: Table, service: Service, order: Order) -> str | None:
    """Execute a service; the requested time of its action, None if there was nothing to do. Raises Refused."""
    if service not in SERVICES:
        raise Refused(f"service.{service}", "this service is not implemented")
    return SERVICES[service](table, order)


def _archive(table: Table, order: Order) -> str | None:
    """Archive; answers the newest archived instant, because archiving has no instant of its own."""
    if order.phase != "run":
        raise Refused("service.archive", "archiving has no plan to schedule")
    going = archive(table, order.options).instants
    return going[-1].requested if going else None


def _planned(
    service: Service,
    schedule: Callable[[Table, Mapping[str, str]], str | None],
    execute: Callable[[Table, str], str],
    both: Callable[[Table, Mapping[str, str]], str | None],
    *,
    by_settings: bool = False,
) -> Act:
    """Run a service that plans its work itself. The settings of its request may decide more than the plan."""

    def act(table: Table, order: Order) -> str | None:
        table = _with_settings(table, order) if by_settings and order.phase == "execute" else table
        match order.phase:
            case "schedule":
                return schedule(table, order.options)
            case "execute":
                return execute(table, order.of(service))
            case _:
                return both(table, order.options)

    return act


def _rolling_back(service: Service, **phases: Callable[[Table, str], str | None]) -> Act:
    """Run a service that rolls back the given instant, and maintains the indexes that the settings enable."""
    return lambda table, order: phases[order.phase](_with_settings(table, order), order.of(service))


def _with_settings(table: Table, order: Order) -> Table:
    return replace(table, options={**table.options, **order.options})


def _migrate(table: Table, order: Order) -> str | None:
    """Change the version of the table; answers no instant, because a migration has none of its own."""
    if order.phase != "run":
        raise Refused("service.migrate", "a migration has no plan to schedule")
    migrate(table.uri, version=int(order.options["hoodie.write.table.version"]))
    return None


def _savepoint(table: Table, order: Order) -> str | None:
    if order.phase != "run":
        raise Refused("service.savepoint", "a savepoint has no plan to schedule")
    act = delete_savepoint if order.options.get("delete") == "true" else savepoint
    return act(table, order.of("savepoint"))


#: The services by their names in the contract.
SERVICES: Mapping[Service, Act] = {
    "archive": _archive,
    "clean": _planned("clean", schedule_clean, execute_clean, clean),
    "clustering": _planned("clustering", schedule_clustering, execute_clustering, cluster),
    "compaction": _planned("compaction", schedule_compaction, execute_compaction, compact),
    "index": _planned("index", schedule_indexing, execute_indexing, index, by_settings=True),
    "log-compaction": _planned("log-compaction", schedule_log_compaction, execute_log_compaction, log_compact),
    "migrate": _migrate,
    "restore": _rolling_back("restore", schedule=schedule_restore, execute=execute_restore, run=restore),
    "rollback": _rolling_back("rollback", schedule=schedule_rollback, execute=execute_rollback, run=rollback),
    "savepoint": _savepoint,
}
