"""Lock providers for tests: where each stores its lock, how another process takes the lock away, and how its lease expires."""

import json
import multiprocessing
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

from hudi_conformance.suite.support.concurrent.lock_services import Dynamo, Metastore, ZooKeeper
from hudi_reference.clock import Clock, ManualClock, SystemClock
from hudi_reference.locks import PROVIDER_KEY, Lock, lock_for
from hudi_reference.locks.hive import HiveLease
from hudi_reference.locks.settings import library
from hudi_reference.storage import storage_of

#: The time at which clocks of tests begin, in milliseconds since the epoch.
START = 1_767_225_600_000
#: How long a lease of the tests lasts, in milliseconds: a minute, since one provider counts in minutes.
VALIDITY = 60_000
_PREFIX = "hoodie.write.lock."
_CLASS = "org.apache.hudi.client.transaction.lock."


@dataclass(frozen=True)
class LockFixture:
    """A lock provider, set up for one table.

    `uri` is the base path of the table; `options` are a writer's settings. `take_away` takes the lock from its holder and gives
    it to another process, against the protocol; `expire` lets the lease of its holder expire.
    """

    name: str
    uri: str
    options: Mapping[str, str]
    take_away: Callable[["LockFixture"], None] | None = None
    expire: Callable[["LockFixture", Any, ManualClock], None] | None = None
    service: Dynamo | Metastore | ZooKeeper | None = None
    table: str = "trips"
    #: Threads and rounds of a race: services over a network are slower.
    race: tuple[int, int] = (4, 12)
    made: list[Any] = field(default_factory=list)

    def lock(self, clock: Clock | None = None, **changes: str) -> Lock:
        """Return the lock of another process. With a clock of the test waits take no time: there it retries as by default."""
        often = {} if clock is None else {"wait_time_ms_between_retry": "1000", "max_wait_time_ms_between_retry": "16000"}
        options = {**self.options, **{f"{_PREFIX}{name}": value for name, value in {**often, **changes}.items()}}
        made = lock_for(storage_of(self.uri), self.table, options, clock or SystemClock())
        self.made.append(made)
        return made

    def close(self) -> None:
        """Close the connections of the locks."""
        for lock in self.made:
            with suppress(AttributeError):
                lock._lease.close()


def provider_settings(name: str, **settings: str) -> dict[str, str]:
    """Return the settings of a writer that waits long and retries often."""
    often = {"wait_time_ms": "60000", "wait_time_ms_between_retry": "2", "max_wait_time_ms_between_retry": "20"}
    given = {**often, "client.num_retries": "0", **settings}
    return {PROVIDER_KEY: name if "." in name else f"{_CLASS}{name}", **{f"{_PREFIX}{key}": v for key, v in given.items()}}


def in_process(folder: Path) -> LockFixture:
    """Return the lock of the threads of one process."""
    return LockFixture("in-process", folder.as_uri(), provider_settings("InProcessLockProvider"))


def file_system(folder: Path) -> LockFixture:
    """Return a lock file that never expires."""
    return LockFixture(
        "file-system", folder.as_uri(), provider_settings("FileSystemBasedLockProvider"), take_away=_take_away_file
    )


def expiring_file(folder: Path) -> LockFixture:
    """Return a lock file that expires after a minute."""
    options = provider_settings("FileSystemBasedLockProvider", **{"filesystem.expire": "1"})
    return LockFixture("expiring-file", folder.as_uri(), options, take_away=_take_away_file, expire=_wait)


def storage_based(folder: Path) -> LockFixture:
    """Return a lease in the table's storage, by conditional writes."""
    settings = {"storage.validity.timeout.secs": str(VALIDITY // 1000), "storage.renew.interval.secs": "6"}
    return LockFixture(
        "storage-based",
        folder.as_uri(),
        provider_settings("StorageBasedLockProvider", **settings),
        take_away=_take_away_object,
        expire=_wait,
    )


def dynamodb(folder: Path, service: Dynamo, table: str) -> LockFixture:
    """Return a lock that is an item of a table in DynamoDB."""
    settings = {"dynamodb.endpoint_url": service.endpoint, "wait_time_ms": str(VALIDITY)}
    options = provider_settings("org.apache.hudi.aws.transaction.lock.DynamoDBBasedLockProvider", **settings)
    return LockFixture("dynamodb", folder.as_uri(), options, _take_away_item, _wait_and_see, service, table, race=(3, 3))


def zookeeper(folder: Path, service: ZooKeeper, table: str) -> LockFixture:
    """Return a lock of ZooKeeper nodes."""
    settings = {"zookeeper.url": service.hosts, "zookeeper.base_path": "/hudi/locks", "zookeeper.session_timeout_ms": "4000"}
    options = provider_settings("ZookeeperBasedLockProvider", **settings)
    return LockFixture("zookeeper", folder.as_uri(), options, _take_away_node, _end_session, service, table, race=(3, 6))


def hive(folder: Path, service: Metastore, table: str) -> LockFixture:
    """Return a metastore lock; the metastore need not know the table."""
    names = {"hivemetastore.uris": service.uri, "hivemetastore.database": "default", "hivemetastore.table": table}
    options = provider_settings("org.apache.hudi.hive.transaction.lock.HiveMetastoreBasedLockProvider", **names)
    return LockFixture("hive", folder.as_uri(), options, _take_away_in_metastore, _time_out, service, table, race=(2, 4))


def _take_away_file(fixture: LockFixture) -> None:
    """Act like deployed writers: delete any lock file, and create an empty one."""
    file = Path(fixture.uri.removeprefix("file://")) / ".hoodie" / "lock"
    file.unlink()
    file.touch()


def _take_away_object(fixture: LockFixture) -> None:
    file = Path(fixture.uri.removeprefix("file://")) / ".hoodie" / ".locks" / "table_lock.json"
    state = json.loads(file.read_bytes())
    file.write_text(json.dumps(state | {"owner": "an intruder", "validUntil": state["validUntil"] + VALIDITY}), "utf-8")


def _take_away_item(fixture: LockFixture) -> None:
    import boto3

    item = {"key": fixture.table, "ownerName": "an intruder", "leaseDuration": str(VALIDITY), "recordVersionNumber": "other"}
    client = boto3.client("dynamodb", endpoint_url=fixture.options[f"{_PREFIX}dynamodb.endpoint_url"], region_name="us-east-1")
    client.put_item(TableName="hudi_locks", Item={name: {"S": text} for name, text in item.items()})


def _take_away_node(fixture: LockFixture) -> None:
    """Delete the node of the holder, and leave another node in the queue."""
    from kazoo.client import KazooClient

    path = f"/hudi/locks/{fixture.table}"
    client = KazooClient(fixture.options[f"{_PREFIX}zookeeper.url"])
    client.start()
    (held,) = client.get_children(path)
    client.create(f"{path}/{'0' * 32}-lock-", sequence=True)
    client.delete(f"{path}/{held}")
    client.stop()
    client.close()


def _wait(fixture: LockFixture, lock: Lock, clock: ManualClock) -> None:
    clock.sleep(VALIDITY + 1_000)


def _wait_and_see(fixture: LockFixture, lock: Lock, clock: ManualClock) -> None:
    """Do nothing: a waiter of this provider observes with its own clock that the lease is not renewed."""


def _end_session(fixture: LockFixture, lock: Any, clock: ManualClock) -> None:
    """End the session, as the service does when it receives no heartbeat."""
    from kazoo.client import KazooClient

    twin = KazooClient(fixture.options[f"{_PREFIX}zookeeper.url"], client_id=lock._lease._client.client_id)
    twin.start()
    twin.stop()
    twin.close()


def _time_out(fixture: LockFixture, lock: Any, clock: ManualClock) -> None:
    """Release the lock, as the metastore does when it receives no heartbeat of its holder."""
    types = library("pymetastore.hive_metastore.ttypes")
    outsider = _outsider(fixture)
    outsider._connect().unlock(types.UnlockRequest(lockid=lock._lease._number))
    outsider.close()


def _take_away_in_metastore(fixture: LockFixture) -> None:
    """Release the lock by its number, and acquire it."""
    types = library("pymetastore.hive_metastore.ttypes")
    outsider = _outsider(fixture)
    client = outsider._connect()
    (held,) = [one for one in client.show_locks(types.ShowLocksRequest()).locks if one.tablename == fixture.table]
    client.unlock(types.UnlockRequest(lockid=held.lockid))
    assert outsider.take()
    outsider.close()


def _outsider(fixture: LockFixture) -> HiveLease:
    return HiveLease(fixture.options[f"{_PREFIX}hivemetastore.uris"], "default", fixture.table, "an outsider")


# Races of processes.


def run_race(fixture: LockFixture, folder: Path, processes: int, rounds: int) -> list[str]:
    """Run processes that take the lock in a loop; return how often each was inside, and how often not alone."""
    keys = {name: value for name, value in os.environ.items() if name.startswith("AWS_")}
    context = multiprocessing.get_context("spawn")  # a fork server has files that it deletes after those of the command
    arguments = (fixture.uri, fixture.table, dict(fixture.options), keys, str(folder), rounds, context.Barrier(processes))
    running = [context.Process(target=enter_repeatedly, args=(*arguments, n), daemon=True) for n in range(processes)]
    for process in running:
        process.start()
    for process in running:
        process.join(120)
    reports = [folder / f"report-{n}" for n in range(processes)]
    return [file.read_text("utf-8") if file.exists() else "nothing" for file in reports]


def enter_repeatedly(
    uri: str, table: str, options: dict[str, str], keys: dict[str, str], folder: str, rounds: int, start: Barrier, number: int
) -> None:
    """Run one of the processes, which begin together. They make and remove one folder, which shows whether two are inside."""
    os.environ.update(keys)
    lock = lock_for(storage_of(uri), table, options, SystemClock())
    inside, collisions = Path(folder) / "inside", 0
    start.wait(60)
    for turn in range(rounds):
        lock.acquire(f"turn {turn}")
        try:
            inside.mkdir()
        except FileExistsError:
            collisions += 1
        time.sleep(0.002)
        lock.check(f"turn {turn}")
        with suppress(FileNotFoundError):
            inside.rmdir()
        lock.release(f"turn {turn}")
    (Path(folder) / f"report-{number}").write_text(f"{rounds} times inside, {collisions} times not alone", "utf-8")
