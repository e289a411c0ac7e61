"""Faults of a local file system as errors of the reference, with path and operation."""

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from hudi_reference.errors import (
    AccessDenied,
    NameNotStorable,
    OutcomeUnknown,
    StorageFault,
    StorageFull,
    StorageUnavailable,
    SymbolicLinkInTable,
)
from hudi_reference.limits import MORE_MEMORY


class _Fault(NamedTuple):
    """The class of an error, and what the user can do."""

    kind: type[StorageFault]
    remedy: str


_RETRY = "nothing was changed; try again"
_FAULTS = {
    **dict.fromkeys(
        (errno.EACCES, errno.EPERM, errno.EROFS),
        _Fault(
            AccessDenied,
            "nothing was changed; check owner and permissions; a change needs a writable disk with hard links",
        ),
    ),
    **dict.fromkeys(
        (errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK),
        _Fault(StorageUnavailable, "nothing was changed; use a file system that has hard links"),
    ),
    **dict.fromkeys(
        (errno.ENOSPC, errno.EDQUOT, errno.EFBIG), _Fault(StorageFull, "nothing was changed; free some space, then try again")
    ),
    **dict.fromkeys(
        (errno.EMFILE, errno.ENFILE),
        _Fault(StorageUnavailable, "nothing was changed; raise the limit of open files (ulimit -n)"),
    ),
    errno.ENOMEM: _Fault(StorageUnavailable, f"read fewer columns or partitions, or let the process have more ({MORE_MEMORY})"),
    **dict.fromkeys(
        (errno.ENAMETOOLONG, errno.EINVAL, errno.EILSEQ, errno.ENOTDIR, errno.EISDIR),
        _Fault(NameNotStorable, "nothing was changed; use another name for the partition or the file"),
    ),
}
#: Errors of the system that libraries report for a file that may be undamaged.
_READ_FAULTS = (errno.EIO, errno.EACCES, errno.EPERM, errno.EMFILE, errno.ENFILE, errno.ESTALE, errno.ENOMEM)
_OTHER = _Fault(StorageUnavailable, _RETRY)


def reason_of(error: OSError | UnicodeEncodeError) -> str:
    """The text of the operating system, as `No space left on device (ENOSPC)`."""
    if isinstance(error, UnicodeEncodeError):
        return str(error)
    number = error.errno or 0
    return f"{os.strerror(number)} ({errno.errorcode.get(number, number)})" if number else str(error)


@contextmanager
def translated(operation: str, path: str, *, is_change: bool = False) -> Iterator[None]:
    """Translate the errors of a block. A missing object stays FileNotFoundError, as the protocol of storage has it.

    In a change a missing file is a fault like others: another process removed it meanwhile.
    """
    try:
        yield
    except (OSError, UnicodeEncodeError) as error:
        if isinstance(error, FileNotFoundError) and not is_change:
            raise
        raise fault_of(operation, path, error) from error


def fault_of(operation: str, path: str, error: OSError | UnicodeEncodeError) -> StorageFault:
    """The error of the reference for an operation that had no effect."""
    number = errno.EILSEQ if isinstance(error, UnicodeEncodeError) else error.errno
    kind, remedy = _FAULTS.get(number or 0, _OTHER)
    return kind(f"the file system did not {operation}", path=path, found=reason_of(error), remedy=remedy)


def memory_used_up(path: str) -> StorageFault:
    """The error of the reference for a file, or a part of a table, that needs more memory than the process may have."""
    return fault_of("read the file", path, OSError(errno.ENOMEM, os.strerror(errno.ENOMEM)))


def check_fault(path: str, error: Exception) -> None:
    """Raise the error of the reference if a library could not read an opened file: then its content need not be damaged."""
    if isinstance(error, MemoryError):
        raise memory_used_up(path) from error
    if isinstance(error, OSError):
        said = re.search(r"\[errno (\d+)\]", str(error), re.IGNORECASE)  # Arrow's ORC reader has the number in the text alone
        number = error.errno or (int(said[1]) if said else 0)
        if number in _READ_FAULTS:
            raise fault_of("read the file", path, OSError(number, os.strerror(number))) from error


def outcome_unknown(path: str, what: str, error: OSError) -> OutcomeUnknown:
    """The error for a change whose effect, or whose place on the disk, is not known."""
    return OutcomeUnknown(
        f"it is unknown whether {what}", rule="S3-006", path=path, expected="an answer", found=reason_of(error),
        remedy="check the timeline before you repeat the write; it may be complete",
    )  # fmt: skip


def link_in_table(path: str) -> SymbolicLinkInTable:
    """The error for the symbolic link at `path`, relative to the base path."""
    return SymbolicLinkInTable(
        "symbolic links inside the table are not followed", rule="LAY-005", path=path,
        expected="folders and ordinary files below the base path", found="a symbolic link",
        remedy="remove the link, or replace it by its target",
    )  # fmt: skip
