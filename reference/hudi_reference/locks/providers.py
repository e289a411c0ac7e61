"""Which lock the writers of a table use: that of the provider that their settings name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from hudi_reference.clock import Clock
from hudi_reference.errors import Misuse
from hudi_reference.locks.in_process import lock_of
from hudi_reference.locks.lock import Lock
from hudi_reference.requirement import implements
from hudi_reference.storage import Storage

#: The writers' setting for the class of the lock's provider, by the name that it has in Apache Hudi.
PROVIDER_KEY = "hoodie.write.lock.provider"
_TRANSACTION = "org.apache.hudi.client.transaction.lock."


@dataclass(frozen=True)
class Setting:
    """What a provider is told: the table's storage and name, the writer's settings and clock."""

    storage: Storage
    table_name: str
    options: Mapping[str, str]
    clock: Clock


#: Providers by the names of their classes in Apache Hudi. More may be put in.
PROVIDERS: dict[str, Callable[[Setting], Lock]] = {
    f"{_TRANSACTION}InProcessLockProvider": lambda setting: lock_of(setting.storage),
}


@implements("LOCK-003", "LOCK-008", "OCC-002")
def lock_for(storage: Storage, table_name: str, options: Mapping[str, str], clock: Clock) -> Lock:
    """The one lock of a table, for all that its writers and services decide; without a setting that of this process.

    Raises Misuse for a provider that nobody knows.
    """
    name = options.get(PROVIDER_KEY)
    if name is None:
        return lock_of(storage)
    if name not in PROVIDERS:
        raise Misuse("there is no such lock provider", rule="LOCK-003", expected=" or ".join(PROVIDERS), found=name)
    return PROVIDERS[name](Setting(storage, table_name, options, clock))
