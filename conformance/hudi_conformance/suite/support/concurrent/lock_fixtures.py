"""Lock providers as tests need them: where each keeps its lock, what a thief does there, how its lease comes to an end."""

import json
import multiprocessing
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hudi_conformance.suite.support.concurrent.lock_services import Dynamo, Metastore, ZooKeeper
from hudi_reference.clock import Clock, ManualClock, SystemClock
from hudi_reference.locks import PROVIDER_KEY, Lock, lock_for
from hudi_reference.locks.hive import HiveLease
from hudi_reference.locks.settings import library
from hudi_reference.storage import storage_of

#: A quiet moment at which clocks of tests begin, in milliseconds since the epoch.
START = 1_767_225_600_000
#: How long a lease of the tests lasts, in milliseconds; a provider that knows only minutes has this one.
VALIDITY = 60_000
_PREFIX = "hoodie.write.lock."
_CLASS = "org.apache.hudi.client.transaction.lock."


@dataclass(frozen=True)
class Bench:
    """A provider, set up for one table. `uri` is the table's place; `options` are a writer's settings.

    `steal` takes the lock from its holder and gives it to a stranger; `lapse` lets the lease of its holder run out.
    """

    name: str
    uri: str
    options: Mapping[str, str]
    steal: Callable[["Bench"], None] | None = None
    lapse: Callable[["Bench", Any, ManualClock], None] | None = None
    service: Dynamo | Metastore | ZooKeeper | None = None
    table: str = "trips"
    #: Threads and rounds of a race: services over a network are slower.
    race: tuple[int, int] = (4, 12)
    made: list[Any] = field(default_factory=list)

    def lock(self, clock: Clock | None = None, **changes: str) -> Lock:
        """The lock as one more process has it. On a clock of the test nobody really waits: there it looks as often as usual."""
        often = {} if clock is None else {"wait_time_ms_between_retry": "1000", "max_wait_time_ms_between_retry": "16000"}
        options = {**self.options, **{f"{_PREFIX}{name}": value for name, value in {**often, **changes}.items()}}
        made = lock_for(storage_of(self.uri), self.table, options, clock or SystemClock())
        self.made.append(made)
        return made

    def close(self) -> None:
        """End what the locks keep open."""
        for lock in self.made:
            with suppress(AttributeError):
                lock._lease.close()


def provider(name: str, **settings: str) -> dict[str, str]:
    """Settings of a patient writer that looks often."""
    often = {"wait_time_ms": "60000", "wait_time_ms_between_retry": "2", "max_wait_time_ms_between_retry": "20"}
    given = {**often, "client.num_retries": "0", **settings}
    return {PROVIDER_KEY: name if "." in name else f"{_CLASS}{name}", **{f"{_PREFIX}{key}": v for key, v in given.items()}}


def in_process(folder: Path) -> Bench:
    """Threads of one process."""
    return Bench("in-process", folder.as_uri(), provider("InProcessLockProvider"))


def file_system(folder: Path) -> Bench:
    """A file that never expires."""
    return Bench("file-system", folder.as_uri(), provider("FileSystemBasedLockProvider"), steal=_steal_file)


def expiring_file(folder: Path) -> Bench:
    """A file that expires after a minute."""
    options = provider("FileSystemBasedLockProvider", **{"filesystem.expire": "1"})
    return Bench("expiring-file", folder.as_uri(), options, steal=_steal_file, lapse=_wait)


def storage_based(folder: Path) -> Bench:
    """Conditional writes on the table's storage."""
    settings = {"storage.validity.timeout.secs": str(VALIDITY // 1000), "storage.renew.interval.secs": "6"}
    return Bench(
        "storage-based", folder.as_uri(), provider("StorageBasedLockProvider", **settings), steal=_steal_object, lapse=_wait
    )


def dynamodb(folder: Path, service: Dynamo, table: str) -> Bench:
    """An item of a table in DynamoDB."""
    settings = {"dynamodb.endpoint_url": service.endpoint, "wait_time_ms": str(VALIDITY)}
    options = provider("org.apache.hudi.aws.transaction.lock.DynamoDBBasedLockProvider", **settings)
    return Bench("dynamodb", folder.as_uri(), options, _steal_item, _wait_and_see, service, table, race=(3, 3))


def zookeeper(folder: Path, service: ZooKeeper, table: str) -> Bench:
    """Nodes of ZooKeeper."""
    settings = {"zookeeper.url": service.hosts, "zookeeper.base_path": "/hudi/locks", "zookeeper.session_timeout_ms": "4000"}
    options = provider("ZookeeperBasedLockProvider", **settings)
    return Bench("zookeeper", folder.as_uri(), options, _steal_node, _end_session, service, table, race=(3, 6))


def hive(folder: Path, service: Metastore, table: str) -> Bench:
    """A lock on a table that the metastore need not know."""
    names = {"hivemetastore.uris": service.uri, "hivemetastore.database": "default", "hivemetastore.table": table}
    options = provider("org.apache.hudi.hive.transaction.lock.HiveMetastoreBasedLockProvider", **names)
    return Bench("hive", folder.as_uri(), options, _steal_from_metastore, _time_out, service, table, race=(2, 4))


def _steal_file(bench: Bench) -> None:
    """A deployed writer: it deletes whatever lock file there is, and makes one of its own that says nothing."""
    file = Path(bench.uri.removeprefix("file://")) / ".hoodie" / "lock"
    file.unlink()
    file.touch()


def _steal_object(bench: Bench) -> None:
    file = Path(bench.uri.removeprefix("file://")) / ".hoodie" / ".locks" / "table_lock.json"
    state = json.loads(file.read_bytes())
    file.write_text(json.dumps(state | {"owner": "a thief", "validUntil": state["validUntil"] + VALIDITY}), "utf-8")


def _steal_item(bench: Bench) -> None:
    import boto3

    item = {"key": bench.table, "ownerName": "a thief", "leaseDuration": str(VALIDITY), "recordVersionNumber": "stolen"}
    client = boto3.client("dynamodb", endpoint_url=bench.options[f"{_PREFIX}dynamodb.endpoint_url"], region_name="us-east-1")
    client.put_item(TableName="hudi_locks", Item={name: {"S": text} for name, text in item.items()})


def _steal_node(bench: Bench) -> None:
    """Somebody deletes the node of the holder and stays in the queue himself."""
    from kazoo.client import KazooClient

    path = f"/hudi/locks/{bench.table}"
    client = KazooClient(bench.options[f"{_PREFIX}zookeeper.url"])
    client.start()
    (held,) = client.get_children(path)
    client.create(f"{path}/{'0' * 32}-lock-", sequence=True)
    client.delete(f"{path}/{held}")
    client.stop()
    client.close()


def _wait(bench: Bench, lock: Lock, clock: ManualClock) -> None:
    clock.sleep(VALIDITY + 1_000)


def _wait_and_see(bench: Bench, lock: Lock, clock: ManualClock) -> None:
    """Nobody looks at another one's clock here: whoever waits has to see for himself that nothing moves."""


def _end_session(bench: Bench, lock: Any, clock: ManualClock) -> None:
    """The service ends the session, as it does when it hears nothing of it."""
    from kazoo.client import KazooClient

    twin = KazooClient(bench.options[f"{_PREFIX}zookeeper.url"], client_id=lock._lease._client.client_id)
    twin.start()
    twin.stop()
    twin.close()


def _time_out(bench: Bench, lock: Any, clock: ManualClock) -> None:
    """The metastore gives up the lock, as it does when it hears nothing of its holder."""
    types = library("pymetastore.hive_metastore.ttypes")
    outsider = _outsider(bench)
    outsider._connected().unlock(types.UnlockRequest(lockid=lock._lease._number))
    outsider.close()


def _steal_from_metastore(bench: Bench) -> None:
    """Somebody ends the lock by its number, and takes it."""
    types = library("pymetastore.hive_metastore.ttypes")
    outsider = _outsider(bench)
    client = outsider._connected()
    (held,) = [one for one in client.show_locks(types.ShowLocksRequest()).locks if one.tablename == bench.table]
    client.unlock(types.UnlockRequest(lockid=held.lockid))
    assert outsider.take()
    outsider.close()


def _outsider(bench: Bench) -> HiveLease:
    return HiveLease(bench.options[f"{_PREFIX}hivemetastore.uris"], "default", bench.table, "an outsider")


# Races of processes.


def race(bench: Bench, folder: Path, processes: int, rounds: int) -> list[str]:
    """Processes that take the lock in a loop; what each of them says at its end: how often it was inside, and with others."""
    keys = {name: value for name, value in os.environ.items() if name.startswith("AWS_")}
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    told = (bench.uri, bench.table, dict(bench.options), keys, str(folder), rounds)
    running = [context.Process(target=enter, args=(*told, n), daemon=True) for n in range(processes)]
    for process in running:
        process.start()
    for process in running:
        process.join(120)
    said = [folder / f"said-{n}" for n in range(processes)]
    return [file.read_text("utf-8") if file.exists() else "nothing" for file in said]


def enter(uri: str, table: str, options: dict[str, str], keys: dict[str, str], folder: str, rounds: int, number: int) -> None:
    """One of the processes. A folder that all of them make and remove shows whether two are inside at once."""
    os.environ.update(keys)
    lock = lock_for(storage_of(uri), table, options, SystemClock())
    inside, met = Path(folder) / "inside", 0
    for turn in range(rounds):
        lock.acquire(f"turn {turn}")
        try:
            inside.mkdir()
        except FileExistsError:
            met += 1
        time.sleep(0.002)
        lock.check(f"turn {turn}")
        with suppress(FileNotFoundError):
            inside.rmdir()
        lock.release(f"turn {turn}")
    (Path(folder) / f"said-{number}").write_text(f"{rounds} times inside, {met} times not alone", "utf-8")
