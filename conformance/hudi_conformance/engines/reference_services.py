"""The contract's table services, carried out by the reference."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from hudi_conformance.contract.errors import Refused
from hudi_conformance.contract.messages import Phase, Service
from hudi_reference.services.archive import archive
from hudi_reference.table.table import Table


@dataclass(frozen=True)
class Order:
    """What is asked of a service: see the contract's `service`."""

    phase: Phase
    instant: str | None
    options: Mapping[str, str]


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


#: By the contract's name.
SERVICES: Mapping[Service, Callable[[Table, Order], str | None]] = {
    "archive": _archive,
}
