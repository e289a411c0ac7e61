"""The contract's table services, carried out by Hudi's own write client."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hudi_conformance.contract import EngineError, Refused
from hudi_conformance.contract.messages import Phase, Service
from hudi_conformance.engines.apache_hudi.doors import Doors
from hudi_conformance.engines.apache_hudi.tables import properties_of, write_options

#: Whatever is scheduled finds its work due.
SERVICE_OPTIONS: Mapping[str, str] = {
    "hoodie.metadata.enable": "false",
    "hoodie.compact.inline.max.delta.commits": "1",
    "hoodie.log.compaction.blocks.threshold": "1",
    "hoodie.datasource.compaction.async.enable": "false",
}


@contextmanager
def write_client(session: Doors, table: str, options: Mapping[str, str]) -> Iterator[Any]:
    """A client for one table, closed at the end of the block."""
    properties = properties_of(session, table)
    settings = {
        **write_options(properties, "upsert"),
        **SERVICE_OPTIONS,
        "hoodie.datasource.write.table.type": properties["hoodie.table.type"],
        **options,
    }
    schema = properties.get("hoodie.table.create.schema")
    client = session.write_client(table, properties["hoodie.table.name"], schema, settings)
    try:
        yield client
    finally:
        client.close()


@dataclass(frozen=True)
class Order:
    """One request for a service."""

    session: Doors
    table: str
    phase: Phase
    instant: str | None
    options: Mapping[str, str]

    @property
    def target(self) -> str:
        """The instant that the service concerns. Raises EngineError where none is given."""
        if self.instant is None:
            raise EngineError("this service needs an instant")
        return self.instant

    def instants(self) -> dict[tuple[str, str], str]:
        """The active timeline: state by requested time and action."""
        found = self.session.meta_client(self.table).getActiveTimeline().getInstants()
        return {(str(i.requestedTime()), str(i.getAction())): str(i.getState()) for i in found}

    @cached_property
    def none(self) -> Any:
        """Java's empty Option."""
        return self.session.hudi.common.util.Option.empty()


def run(order: Order, service: Service) -> str | None:
    """Carry the service out; the requested time of its action, None where there was nothing to do. Raises Refused."""
    if service not in SERVICES:
        raise Refused(f"service.{service}", "this adapter does not run it")
    with write_client(order.session, order.table, order.options) as client:
        return SERVICES[service](order, client)


def _new(order: Order, action: str, act: Callable[[], Any]) -> str | None:
    """What of that action is there, or in another state, after `act`; the newest one."""
    before = order.instants()
    act()
    after = order.instants().items()
    changed = [key[0] for key, state in after if key[1] == action and before.get(key) != state]
    return max(changed, default=None)


def _clean(order: Order, client: Any) -> str | None:
    if order.phase == "schedule":
        return _scheduled(order, client, "CLEAN")
    return _new(order, "clean", client.clean)


def _scheduled(order: Order, client: Any, kind: str) -> str | None:
    types = order.session.hudi.common.model.TableServiceType
    found = client.scheduleTableService(order.none, getattr(types, kind))
    return str(found.get()) if found.isPresent() else None


def _rollback(order: Order, client: Any) -> str | None:
    """Hudi plans and carries out in one call; a plan that is there is carried out."""
    if order.phase == "schedule":
        raise Refused("service.rollback", "a rollback is not planned apart")
    target = order.target
    if order.phase == "execute":
        utils = order.session.hudi.table.action.rollback.RollbackUtils
        target = str(utils.getRollbackPlan(*_pending(order, "rollback")).getInstantToRollback().getCommitTime())
    found = _new(order, "rollback", lambda: client.rollback(target))
    if found is None:
        raise EngineError(f"nothing was rolled back for {target}")
    return found


def _restore(order: Order, client: Any) -> str | None:
    if order.phase == "schedule":
        raise Refused("service.restore", "a restore is not planned apart")
    target = order.target
    if order.phase == "execute":
        utils = order.session.hudi.table.action.restore.RestoreUtils
        target = str(utils.getRestorePlan(*_pending(order, "restore")).getSavepointToRestoreTimestamp())
    if (target, "savepoint") in order.instants():
        return _new(order, "restore", lambda: client.restoreToSavepoint(target))
    return _new(order, "restore", lambda: client.restoreToInstant(target, False))


def _pending(order: Order, action: str) -> tuple[Any, Any]:
    """Meta client and instant of the plan that is to be carried out."""
    client = order.session.meta_client(order.table)
    for found in client.getActiveTimeline().getInstants():
        if (str(found.requestedTime()), str(found.getAction())) == (order.target, action):
            return client, found
    raise EngineError(f"no {action} was requested at {order.target}")


def _savepoint(order: Order, client: Any) -> str | None:
    if order.options.get("delete") == "true":
        client.deleteSavepoint(order.target)
    else:
        client.savepoint(order.target, "conformance", "")
    return order.target


def _archive(order: Order, client: Any) -> str | None:
    """Archiving is no action of its own: the answer is the newest one that went."""
    before = order.instants()
    client.archive()
    return max((requested for requested, _ in before.keys() - order.instants().keys()), default=None)


def _compaction(order: Order, client: Any) -> str | None:
    found = order.instant if order.phase == "execute" else _requested(client.scheduleCompaction(order.none))
    if found is not None and order.phase != "schedule":
        _execute_compaction(order, client, found)
    return found


def _clustering(order: Order, client: Any) -> str | None:
    found = order.instant if order.phase == "execute" else _requested(client.scheduleClustering(order.none))
    if found is not None and order.phase != "schedule":
        client.cluster(found, True)
    return found


def _log_compaction(order: Order, client: Any) -> str | None:
    found = order.instant if order.phase == "execute" else _requested(client.scheduleLogCompaction(order.none))
    if found is not None and order.phase != "schedule":
        if order.session.version == "1.0.2":
            client.commitLogCompaction(found, client.logCompact(found).getCommitMetadata().get(), order.none)
        else:
            client.logCompact(found, True)
    return found


def _requested(scheduled: Any) -> str | None:
    return str(scheduled.get()) if scheduled.isPresent() else None


def _execute_compaction(order: Order, client: Any, instant: str) -> None:
    """With the settings of a data source 1.0.2 stores the files and leaves the completion to the caller."""
    if order.session.version != "1.0.2":
        client.compact(instant, True)
        return
    done = client.compact(instant)
    if (instant, "compaction") in order.instants():
        client.commitCompaction(instant, done.getCommitMetadata().get(), order.none)


#: By the contract's name.
SERVICES: Mapping[Service, Callable[[Order, Any], str | None]] = {
    "archive": _archive,
    "clean": _clean,
    "clustering": _clustering,
    "compaction": _compaction,
    "log-compaction": _log_compaction,
    "restore": _restore,
    "rollback": _rollback,
    "savepoint": _savepoint,
}
