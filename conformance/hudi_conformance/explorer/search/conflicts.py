"""Which requests of two processes conflict. All others commute, so that one order of them represents both.

Reads commute. A listing does not commute with a change below its folder, nor a clock reading with a sleep.
"""

from dataclasses import dataclass, field

from hudi_conformance.explorer.simulation.simulated_store import CHANGES, TIMED, Request
from hudi_reference.storage import is_below

_LOCKING = frozenset({"acquire", "release", "check", "crash"})
_PASSES_TIME = frozenset({"sleep", "stall"})


def are_in_conflict(one: Request, other: Request) -> bool:
    """Whether the order of the two requests matters. `crash` is a crash of the lock holder."""
    first, second = one[0], other[0]
    if first in CHANGES:
        return _change_conflicts(one, other)
    if second in CHANGES:
        return _change_conflicts(other, one)
    if first in _LOCKING and second in _LOCKING:
        return True
    return (_passes_time(one) and _asks_time(other)) or (_passes_time(other) and _asks_time(one))


def _passes_time(request: Request) -> bool:
    """Whether time may advance. An acquirer of a lease may wait until it has expired."""
    return request[0] in _PASSES_TIME or (request[0] == "acquire" and request[2] is not None)


def _asks_time(request: Request) -> bool:
    """Whether the answer or the effect depends on the time. A lock without a lease does not."""
    return request[0] == "now" or (request[0] in ("acquire", "check") and request[2] is not None)


def _change_conflicts(change: Request, other: Request) -> bool:
    """Whether a change and another request conflict."""
    kind, path = other[0], change[1]
    if kind in ("list", "names"):
        return is_below(path, other[1]) and not (kind == "list" and other[2] is not None and is_below(path, other[2]))
    if _passes_time(other):
        return path.startswith(TIMED)
    if change[0] == "rename" and other[1] == change[2]:
        return True
    return path == other[1] or (kind == "rename" and other[2] == path)


def exclude_each_other(one: Request, other: Request) -> bool:
    """Whether the two conflict but are never both possible at one point, if the lock is not a lease."""
    return "acquire" in (one[0], other[0]) and bool({"release", "check", "crash"} & {one[0], other[0]})


@dataclass
class Relation:
    """The conflicts among the requests of an exploration, each computed once.

    A request has a number; `conflicts[a]` is a set of bits, one for each number that `a` conflicts with.
    """

    conflicts: list[int] = field(default_factory=list)
    #: The same without the pairs that are never both possible.
    races: list[int] = field(default_factory=list)
    is_leased: bool = False
    _numbers: dict[tuple[str, str, object], int] = field(default_factory=dict)
    _requests: list[Request] = field(default_factory=list)

    def number_of_request(self, request: Request) -> int:
        """The number of a request. Requests that differ only in content that does not affect conflicts share one."""
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
            if are_in_conflict(request, known):
                self.conflicts[number] |= 1 << other
                self.conflicts[other] |= 1 << number
                if self.is_leased or not exclude_each_other(request, known):
                    self.races[number] |= 1 << other
                    self.races[other] |= 1 << number
        return number
