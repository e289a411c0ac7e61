"""Which requests of two processes may not change places: the others commute, and one order of them stands for both.

Reads commute. A listing does not commute with a change below its folder, nor a clock reading with a sleep.
"""

from dataclasses import dataclass, field

from hudi_conformance.explorer.simulation.simulated_store import CHANGES, TIMED, Request
from hudi_reference.storage import is_below

_LOCKING = frozenset({"acquire", "release", "check", "crash"})
_PASSES_TIME = frozenset({"sleep", "stall"})


def conflict(one: Request, other: Request) -> bool:
    """Whether the order of the two matters. `crash` is the death of a process that holds the lock."""
    first, second = one[0], other[0]
    if first in CHANGES:
        return _meets(one, other)
    if second in CHANGES:
        return _meets(other, one)
    if first in _LOCKING and second in _LOCKING:
        return True
    return (_passes_time(one) and _asks_time(other)) or (_passes_time(other) and _asks_time(one))


def _passes_time(request: Request) -> bool:
    """Whether time may be another one after it. Who takes a lease may have to wait until it has run out."""
    return request[0] in _PASSES_TIME or (request[0] == "acquire" and request[2] is not None)


def _asks_time(request: Request) -> bool:
    """Whether the answer or the effect may be another one at another time. A lock that is no lease knows no time."""
    return request[0] == "now" or (request[0] in ("acquire", "check") and request[2] is not None)


def _meets(change: Request, other: Request) -> bool:
    """Whether a change matters to another request, or the other to it."""
    kind, path = other[0], change[1]
    if kind in ("list", "names"):
        return is_below(path, other[1]) and not (kind == "list" and other[2] is not None and is_below(path, other[2]))
    if _passes_time(other):
        return path.startswith(TIMED)
    if change[0] == "rename" and other[1] == change[2]:
        return True
    return path == other[1] or (kind == "rename" and other[2] == path)


def excludes(one: Request, other: Request) -> bool:
    """Whether the two conflict, but are never both possible at one point, where the lock is no lease."""
    return "acquire" in (one[0], other[0]) and bool({"release", "check", "crash"} & {one[0], other[0]})


@dataclass
class Relation:
    """The conflicts among the requests of an exploration, each worked out once.

    A request has a number; `conflicts[a]` is a set of bits, one for each number that `a` conflicts with.
    """

    conflicts: list[int] = field(default_factory=list)
    #: The same, without the pairs that are never both possible.
    races: list[int] = field(default_factory=list)
    is_leased: bool = False
    _numbers: dict[tuple[str, str, object], int] = field(default_factory=dict)
    _requests: list[Request] = field(default_factory=list)

    def number(self, request: Request) -> int:
        """The number of a request; of what it carries only what decides conflicts counts."""
        kind, path, detail = request
        key = (kind, path, detail if kind in ("list", "rename", "acquire", "check") else None)
        found = self._numbers.get(key)
        return self._add(key, request) if found is None else found

    def _add(self, key: tuple[str, str, object], request: Request) -> int:
        number = self._numbers[key] = len(self._requests)
        self._requests.append(request)
        self.conflicts.append(0)
        self.races.append(0)
        for other, known in enumerate(self._requests):
            if conflict(request, known):
                self.conflicts[number] |= 1 << other
                self.conflicts[other] |= 1 << number
                if self.is_leased or not excludes(request, known):
                    self.races[number] |= 1 << other
                    self.races[other] |= 1 << number
        return number
