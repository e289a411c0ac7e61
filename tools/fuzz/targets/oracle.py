"""Properties of every decoder for every input: typed errors only, bounded memory, bounded time."""

import os
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hudi_reference.errors import HudiError

#: Bytes that an input may use in addition to a multiple of its size: libraries are loaded, memory pools grow in steps.
CONSTANT = 64 << 20
#: CPU seconds for one input of at most 64 KiB; far more than any input needs.
SECONDS = 5.0

# Libraries in Rust print no backtrace after a panic, because resolving its names uses far more memory than the input.
os.environ["RUST_BACKTRACE"] = "0"

#: Linux can reset the peak of memory; elsewhere only growth beyond the largest peak so far is measured.
_CLEAR = Path("/proc/self/clear_refs")


class Broken(Exception):
    """A property does not hold for an input."""


@dataclass(frozen=True)
class Limits:
    """The memory that an input may take: `CONSTANT` and `factor` times its size. Compressed inputs have a greater factor."""

    factor: int = 1000

    def memory(self, size: int) -> int:
        """In bytes."""
        return CONSTANT + self.factor * size


def require(holds: object, what: str) -> None:
    """Raise Broken if the property does not hold."""
    if not holds:
        raise Broken(what)


def decode_within_limits(decode: Callable[[bytes], object], data: bytes, limits: Limits) -> None:
    """Decode, and raise Broken if memory or time exceed the limits, or if an error does not name rule and file.

    Exceptions other than HudiError are not caught.
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


def reset_peak_memory() -> bool:
    """Whether the kernel can reset the peak of memory, so that each input is measured on its own."""
    return _CLEAR.exists()


def _reset_peak() -> int:
    """Reset the peak of resident memory; return the peak after that, in bytes."""
    if reset_peak_memory():
        _CLEAR.write_text("5")
    return _peak()


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
