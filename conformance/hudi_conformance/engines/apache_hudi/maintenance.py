"""The table services of the contract, executed by the write client of Hudi."""

from collections.abc import Callable, Mapping
from typing import Any

from hudi_conformance.contract import EngineError, Refused
from hudi_conformance.contract.messages import Service
from hudi_conformance.engines.apache_hudi import indexes
from hudi_conformance.engines.apache_hudi.jvm.tables import properties_of
from hudi_conformance.engines.apache_hudi.orders import Order, Steps, to_the_end, write_client


def run(order: Order, service: Service) -> str | None:
    """Execute the service; the requested time of its action, None if there was nothing to do. Raises Refused."""
    if service not in SERVICES:
        raise Refused(f"service.{service}", "this adapter does not run it")
    options = {**(indexes.SETTINGS_OF_CLIENT if service == "index" else {}), **order.options}
    with write_client(order.session, order.table, options) as client:
        return SERVICES[service](order, client)


def steps(order: Order, service: Service) -> Steps:
    """Execute the service step by step. Raises Refused."""
    if service not in PAUSABLE:
        raise Refused("pause.service", f"{service} is one call of the write client")
    with write_client(order.session, order.table, order.options) as client:
        return (yield from PAUSABLE[service](order, client))


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
    return _requested(client.scheduleTableService(order.none, getattr(types, kind)))


def _rollback(order: Order, client: Any) -> str | None:
    """Hudi plans and executes in one call; an existing plan is executed."""
    if order.phase == "schedule":
        raise Refused("service.rollback", "a rollback cannot be planned separately")
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
        raise Refused("service.restore", "a restore cannot be planned separately")
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
    """Archive; answers the newest archived instant, because archiving has no instant of its own."""
    before = order.instants()
    client.archive()
    return max((requested for requested, _ in before.keys() - order.instants().keys()), default=None)


def _rollback_by_plan(order: Order, client: Any) -> Steps:
    """Publish the plan, and execute it on the target as it was at that time."""
    hudi, context = order.session.hudi, order.session.engine_context()
    table = client.initTable(hudi.common.model.WriteOperationType.UNKNOWN, order.none)
    found = (i for i in table.getActiveTimeline().getInstants() if str(i.requestedTime()) == order.target)
    target = next(found, None)
    if target is None:
        raise EngineError(f"nothing was begun at {order.target}")
    instant = str(client.createNewInstantTime(True))
    table.scheduleRollback(context, instant, target, False, client.getConfig().shouldRollbackUsingMarkers(), False)
    yield "requested", instant
    table.rollback(context, instant, target, True, False)
    return instant


def _clean_by_plan(order: Order, client: Any) -> Steps:
    """Schedule a clean as Hudi does: make the plan, and publish it later, without holding the lock in between."""
    if order.phase != "schedule":
        raise Refused("pause.service", "a clean can pause only between its plan and its publication")
    hudi, context = order.session.hudi, order.session.engine_context()
    table = client.initTable(hudi.common.model.WriteOperationType.UNKNOWN, order.none)
    instant = str(client.createNewInstantTime(True))
    drawn = (instant,) if order.session.version == "1.0.2" else ()
    planner = hudi.table.action.clean.CleanPlanActionExecutor(context, client.getConfig(), table, *drawn, order.none)
    plan = order.session.hidden(planner, "requestClean", "HoodieEngineContext")(context)
    if plan.getFilePathsToBeDeletedPerPartition().isEmpty():
        return None
    yield "planned", instant
    requested = table.getMetaClient().getInstantGenerator().getCleanRequestedInstant(instant)
    table.getActiveTimeline().saveToCleanRequested(requested, hudi.common.util.Option.of(plan))
    return instant


def _compaction(order: Order, client: Any) -> Steps:
    return _merge_logs(order, client.scheduleCompaction, client.compact, client.commitCompaction)


def _log_compaction(order: Order, client: Any) -> Steps:
    return _merge_logs(order, client.scheduleLogCompaction, client.logCompact, client.commitLogCompaction)


def _merge_logs(order: Order, schedule: Callable[..., Any], execute: Callable[..., Any], commit: Callable[..., Any]) -> Steps:
    """A compaction or log compaction, by the three methods of the write client for it."""
    found = order.instant if order.phase == "execute" else _requested(schedule(order.none))
    if found is not None and order.phase != "schedule":
        done = execute(found) if order.session.version == "1.0.2" else execute(found, False)
        yield "stored", found
        commit(found, _written(order, done), order.none)
    return found


def _clustering(order: Order, client: Any) -> Steps:
    """A clustering. The write client has no public method that only completes it, so a private one is called."""
    found = order.instant if order.phase == "execute" else _requested(client.scheduleClustering(order.none))
    if found is not None and order.phase != "schedule":
        done = client.cluster(found, False)
        yield "stored", found
        table = client.initTable(order.session.hudi.common.model.WriteOperationType.CLUSTER, order.none)
        services = client.getTableServiceClient()
        if order.session.version == "1.0.2":
            order.session.hidden(services, "completeClustering")(_written(order, done), table, found)
        else:
            order.session.hidden(services, "commitClustering")(done, table, found)
    return found


def _migrate(order: Order, _client: Any) -> None:
    """Change the version of the table with Hudi's own check of its keys, and with its metadata table if it has one."""
    has_metadata = bool(properties_of(order.session, order.table).get("hoodie.table.metadata.partitions"))
    options = {
        "hoodie.write.auto.upgrade": "true",
        "hoodie.write.complex.keygen.validation.enable": "true",
        "hoodie.metadata.enable": str(has_metadata).lower(),
        **order.options,
    }
    hudi = order.session.hudi
    version = hudi.common.table.HoodieTableVersion.fromVersionCode(int(options["hoodie.write.table.version"]))
    helper = order.session.upgrade_helper()
    with write_client(order.session, order.table, options) as client:
        change = hudi.table.upgrade.UpgradeDowngrade(
            order.session.meta_client(order.table), client.getConfig(), client.getEngineContext(), helper
        )
        change.run(version, None)


def _written(order: Order, done: Any) -> Any:
    """The metadata with which a service completes; in 1.0.2 only that of its commit."""
    return done.getCommitMetadata().get() if order.session.version == "1.0.2" else done


def _requested(scheduled: Any) -> str | None:
    return str(scheduled.get()) if scheduled.isPresent() else None


def _at_once(steps: Callable[[Order, Any], Steps]) -> Callable[[Order, Any], str | None]:
    return lambda order, client: to_the_end(steps(order, client))


#: The services by their names in the contract.
SERVICES: Mapping[Service, Callable[[Order, Any], str | None]] = {
    "archive": _archive,
    "clean": _clean,
    "clustering": _at_once(_clustering),
    "compaction": _at_once(_compaction),
    "index": indexes.run,
    "log-compaction": _at_once(_log_compaction),
    "migrate": _migrate,
    "restore": _restore,
    "rollback": _rollback,
    "savepoint": _savepoint,
}
#: The services that can pause.
PAUSABLE: Mapping[Service, Callable[[Order, Any], Steps]] = {
    "clean": _clean_by_plan,
    "clustering": _clustering,
    "compaction": _compaction,
    "log-compaction": _log_compaction,
    "rollback": _rollback_by_plan,
}
