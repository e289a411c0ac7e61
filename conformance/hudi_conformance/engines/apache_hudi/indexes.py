"""The service that builds an index of the metadata table while writers run: its plan, and its execution."""

from collections.abc import Mapping
from typing import Any

from hudi_conformance.contract import Refused
from hudi_conformance.engines.apache_hudi.jvm.listed_indexes import SETTINGS, listed
from hudi_conformance.engines.apache_hudi.jvm.tables import properties_of
from hudi_conformance.engines.apache_hudi.orders import Order
from hudi_reference.layout.metadata_settings import ENABLE, PARTITIONED_RECORD_INDEX, USABLE

#: Hudi plans an index only under the lock of several writers, which do not roll back what others have pending.
SETTINGS_OF_CLIENT: Mapping[str, str] = {
    ENABLE: "true",
    "hoodie.write.concurrency.mode": "OPTIMISTIC_CONCURRENCY_CONTROL",
    "hoodie.clean.failed.writes.policy": "LAZY",
    "hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.InProcessLockProvider",
}
NAME, DROP = "hoodie.index.name", "hoodie.metadata.index.drop"


def run(order: Order, client: Any) -> str | None:
    """Build the indexes that the options enable; the requested time of the indexing, None if the table has them.

    Raises Refused for an index that users name, which Hudi builds through SQL.
    """
    if {NAME, DROP} & order.options.keys():
        raise Refused("service.index.named", "this client has no SQL")
    instant = order.target if order.phase == "execute" else _scheduled(order, client)
    if instant is not None and order.phase != "schedule":
        client.index(instant)
    return instant


def _scheduled(order: Order, client: Any) -> str | None:
    kinds = order.session.hudi.metadata.MetadataPartitionType
    wanted = [getattr(kinds, name.upper()) for name in _missing(order)]
    found = client.scheduleIndexing(order.session.list_of(wanted), order.session.list_of(())) if wanted else order.none
    return str(found.get()) if found.isPresent() else None


def _missing(order: Order) -> list[str]:
    """The metadata partitions that the options enable and the table does not have."""
    usable = listed(properties_of(order.session, order.table), USABLE)
    enabled = {name for name, setting in SETTINGS.items() if order.options.get(setting) == "true"}
    enabled |= {"record_index"} if order.options.get(PARTITIONED_RECORD_INDEX) == "true" else set()
    return sorted(enabled - {"files", *usable})
