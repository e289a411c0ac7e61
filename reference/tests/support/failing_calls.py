"""System calls of which one fails."""

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from hudi_reference.storage import SystemCalls

ERRORS = (errno.ENOSPC, errno.EACCES, errno.EIO, errno.EMFILE, errno.EINTR, errno.ENAMETOOLONG, errno.EROFS, errno.EDQUOT)
#: Calls that change something, or make a change durable.
CHANGES = frozenset({"create_file", "write", "sync", "make_folder", "remove_folder", "link", "rename", "remove", "lock"})


class Failing(SystemCalls):
    """System calls of which one fails: the one with the number `at`."""

    def __init__(self, at: int = 0, error: int = errno.EIO) -> None:
        self.at, self.error, self.made = at, error, []

    def __getattribute__(self, name: str):
        found = super().__getattribute__(name)
        if name in vars(SystemCalls) and not name.startswith("_"):
            self.made.append(name)
            if len(self.made) == self.at:
                return self.fail if name != "close" else self.fail_to_close
        return found

    def sync(self, descriptor: int) -> None:
        """Nothing: the tests have no power loss."""

    def fail_to_close(self, descriptor: int) -> None:
        """The system closes a file also if it reports an error."""
        os.close(descriptor)
        self.fail()

    def fail(self, *_: object, **__: object) -> None:
        raise OSError(self.error, "injected")


def copies_with_faults(
    start: Path, work: Path, made: list[str], chosen: Callable[[int, str], bool]
) -> Iterator[tuple[Path, Failing]]:
    """A copy of the folder `start` for each call that is chosen by its number and name, and what fails there.

    The errors come in turn. A copy is deleted before the next one is made.
    """
    numbers = [call for call, kind in enumerate(made, 1) if chosen(call, kind)]
    for turn, call in enumerate(numbers):
        folder = work / f"{call}"
        shutil.copytree(start, folder)
        yield folder, Failing(call, ERRORS[turn % len(ERRORS)])
        shutil.rmtree(folder)
