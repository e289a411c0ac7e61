"""How stores differ: what a client has to do there to create an object that nobody else has created.

A profile says how one call of the `Storage` protocol becomes requests. Two of them are unfit for tables with several writers,
and the explorer has to find that out.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hudi_conformance.schedule.world import Request
from hudi_reference.storage import ObjectExists

#: Sends a request to the world and returns its answer.
Ask = Callable[[Request], Any]


@dataclass(frozen=True)
class Store:
    """One kind of store."""

    name: str
    description: str
    #: Whether tables with several writers are safe there: under a lock, and where the store can create atomically.
    is_fit: bool
    create: Callable[[Ask, str, bytes], None]
    #: Settings of the world.
    list_delay: int = 0


def _atomically(ask: Ask, path: str, data: bytes) -> None:
    ask(Request("create", path, data))


def _blindly(ask: Ask, path: str, data: bytes) -> None:
    ask(Request("put", path, data))


def _by_rename(ask: Ask, path: str, data: bytes) -> None:
    """Written beside under a name of its own, then moved; who comes second is told."""
    beside = f"{path}.{len(data)}~"
    ask(Request("put", beside, data))
    try:
        ask(Request("rename", path, beside))
    except ObjectExists:
        ask(Request("delete", beside))
        raise


def _checked_then_put(ask: Ask, path: str, data: bytes) -> None:
    if ask(Request("head", path)) is not None:
        raise ObjectExists(path)
    ask(Request("put", path, data))


STORES = {
    store.name: store
    for store in (
        Store("atomic", "creates an object only where there is none, in one request", True, _atomically),
        Store("lock-only", "every write overwrites: only the lock keeps writers apart", True, _blindly),
        Store("rename", "a file system: written beside, then moved to where nothing is", True, _by_rename),
        Store("check-then-put", "looks whether there is an object, then writes: two may do both at once", False,
              _checked_then_put),
        Store("list-delayed", "new objects appear in listings a second later", False, _atomically, list_delay=1000),
    )
}  # fmt: skip
