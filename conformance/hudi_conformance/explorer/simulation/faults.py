"""What may befall a process, and where that matters.

That a process dies after a request is the same as that it dies before its next one; that it dies before a read is the same as
before the next change. So exhaustive exploration needs few of the steps at which a fault could be.
"""

from dataclasses import dataclass

from hudi_conformance.explorer.simulation.simulated_store import CHANGES, Request

#: A fault of `scheduler.FAULTS`: the requests before or at which it matters.
MATTERS_AT = {
    "crash-before": CHANGES | {"acquire", "release", "sleep"},
    "crash-after": CHANGES | {"acquire", "release", "sleep"},
    "lose-answer": CHANGES,
    "lose-request": CHANGES | {"get", "open", "list", "names", "head"},
    "stall": CHANGES | {"check", "release"},
}


@dataclass(frozen=True)
class Faults:
    """Which faults there are in a run: so many at most, of these kinds."""

    most: int = 0
    kinds: tuple[str, ...] = ("crash-before",)

    def at(self, request: Request | None) -> tuple[str, ...]:
        """What may befall a process that is about to send this request."""
        return () if request is None else tuple(kind for kind in self.kinds if request.kind in MATTERS_AT[kind])
