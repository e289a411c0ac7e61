"""The session of a command: signals that end it, and one folder for all temporary files of it and its children.

The tables of a run of the suite are in a second folder, in memory if there is room.

The folder holds a locked file while the command runs. A folder whose lock is free belongs to a command that was killed; the
next command deletes it. SIGTERM and SIGHUP end a command as Ctrl-C does, so that every `finally` runs.
"""

import fcntl
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from types import FrameType

#: The start of the names of these folders. It is short, because paths of sockets below it are limited to 104 bytes.
PREFIX = "hudicf-"
_LOCK = ".lock"
#: Seconds after which a folder without a lock file is deleted: its command was killed before it made the file.
OLD = 3600
#: Seconds that a command has to end after SIGTERM or SIGHUP; then the operating system ends it, and supervisors its children.
CLOSING = 20
#: The variable with the folder for temporary files that outlive the command, in its child processes.
_LASTING = "HUDI_CONFORMANCE_LASTING_TMPDIR"
#: The folder that Linux keeps in memory: a file is created there in a tenth of the time that a disk takes.
MEMORY = Path("/dev/shm")
#: Bytes that must be free in that folder and in memory. A run of the whole suite uses less than a fourth of them.
FREE_MEMORY = 2 << 30
_PR_SET_PDEATHSIG = 1


class Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP. It ends what Ctrl-C ends, a pytest session as well."""


@contextmanager
def command_session() -> Iterator[None]:
    """Run a command: temporary files go to a folder of its own, which is deleted at the end; SIGTERM and SIGHUP end it.

    After such a signal the process ends by the same signal, so that its parent sees it.
    """
    if _LASTING in os.environ:  # a command inside a command
        yield
        return
    received: list[int] = []
    try:
        with _signals(received), _temporary_folder(Path(tempfile.gettempdir())):
            yield
    finally:  # also if the command made an exit code of the signal
        if received:
            signal.signal(received[0], signal.SIG_DFL)
            os.kill(os.getpid(), received[0])


@contextmanager
def _signals(received: list[int]) -> Iterator[None]:
    """Raise Terminated at the first of these signals, and note it; a signal that is ignored (nohup) stays so."""

    def end(number: int, frame: FrameType | None) -> None:
        received.append(number)
        if len(received) == 1:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(CLOSING)
            raise Terminated

    numbers = [signal.SIGTERM, signal.SIGHUP] if threading.current_thread() is threading.main_thread() else []
    before = {number: signal.signal(number, end) for number in numbers if signal.getsignal(number) is not signal.SIG_IGN}
    try:
        yield
    except KeyboardInterrupt:
        if not received:
            raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if received:
            signal.alarm(0)


@contextmanager
def _temporary_folder(home: Path) -> Iterator[None]:
    """Let temporary files of this process and its children be in one folder below `home`, and delete it at the end."""
    usual, variables = tempfile.tempdir, {name: os.environ.get(name) for name in ("TMPDIR", _LASTING)}
    sweep(home)
    folder, lock = _make(home)
    tempfile.tempdir = os.environ["TMPDIR"] = str(folder)
    os.environ.setdefault(_LASTING, str(home))
    try:
        yield
    finally:
        tempfile.tempdir = usual
        for name, value in variables.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
        _run_finalizers_of_multiprocessing()
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


@contextmanager
def files_in_memory() -> Iterator[None]:
    """Let the temporary files of a block be in memory if there is room: those of many small tables that need not last."""
    home = memory_folder()
    with nullcontext() if home is None else _temporary_folder(home):
        yield


def memory_folder() -> Path | None:
    """The folder that Linux keeps in memory, if temporary files of a run can be there.

    None if it is missing or too small, if memory is short, if no program may be loaded from it (libraries of JVM engines unpack
    theirs into a temporary folder), or if the user has chosen another folder than /tmp by TMPDIR.
    """
    try:
        found = os.statvfs(MEMORY)
        text = Path("/proc/meminfo").read_text(encoding="ascii")
    except OSError:
        return None
    available = next((int(line.split()[1]) << 10 for line in text.splitlines() if line.startswith("MemAvailable:")), 0)
    has_room = min(found.f_bavail * found.f_frsize, available) >= FREE_MEMORY
    may_load = not found.f_flag & os.ST_NOEXEC and os.access(MEMORY, os.W_OK | os.X_OK)
    return MEMORY if has_room and may_load and str(lasting_folder()) == "/tmp" else None


def _run_finalizers_of_multiprocessing() -> None:
    """Let multiprocessing delete its folder in ours now: when Python ends it would print that the folder is missing."""
    if (util := sys.modules.get("multiprocessing.util")) is not None:
        util._run_finalizers()


def lasting_folder() -> Path:
    """The folder for temporary files that outlive the command."""
    return Path(os.environ.get(_LASTING) or tempfile.gettempdir())


def _make(home: Path) -> tuple[Path, int]:
    """A new folder and its lock; tried again if another command swept it before it was locked."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=home))
        with suppress(FileNotFoundError):
            lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if (folder / _LOCK).exists():
                return folder, lock
            os.close(lock)


def sweep(home: Path) -> None:
    """Delete the folders of commands of this user that were killed."""
    with suppress(OSError), os.scandir(home) as entries:
        for entry in entries:
            if entry.name.startswith(PREFIX) and entry.is_dir(follow_symlinks=False):
                with suppress(OSError):
                    _sweep_one(entry)


def _sweep_one(entry: "os.DirEntry[str]") -> None:
    found = entry.stat(follow_symlinks=False)
    if found.st_uid != os.getuid():
        return
    try:
        lock = os.open(Path(entry.path, _LOCK), os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:
        if time.time() - found.st_mtime > OLD:
            shutil.rmtree(entry.path, ignore_errors=True)
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(entry.path, ignore_errors=True)
    finally:
        os.close(lock)


def end_with_parent() -> None:
    """Let the operating system kill this process when its parent ends. Only Linux can do it; elsewhere nothing changes.

    For workers that the command starts itself and that may be busy when it ends.
    """
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
