"""The lock of a table, from the provider that the settings of the writer name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from uuid import uuid4

from hudi_reference.clock import Clock
from hudi_reference.errors import Misuse
from hudi_reference.locks.dynamodb import DynamoLease, LockTable
from hudi_reference.locks.file_system import FILE_NAME, ExpiringFileLease, FileLease
from hudi_reference.locks.hive import HiveLease
from hudi_reference.locks.lease import LeasedLock
from hudi_reference.locks.lock import Lock, lock_of
from hudi_reference.locks.settings import number_of, text_of
from hudi_reference.locks.storage_based import StoredLease
from hudi_reference.locks.timeout import LockTimeout
from hudi_reference.locks.zookeeper import ZooKeeperLease
from hudi_reference.requirement import implements
from hudi_reference.storage import Storage, storage_of

#: The setting that names the class of the provider in Apache Hudi.
PROVIDER_KEY = "hoodie.write.lock.provider"
_SETTING = "hoodie.write.lock."


@dataclass(frozen=True)
class ProviderContext:
    """The inputs of a provider: storage and name of the table, settings and clock of the writer, and the unique name of the
    holder.
    """

    storage: Storage
    table_name: str
    options: Mapping[str, str]
    clock: Clock
    holder: str = field(default_factory=lambda: str(uuid4()))

    @property
    def timeout(self) -> LockTimeout:
        """How long this writer waits."""
        return LockTimeout.from_options(self.options)


def _in_process(context: ProviderContext) -> Lock:
    return lock_of(context.storage)


def _file_system(context: ProviderContext) -> Lock:
    folder = context.options.get(f"{_SETTING}filesystem.path")
    storage, path = (storage_of(folder), FILE_NAME) if folder else (context.storage, f".hoodie/{FILE_NAME}")
    validity = number_of(context.options, f"{_SETTING}filesystem.expire") * 60_000
    if validity == 0:
        return LeasedLock(FileLease(storage, context.holder, path=path), context.clock, context.timeout)
    lease = ExpiringFileLease(storage, context.clock, context.holder, path=path, validity=validity)
    return LeasedLock(lease, context.clock, context.timeout, renewed_every=validity // 10)


def _storage_based(context: ProviderContext) -> Lock:
    validity = number_of(context.options, f"{_SETTING}storage.validity.timeout.secs", least=10)
    every = number_of(context.options, f"{_SETTING}storage.renew.interval.secs", least=1)
    if validity < 10 * every:
        raise Misuse(
            "the lease is valid for less than ten renewal intervals", rule="LOCK-001", expected=f"{10 * every} s",
            found=f"{validity} s", remedy=f"change {_SETTING}storage.validity.timeout.secs or renew.interval.secs",
        )  # fmt: skip
    lease = StoredLease(context.storage, context.clock, context.holder, validity=validity * 1000)
    return LeasedLock(lease, context.clock, context.timeout, renewed_every=every * 1000)


def _dynamodb(context: ProviderContext) -> Lock:
    validity = number_of(context.options, f"{_SETTING}wait_time_ms", least=1)  # one setting for both, as deployed
    key = text_of(context.options, f"{_SETTING}dynamodb.partition_key", context.table_name)
    lease = DynamoLease(LockTable.from_options(context.options), context.clock, context.holder, key=key, validity=validity)
    return LeasedLock(lease, context.clock, context.timeout, renewed_every=max(1, validity // 3))


def _zookeeper(context: ProviderContext) -> Lock:
    return LeasedLock(ZooKeeperLease.from_options(context.options, context.table_name), context.clock, context.timeout)


def _hive_metastore(context: ProviderContext) -> Lock:
    every = number_of(context.options, f"{_SETTING}heartbeat_interval_ms", least=1)
    return LeasedLock(
        HiveLease.from_options(context.options, context.holder), context.clock, context.timeout, renewed_every=every
    )


_PACKAGE = "org.apache.hudi.client.transaction.lock."
#: The providers by the names of their classes in Apache Hudi.
PROVIDERS: dict[str, Callable[[ProviderContext], Lock]] = {
    f"{_PACKAGE}InProcessLockProvider": _in_process,
    f"{_PACKAGE}FileSystemBasedLockProvider": _file_system,
    f"{_PACKAGE}StorageBasedLockProvider": _storage_based,
    f"{_PACKAGE}ZookeeperBasedLockProvider": _zookeeper,
    "org.apache.hudi.aws.transaction.lock.DynamoDBBasedLockProvider": _dynamodb,
    "org.apache.hudi.hive.transaction.lock.HiveMetastoreBasedLockProvider": _hive_metastore,
}


@implements("LOCK-003", "LOCK-007", "LOCK-008", "OCC-002")
def lock_for(storage: Storage, table_name: str, options: Mapping[str, str], clock: Clock) -> Lock:
    """The lock that all writers and services of a table use; without a provider, the lock among the threads of this process.

    Raises Misuse for an unknown provider and for invalid settings.
    """
    name = options.get(PROVIDER_KEY)
    if name is None:
        return lock_of(storage)
    if name not in PROVIDERS:
        raise Misuse("the lock provider is unknown", rule="LOCK-003", expected=" or ".join(PROVIDERS), found=name)
    return PROVIDERS[name](ProviderContext(storage, table_name, options, clock))
