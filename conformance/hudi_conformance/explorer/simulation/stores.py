"""Kinds of stores, which differ in how a client creates an object conditionally.

A profile states into which requests a call of the `Storage` protocol is translated, and what the store promises. Some do not
keep their promises; `scenarios.store_conformance` detects that.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from hudi_conformance.explorer.simulation.simulated_store import Request
from hudi_reference.storage import ObjectChanged, ObjectExists


class Client(Protocol):
    """A sender of requests."""

    name: str

    def ask(self, request: Request) -> Any:
        """Send a request and return its answer."""


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
    """Write under a temporary name, then rename; the second writer gets an error."""
    beside = f"{path}.{client.name}~"
    client.ask(Request("put", beside, data))
    try:
        client.ask(Request("rename", path, beside))
    except ObjectExists:
        client.ask(Request("delete", beside))
        raise


def _renames_silently(client: Client, path: str, data: bytes) -> None:
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
    #: Delay in milliseconds after which objects appear in listings.
    list_delay: int = 0
    #: The properties of `store_conformance` that it promises. A store without conditional writes is safe under a lock.
    promises: tuple[str, ...] = ("create once", "replace once", "list at once")


STORES = {
    store.name: store
    for store in (
        Store("atomic", "creates an object only if there is none, in one request"),
        Store("lock-only", "every write overwrites: only a lock excludes other writers", _overwrites, _looks_and_replaces,
              promises=("list at once",)),
        Store("rename", "a file system: writes a temporary file, then renames it if there is no target", _renames),
        Store("rename-without-error", "the same, but a writer that finds the target gets no error", _renames_silently),
        Store("check-then-put", "checks for the object, then writes: two writers may do so at once", _looks_and_creates,
              _looks_and_replaces),
        Store("list-delayed", "new objects appear in listings a second late", list_delay=1000),
    )
}  # fmt: skip
