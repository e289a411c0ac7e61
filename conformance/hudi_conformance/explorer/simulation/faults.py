"""Which faults a process can have, and at which requests they make a difference.

A crash after a request equals a crash before the next request, and a crash before a read equals a crash before the next
change. Exhaustive exploration therefore injects faults at few of all steps.
"""

from dataclasses import dataclass

from hudi_conformance.explorer.simulation.simulated_store import CHANGES, Request

#: Fault (see `runs.FAULTS`) -> kinds of requests at which it makes a difference.
MATTERS_AT = {
    "crash-before": CHANGES | {"acquire", "release", "sleep"},
    "crash-after": CHANGES | {"acquire", "release", "sleep"},
    "lose-answer": CHANGES,
    "lose-request": CHANGES | {"get", "open", "list", "names", "head"},
    "stall": CHANGES | {"check", "release"},
}


@dataclass(frozen=True)
class Faults:
    """The faults of a run: at most `most`, of these kinds."""

    most: int = 0
    kinds: tuple[str, ...] = ("crash-before",)

    def possible_faults(self, request: Request | None) -> tuple[str, ...]:
        """The faults that make a difference for a process that is about to send this request."""
        return () if request is None else tuple(kind for kind in self.kinds if request.kind in MATTERS_AT[kind])
