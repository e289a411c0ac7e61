"""A bound of the memory of a command that reads a table in its own process."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hudi_reference.limits import MEMORY_VARIABLE, number_in

#: Where Linux says how many bytes a container may have; a text instead of a number means no bound.
_OF_CONTAINER = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


@contextmanager
def bounded_memory() -> Iterator[None]:
    """Let this process take no more memory than the machine has free, or than the variable says.

    A small file may decode to more than there is: Parquet and ORC repeat a text by its number in a dictionary. Without a bound
    the system ends this process or another one. With it the allocation fails, and the error names the file. Child processes
    inherit the bound, so it is not for commands that start a JVM. Systems without `/proc` have no bound.
    """
    taken, free = _bytes_of("/proc/self/status", "VmData"), _free_bytes()
    if taken is None or free is None:
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = taken + number_in(MEMORY_VARIABLE, free)
    resource.setrlimit(resource.RLIMIT_DATA, (min([most, *(n for n in (soft, hard) if n != resource.RLIM_INFINITY)]), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _free_bytes() -> int | None:
    """The memory that the machine has free, and at most that of the container; None if the system does not tell."""
    free = _bytes_of("/proc/meminfo", "MemAvailable")
    bounds = [path.read_text().strip() for path in _OF_CONTAINER if path.is_file()]
    return None if free is None else min([free, *(int(bound) for bound in bounds if bound.isdigit())])


def _bytes_of(file: str, name: str) -> int | None:
    """A size in a file of lines like `VmData:  1024 kB`."""
    path = Path(file)
    lines = path.read_text().splitlines() if path.is_file() else []
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith(f"{name}:")), None)
