"""Properties of every decoder for every input: typed errors only, bounded memory, bounded time."""

import os
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hudi_reference.errors import HudiError

#: What an input may cost beside what its size explains, in bytes: libraries that load, pools that grow by steps.
CONSTANT = 64 << 20
#: CPU seconds for one input of at most 64 KiB; by far more than any needs.
SECONDS = 5.0

# A library that panics is asked not to look up names for its backtrace, for which it takes far more memory than for the input.
os.environ["RUST_BACKTRACE"] = "0"

#: Linux forgets the peak when asked; elsewhere only what goes beyond the greatest peak so far is seen.
_CLEAR = Path("/proc/self/clear_refs")


class Broken(Exception):
    """An input broke a property."""


@dataclass(frozen=True)
class Limits:
    """The memory that an input may take: `CONSTANT` and `factor` times its size. Compressed inputs have a greater factor."""

    factor: int = 1000

    def memory(self, size: int) -> int:
        """In bytes."""
        return CONSTANT + self.factor * size


def require(holds: object, what: str) -> None:
    """Raise Broken unless it holds."""
    if not holds:
        raise Broken(what)


def guarded(decode: Callable[[bytes], object], data: bytes, limits: Limits) -> None:
    """Decode, and raise Broken where memory or time exceed the limits, or an error says too little.

    Anything that is no HudiError comes out as it is.
    """
    resident, started = _reset_peak(), time.process_time()
    try:
        decode(data)
    except HudiError as error:
        require(error.rule and error.message, f"an error that names no rule: {error!r}")
        require(error.path is not None, f"an error that names no file: {error!r}")
        str(error)
    spent, grown = time.process_time() - started, _peak() - resident
    require(spent <= SECONDS, f"{spent:.1f} seconds for {len(data)} bytes")
    require(grown <= limits.memory(len(data)), f"{grown} bytes of memory for {len(data)} bytes of input")


def forgets_peaks() -> bool:
    """Whether the kernel forgets the peak of memory when asked, so that each input is measured alone."""
    return _CLEAR.exists()


def _reset_peak() -> int:
    """Make the kernel forget the peak of resident memory; the peak from now on, in bytes."""
    if forgets_peaks():
        _CLEAR.write_text("5")
    return _peak()


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
