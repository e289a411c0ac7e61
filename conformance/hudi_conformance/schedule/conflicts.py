"""Which requests of two processes may not change places: the others commute, and one order of them stands for both.

Reads commute. A listing does not commute with a change below its folder, nor a clock reading with a sleep.
"""

from hudi_conformance.schedule.world import CHANGES, TIMED, Request
from hudi_reference.storage import is_below

_LOCKING = frozenset({"acquire", "release", "check", "crash", "expire"})
_PASSES_TIME = frozenset({"sleep", "stall", "expire"})


def conflict(one: Request, other: Request) -> bool:
    """Whether the order of the two matters. `crash` is the death of a process that holds the lock."""
    first, second = one[0], other[0]
    if first in CHANGES:
        return _meets(one, other)
    if second in CHANGES:
        return _meets(other, one)
    if first in _LOCKING and second in _LOCKING:
        return True
    return (first in _PASSES_TIME and second in _ASKS_TIME) or (second in _PASSES_TIME and first in _ASKS_TIME)


#: Requests whose answers or effects are others at another time.
_ASKS_TIME = frozenset({"now", "acquire", "check"})


def _meets(change: Request, other: Request) -> bool:
    """Whether a change matters to another request, or the other to it."""
    kind, path = other[0], change[1]
    if kind in ("list", "names"):
        return is_below(path, other[1]) and not (kind == "list" and other[2] is not None and is_below(path, other[2]))
    if kind in _PASSES_TIME:
        return path.startswith(TIMED)
    if change[0] == "rename" and other[1] == change[2]:
        return True
    return path == other[1] or (kind == "rename" and other[2] == path)


def are_never_both_possible(one: Request, other: Request) -> bool:
    """Whether who can send the one cannot at the same point have somebody else who can send the other."""
    return {one[0], other[0]} == {"acquire", "release"}
