"""Child processes that end with everything they started: with their parent, when they are killed, and when they exit."""

import os
import signal
import subprocess
import sys
import weakref
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

SUPERVISOR = Path(__file__).with_name("supervisor.py")
#: Seconds that the supervisor has to end all processes.
ENDING = 15.0


class Supervised(subprocess.Popen[Any]):
    """A process below a supervisor, with the interface of `subprocess.Popen`.

    Its descendants end when it exits, when `kill` is called, when this object is collected, and when the process that
    started it ends in any way. `pid` is that of the supervisor, `returncode` is that of the program. Raises OSError if the
    program cannot be started.
    """

    def __init__(self, argv: Sequence[str | os.PathLike[str]], **options: Any) -> None:
        reading, life = os.pipe()
        received, status = os.pipe()
        #: Closes the pipe that the supervisor watches.
        self._end = weakref.finalize(self, os.close, life)
        try:
            command = [
                sys.executable,
                "-I",
                "-S",
                str(SUPERVISOR),
                str(reading),
                str(status),
                *(os.fspath(word) for word in argv),
            ]
            super().__init__(command, pass_fds=(reading, status), start_new_session=True, **options)
        except BaseException:
            self._end()
            os.close(received)
            raise
        finally:
            os.close(reading)
            os.close(status)
        with os.fdopen(received, "rb") as file:
            failed = file.read()
        if failed:
            self.kill()
            for stream in filter(None, (self.stdin, self.stdout, self.stderr)):
                stream.close()
            raise OSError(int(failed), os.strerror(int(failed)), os.fspath(argv[0]))

    def kill(self) -> None:
        """End the program and all its descendants, and wait for that."""
        self._end()
        try:
            self.wait(ENDING)
        except subprocess.TimeoutExpired:  # something has stopped the supervisor
            with suppress(OSError):
                os.killpg(self.pid, signal.SIGKILL)
            self.wait()

    terminate = kill

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None) -> None:
        """Wait for the program; after an error or a signal, end it."""
        if kind is not None:
            self.kill()
        super().__exit__(kind, value, traceback)


def run_supervised(argv: Sequence[str | os.PathLike[str]], *, timeout: float | None = None, **options: Any) -> Any:
    """`subprocess.run` of a supervised process, without a shell; standard input is empty unless `options` say otherwise.

    Returns the `subprocess.CompletedProcess`. Raises OSError, and subprocess.TimeoutExpired after `timeout` seconds; then
    nothing of the program runs.
    """
    text = options.pop("input", None)
    options.setdefault("stdin", subprocess.DEVNULL if text is None else subprocess.PIPE)
    with Supervised(argv, **options) as process:
        out, err = process.communicate(text, timeout)
        return subprocess.CompletedProcess(argv, process.returncode, out, err)
