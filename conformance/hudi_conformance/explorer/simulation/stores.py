"""How stores differ: what a client has to do there to create an object that nobody else has created.

A profile says how one call of the `Storage` protocol becomes requests, and what the store promises. Some promise what they do
not keep; `fitness` finds that out.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from hudi_conformance.explorer.simulation.simulated_store import Request
from hudi_reference.storage import ObjectChanged, ObjectExists


class Client(Protocol):
    """Who sends requests."""

    name: str

    def ask(self, request: Request) -> Any:
        """Send one; its answer."""


def _creates(client: Client, path: str, data: bytes) -> None:
    client.ask(Request("create", path, data))


def _replaces(client: Client, path: str, data: bytes, version: str) -> None:
    client.ask(Request("replace", path, (data, version)))


def _overwrites(client: Client, path: str, data: bytes) -> None:
    client.ask(Request("put", path, data))


def _looks_and_creates(client: Client, path: str, data: bytes) -> None:
    if client.ask(Request("head", path)) is not None:
        raise ObjectExists(path)
    client.ask(Request("put", path, data))


def _looks_and_replaces(client: Client, path: str, data: bytes, version: str) -> None:
    found = client.ask(Request("head", path))
    if found is None or found.version != version:
        raise ObjectChanged(path)
    client.ask(Request("put", path, data))


def _renames(client: Client, path: str, data: bytes) -> None:
    """Written beside under a name of its own, then moved; who comes second is told."""
    beside = f"{path}.{client.name}~"
    client.ask(Request("put", beside, data))
    try:
        client.ask(Request("rename", path, beside))
    except ObjectExists:
        client.ask(Request("delete", beside))
        raise


def _renames_and_does_not_tell(client: Client, path: str, data: bytes) -> None:
    try:
        _renames(client, path, data)
    except ObjectExists:
        return


@dataclass(frozen=True)
class Store:
    """One kind of store."""

    name: str
    description: str
    create: Callable[[Client, str, bytes], None] = _creates
    replace: Callable[[Client, str, bytes, str], None] = _replaces
    #: Objects appear in listings so many milliseconds late.
    list_delay: int = 0
    #: The laws of `fitness` that it says it keeps. A store that promises no conditional writes is safe under a lock.
    promises: tuple[str, ...] = ("create once", "replace once", "list at once")


STORES = {
    store.name: store
    for store in (
        Store("atomic", "creates an object only where there is none, in one request"),
        Store("lock-only", "every write overwrites: only a lock keeps writers apart", _overwrites, _looks_and_replaces,
              promises=("list at once",)),
        Store("rename", "a file system: written beside, then moved to where nothing is", _renames),
        Store("rename-untold", "the same, but who finds something there already is not told", _renames_and_does_not_tell),
        Store("check-then-put", "looks whether it may write, then writes: two may do both at once", _looks_and_creates,
              _looks_and_replaces),
        Store("list-delayed", "new objects appear in listings a second late", list_delay=1000),
    )
}  # fmt: skip
