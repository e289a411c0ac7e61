"""Mutants of instant times and of the time generator."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.timeline.instant_generator import TimeGenerator

_WAIT = "        self.clock.sleep(self.skew + _RESOLUTION)\n"


@mutant(breaks=("TT-003", "TT-008", "TT-009"))
def instants_monotonic_per_process_only(patch: Patch) -> None:
    """Generates times that are later than those of the same process, and does not wait for the clock skew of other
    processes.
    """
    patch.edit(TimeGenerator.drawn, _WAIT, "")


@mutant(breaks=("TT-008", "TT-003"))
def clock_skew_wait_after_lock(patch: Patch) -> None:
    """Releases the lock first and waits then."""
    patch.edit(
        TimeGenerator.drawn,
        _WAIT + "        self._last = time\n        yield time\n",
        "        self._last = time\n        yield time\n    self.clock.sleep(self.skew + _RESOLUTION)\n",
    )
