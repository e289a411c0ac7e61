"""Which lock the writers of a table use: that of the provider that their settings name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from uuid import uuid4

from hudi_reference.clock import Clock
from hudi_reference.errors import Misuse
from hudi_reference.locks.dynamodb import DynamoLease, LockTable
from hudi_reference.locks.file_system import FILE_NAME, ExpiringFileLease, FileLease
from hudi_reference.locks.hive import HiveLease
from hudi_reference.locks.in_process import lock_of
from hudi_reference.locks.lease import LeasedLock
from hudi_reference.locks.lock import Lock
from hudi_reference.locks.settings import number_of, text_of
from hudi_reference.locks.storage_based import StoredLease
from hudi_reference.locks.timeout import Patience
from hudi_reference.locks.zookeeper import ZooKeeperLease
from hudi_reference.requirement import implements
from hudi_reference.storage import Storage, storage_of

#: The writers' setting for the class of the lock's provider, by the name that it has in Apache Hudi.
PROVIDER_KEY = "hoodie.write.lock.provider"
_SETTING = "hoodie.write.lock."


@dataclass(frozen=True)
class Situation:
    """What a provider is told: the table's storage and name, the writer's settings and clock, and who he is."""

    storage: Storage
    table_name: str
    options: Mapping[str, str]
    clock: Clock
    holder: str = field(default_factory=lambda: str(uuid4()))

    @property
    def patience(self) -> Patience:
        """How long writers wait."""
        return Patience.of(self.options)


def _in_process(found: Situation) -> Lock:
    return lock_of(found.storage)


def _file_system(found: Situation) -> Lock:
    folder = found.options.get(f"{_SETTING}filesystem.path")
    storage, path = (storage_of(folder), FILE_NAME) if folder else (found.storage, f".hoodie/{FILE_NAME}")
    validity = number_of(found.options, f"{_SETTING}filesystem.expire") * 60_000
    if validity == 0:
        return LeasedLock(FileLease(storage, found.holder, path=path), found.clock, found.patience)
    lease = ExpiringFileLease(storage, found.clock, found.holder, path=path, validity=validity)
    return LeasedLock(lease, found.clock, found.patience, renewed_every=validity // 10)


def _storage_based(found: Situation) -> Lock:
    validity = number_of(found.options, f"{_SETTING}storage.validity.timeout.secs", least=10)
    every = number_of(found.options, f"{_SETTING}storage.renew.interval.secs", least=1)
    if validity < 10 * every:
        raise Misuse(
            "a lease has to last ten times as long as it takes to its renewal", rule="LOCK-001", expected=f"{10 * every} s",
            found=f"{validity} s", remedy=f"change {_SETTING}storage.validity.timeout.secs or renew.interval.secs",
        )  # fmt: skip
    lease = StoredLease(found.storage, found.clock, found.holder, validity=validity * 1000)
    return LeasedLock(lease, found.clock, found.patience, renewed_every=every * 1000)


def _dynamodb(found: Situation) -> Lock:
    validity = number_of(found.options, f"{_SETTING}wait_time_ms", least=1)  # one setting for both, as deployed
    key = text_of(found.options, f"{_SETTING}dynamodb.partition_key", found.table_name)
    lease = DynamoLease(LockTable.of(found.options), found.clock, found.holder, key=key, validity=validity)
    return LeasedLock(lease, found.clock, found.patience, renewed_every=max(1, validity // 3))


def _zookeeper(found: Situation) -> Lock:
    return LeasedLock(ZooKeeperLease.of(found.options, found.table_name), found.clock, found.patience)


def _hive_metastore(found: Situation) -> Lock:
    every = number_of(found.options, f"{_SETTING}heartbeat_interval_ms", least=1)
    return LeasedLock(HiveLease.of(found.options, found.holder), found.clock, found.patience, renewed_every=every)


_HERE = "org.apache.hudi.client.transaction.lock."
#: Providers by the names of their classes in Apache Hudi. Others may be put in.
PROVIDERS: dict[str, Callable[[Situation], Lock]] = {
    f"{_HERE}InProcessLockProvider": _in_process,
    f"{_HERE}FileSystemBasedLockProvider": _file_system,
    f"{_HERE}StorageBasedLockProvider": _storage_based,
    f"{_HERE}ZookeeperBasedLockProvider": _zookeeper,
    "org.apache.hudi.aws.transaction.lock.DynamoDBBasedLockProvider": _dynamodb,
    "org.apache.hudi.hive.transaction.lock.HiveMetastoreBasedLockProvider": _hive_metastore,
}


@implements("LOCK-003", "LOCK-007", "LOCK-008", "OCC-002")
def lock_for(storage: Storage, table_name: str, options: Mapping[str, str], clock: Clock) -> Lock:
    """The one lock of a table, for all that its writers and services decide; without a setting that of this process.

    Raises Misuse for a provider that nobody knows, and for settings that it cannot have.
    """
    name = options.get(PROVIDER_KEY)
    if name is None:
        return lock_of(storage)
    if name not in PROVIDERS:
        raise Misuse("there is no such lock provider", rule="LOCK-003", expected=" or ".join(PROVIDERS), found=name)
    return PROVIDERS[name](Situation(storage, table_name, options, clock))
