"""The simulated store that processes share: objects, time and the table lock.

Processes change it by requests only, and each request is executed here atomically. A state is a value: a request returns a new
state and leaves the old one unchanged, so that a search can return to any earlier state.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple

import pyarrow as pa

from hudi_reference.errors import LockNotHeld, LockNotObtained
from hudi_reference.storage import MemoryStorage, ObjectChanged, ObjectExists, ObjectInfo, Storage, is_below
from hudi_reference.storage import require_inside_table as inside_of_storage

#: The path itself if it stays inside the table; cached, since few paths are asked for, and often.
_require_inside = cache(inside_of_storage)
#: Default start of simulated time: 2026-01-01, in milliseconds since the epoch.
START = 1_767_225_600_000
#: Length of a stall in milliseconds: longer than any heartbeat or lease lasts.
STALL = 3_600_000
#: Objects whose modification time is read, so that their order with sleeps matters.
TIMED = (".hoodie/.heartbeat", ".hoodie/.locks", ".hoodie/metadata/.hoodie/.heartbeat")


class Request(NamedTuple):
    """A request of a process. `kind` is a method of `Storage`, or now, sleep, acquire, release, check, note.

    `detail` depends on the kind: bytes of a change, (start, length) of a get, `skip` of a list, (bytes, version)
    of a replace, milliseconds of a sleep.
    """

    kind: str
    path: str = ""
    detail: Any = None

    def __str__(self) -> str:
        return f"{self.kind} {self.path or self.detail or ''}".rstrip()


class Failed(NamedTuple):
    """An answer that raises an error in the process."""

    kind: type[Exception]
    text: str
    error: Exception

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Failed) and self[:2] == other[:2]

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self[:2])


def failed_answer(error: Exception) -> Failed:
    """The answer that raises this."""
    return Failed(type(error), str(error), error)


class Stored(NamedTuple):
    """An object: its bytes, its modification time in milliseconds, and its version, which is unique."""

    body: bytes
    modified: int
    version: str


class State(NamedTuple):
    """Everything in a simulated store that changes."""

    objects: Mapping[str, Stored]
    #: Milliseconds since the epoch. Time advances only when a process sleeps or stalls.
    time: int = START
    #: The process that holds the table lock, and the expiration of the lock, if it is a lease.
    holder: str | None = None
    expires: int | None = None
    #: A hash of the objects.
    digest: int = 0

    @property
    def storage(self) -> "FrozenStorage":
        """The objects, for reading."""
        return FrozenStorage(self.objects, self.time)

    def with_object(self, path: str, stored: Stored) -> "State":
        """The state with this object at its path."""
        objects, time, holder, expires, digest = self
        digest ^= _digest(path, objects.get(path)) ^ _digest(path, stored)
        return State({**objects, path: stored}, time, holder, expires, digest)

    def without_object(self, path: str) -> "State":
        """The state without this object."""
        objects, time, holder, expires, digest = self
        rest = {known: stored for known, stored in objects.items() if known != path}
        return State(rest, time, holder, expires, digest ^ _digest(path, objects[path]))


def _digest(path: str, stored: Stored | None) -> int:
    return 0 if stored is None else hash((path, *stored))


@dataclass(frozen=True)
class SimulatedStore:
    """What is constant in a run: the first state, the kind of store, and how long the lock may be held."""

    state: State
    #: A profile of `stores`; None is a store whose create and replace are atomic.
    store: Any = None
    #: Milliseconds for which the lock is held at most; None is a lock that lasts until its holder releases it or crashes.
    lease: int | None = None
    #: Whether processes may assume that they share a clock (`Lock.in_process`).
    shares_clock: bool = True
    #: Delay in milliseconds after which a written object appears in listings.
    list_delay: int = 0
    #: Cached listings, by the digest of the objects.
    _listed: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def from_storage(cls, storage: Storage, **settings: Any) -> "SimulatedStore":
        """A simulated store with the objects of a storage; `settings` are attributes of the class, and `time`."""
        found = {}
        for number, info in enumerate(storage.list()):
            found[info.path] = Stored(storage.get(info.path), START, f"{number}")
        return cls(State(MappingProxyType(found), settings.pop("time", START)), **settings)

    def with_settings(self, **settings: Any) -> "SimulatedStore":
        """The same with other settings."""
        return replace(self, _listed={}, **settings)

    def execute(self, state: State, process: str, number: int, request: Request) -> tuple[State, Any]:
        """The state after a request, and its answer: a value or `Failed`. `number` counts the requests of the process."""
        act = _ACTS.get(request.kind)
        return act(self, state, process, number, request) if act else (state, _READS[request.kind](self, state, request))

    def is_free(self, state: State, process: str) -> bool:
        """Whether the lock can be acquired at once."""
        return state.holder is None or (state.expires is not None and state.expires <= state.time)

    def after_crash(self, state: State, process: str) -> State:
        """The state after a crash of a process: its lock is free again, unless it is a lease, which must expire."""
        if state.holder == process and state.expires is None:
            return state._replace(holder=None)
        return state


class FrozenStorage(MemoryStorage):
    """The objects of a state as a storage for readers. Its changes do not affect the state."""

    def __init__(self, objects: Mapping[str, Stored], time: int) -> None:
        super().__init__()
        self._objects = {path: (stored.body, stored.modified) for path, stored in objects.items()}
        self._writes = time


# Reads.


def _get(simulated: SimulatedStore, state: State, request: Request) -> Any:
    found = state.objects.get(_require_inside(request.path))
    if found is None:
        return failed_answer(FileNotFoundError(request.path))
    if request.detail is None:
        return found.body
    start, length = request.detail
    return found.body[start : None if length is None else start + length]


def _head(simulated: SimulatedStore, state: State, request: Request) -> Any:
    found = state.objects.get(_require_inside(request.path))
    return None if found is None else _info(request.path, found)


def _info(path: str, found: Stored) -> ObjectInfo:
    return ObjectInfo(path, len(found.body), found.modified, found.version)


def _listing(simulated: SimulatedStore, state: State, request: Request) -> Any:
    """The objects below a folder; depends on the objects, and on time only if listings are delayed."""
    key = (state.digest, request, state.time if simulated.list_delay else 0)
    found = simulated._listed.get(key)
    if found is None:
        listing = Listing((_list if request.kind == "list" else _names)(simulated, state, request))
        found = simulated._listed[key] = simulated._listed.setdefault(listing, listing)
    return found


class Listing(tuple[Any, ...]):
    """A listing as an answer. Equal listings are one object, and its hash is computed once."""

    _hash: int

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            self._hash = super().__hash__()
            return self._hash


def _list(simulated: SimulatedStore, state: State, request: Request) -> tuple[ObjectInfo, ...]:
    folder, skip = _require_inside(request.path), request.detail
    listed = [
        _info(path, stored)
        for path, stored in state.objects.items()
        if is_below(path, folder) and not (skip is not None and is_below(path, skip)) and _is_listed(simulated, state, stored)
    ]
    return tuple(sorted(listed, key=lambda info: info.path))


def _names(simulated: SimulatedStore, state: State, request: Request) -> tuple[str, ...]:
    start = len(prefix := f"{_require_inside(request.path)}/".lstrip("/"))
    found = set()
    for path, stored in state.objects.items():
        if path.startswith(prefix) and _is_listed(simulated, state, stored):
            name, slash, _ = path[start:].partition("/")
            found.add(name + slash)
    return tuple(sorted(found))


def _is_listed(simulated: SimulatedStore, state: State, stored: Stored) -> bool:
    return not simulated.list_delay or stored.modified + simulated.list_delay <= state.time


_READS: dict[str, Callable[[SimulatedStore, State, Request], Any]] = {
    "get": _get,
    "open": _get,
    "head": _head,
    "list": _listing,
    "names": _listing,
    "now": lambda simulated, state, request: state.time,
    "note": lambda simulated, state, request: None,
}

# Changes.


def _stored(simulated: SimulatedStore, state: State, process: str, number: int, path: str, body: bytes) -> State:
    """The state with a written object.

    Only objects whose modification time is read have the current one: otherwise changes would not commute with sleeps.
    """
    modified = state.time if simulated.list_delay or path.startswith(TIMED) else simulated.state.time
    return state.with_object(_require_inside(path), Stored(bytes(body), modified, f"{process}#{number}"))


def _put(simulated: SimulatedStore, state: State, process: str, number: int, request: Request) -> tuple[State, Any]:
    return _stored(simulated, state, process, number, request.path, request.detail), None


def _create(simulated: SimulatedStore, state: State, process: str, number: int, request: Request) -> tuple[State, Any]:
    if _require_inside(request.path) in state.objects:
        return state, failed_answer(ObjectExists(request.path))
    return _stored(simulated, state, process, number, request.path, request.detail), None


def _replace(simulated: SimulatedStore, state: State, process: str, number: int, request: Request) -> tuple[State, Any]:
    body, version = request.detail
    found = state.objects.get(_require_inside(request.path))
    if found is None or found.version != version:
        return state, failed_answer(ObjectChanged(request.path))
    return _stored(simulated, state, process, number, request.path, body), None


def _rename(simulated: SimulatedStore, state: State, process: str, number: int, request: Request) -> tuple[State, Any]:
    """Move an object to `path`, unless there is one. Only rename-based file systems have this."""
    source = state.objects.get(request.detail)
    if source is None or _require_inside(request.path) in state.objects:
        return state, failed_answer(ObjectExists(request.path) if source else FileNotFoundError(request.detail))
    return state.without_object(request.detail).with_object(_require_inside(request.path), source), None


def _delete(simulated: SimulatedStore, state: State, process: str, number: int, request: Request) -> tuple[State, Any]:
    path = _require_inside(request.path)
    if path not in state.objects:
        return state, None
    return state.without_object(path), None


def _sleep(simulated: SimulatedStore, state: State, process: str, number: int, request: Request) -> tuple[State, Any]:
    objects, time, holder, expires, digest = state
    return State(objects, time + request.detail, holder, expires, digest), None


def _acquire(simulated: SimulatedStore, state: State, process: str, number: int, request: Request) -> tuple[State, Any]:
    """Acquire the lock. If it is held, the process has waited: until the lease expired, or until the wait timed out."""
    if not simulated.is_free(state, process):
        if state.expires is None:
            held = f"the lock is held by {state.holder}"
            return state, failed_answer(LockNotObtained("another process holds the table lock", rule="TT-007", found=held))
        state = state._replace(time=state.expires)
    expires = None if simulated.lease is None else state.time + simulated.lease
    return state._replace(holder=process, expires=expires), None


def _release(simulated: SimulatedStore, state: State, process: str, number: int, request: Request) -> tuple[State, Any]:
    if state.holder != process:
        return state, _not_held(state, process)
    return state._replace(holder=None, expires=None), None


def _check(simulated: SimulatedStore, state: State, process: str, number: int, request: Request) -> tuple[State, Any]:
    if state.holder != process or (state.expires is not None and state.expires <= state.time):
        return state, _not_held(state, process)
    return state, None


def _not_held(state: State, process: str) -> Failed:
    error = LockNotHeld("the lock is not held by this owner", rule="LOCK-001", expected=process, found=str(state.holder))
    return failed_answer(error)


_ACTS: dict[str, Callable[[SimulatedStore, State, str, int, Request], tuple[State, Any]]] = {
    "put": _put,
    "create": _create,
    "replace": _replace,
    "rename": _rename,
    "delete": _delete,
    "sleep": _sleep,
    "acquire": _acquire,
    "release": _release,
    "check": _check,
}

#: Requests that change objects.
CHANGES = frozenset({"put", "create", "replace", "rename", "delete"})


def open_content(value: Any) -> pa.NativeFile:
    """The bytes of an answer to `open` as a file."""
    return pa.BufferReader(value)
