"""An engine as a process: JSON lines over its standard streams, with time limits and no survivors."""

import json
import os
import selectors
import shlex
import signal
import subprocess
import tempfile
import time
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from hudi_conformance.contract.errors import EngineCrash, EngineTimeout, ProtocolFault

#: Seconds that a process has to end by itself after `bye`.
GRACE = 10.0
#: Longest line that is taken for an answer, in bytes.
LINE_LIMIT = 256 * 1024 * 1024
#: A dead process may leave children that hold its pipes open, so its end is looked for this often, in seconds.
_LOOK_UP = 0.25


class ProcessTransport:
    """One process and the dialogue with it.

    The process leads a process group of its own: killing the group ends its children (a JVM) too. Its standard error
    goes to an unnamed file, of which errors quote the end.
    """

    def __init__(self, argv: Sequence[str], env: Mapping[str, str] | None = None) -> None:
        self._command = shlex.join(argv)
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115  closed by close()
        try:
            self._process = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                bufsize=0,
                env=None if env is None else dict(env),
                start_new_session=True,
            )
        except OSError as e:
            self._stderr.close()
            raise EngineCrash(f"the engine could not be started: {self._command}: {e}") from e
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin, self._process.stdout
        os.set_blocking(self._in.fileno(), False)
        os.set_blocking(self._out.fileno(), False)
        self._buffer = bytearray()
        self._last_words = ""
        self._kill = weakref.finalize(self, _kill_group, self._process)

    @property
    def pid(self) -> int:
        """Process id, which is also the id of the process group."""
        return self._process.pid

    def ask(self, message: Mapping[str, Any], timeout: float) -> Any:
        """The JSON value of the one line that answers `message`.

        Raises ProtocolFault, EngineCrash or EngineTimeout; after any of them the process is dead.
        """
        deadline = time.monotonic() + timeout
        try:
            self._must_be_silent(message["op"])
            self._send(message, deadline)
            return self._parse(self._line(message["op"], deadline))
        except _TooLate:
            self.close(grace=0)
            raise EngineTimeout(
                f"no answer to {message['op']} within {timeout:g} s; the process was killed{self._said()}"
            ) from None
        except BaseException:
            self.close(grace=0)
            raise

    def close(self, grace: float = GRACE) -> bool:
        """Say `bye`, wait `grace` seconds, kill what is left; whether the process ended by itself in time."""
        if not self._kill.alive:
            return True
        if grace > 0:
            with suppress(OSError, _TooLate, EngineCrash):
                self._send({"op": "bye"}, time.monotonic() + grace)
            self._in.close()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(grace)
        by_itself = self._process.poll() is not None
        self._last_words = self._tail()
        self._kill()
        self._stderr.close()
        return by_itself

    def _must_be_silent(self, op: str) -> None:
        """Whatever lies in the pipe before the message is sent can't be its answer."""
        with suppress(BlockingIOError):
            self._buffer += os.read(self._out.fileno(), 65536)
        if self._buffer:
            raise ProtocolFault(f"output before {op} was asked: {_quote(self._buffer)}\n{_CURE}{self._said()}")

    def _send(self, message: Mapping[str, Any], deadline: float) -> None:
        rest = memoryview(json.dumps(message, allow_nan=False).encode() + b"\n")
        while rest:
            self._wait(self._in.fileno(), selectors.EVENT_WRITE, message["op"], deadline)
            try:
                rest = rest[os.write(self._in.fileno(), rest) :]
            except BrokenPipeError:
                raise self._death(message["op"]) from None

    def _line(self, op: str, deadline: float) -> bytes:
        while b"\n" not in self._buffer:
            if len(self._buffer) > LINE_LIMIT:
                raise ProtocolFault(f"an answer longer than {LINE_LIMIT} bytes without the end of its line")
            self._wait(self._out.fileno(), selectors.EVENT_READ, op, deadline)
            chunk = os.read(self._out.fileno(), 1 << 20)
            if not chunk:
                raise self._death(op)
            self._buffer += chunk
        line, _, rest = bytes(self._buffer).partition(b"\n")
        self._buffer[:] = rest
        return line

    def _wait(self, fd: int, event: int, op: str, deadline: float) -> None:
        """Return when `fd` is ready; raise when time is up or the process is gone."""
        with selectors.DefaultSelector() as selector:
            selector.register(fd, event)
            while True:
                gone = self._process.poll() is not None
                left = deadline - time.monotonic()
                if selector.select(0 if gone else min(_LOOK_UP, max(left, 0))):
                    return
                if gone:
                    raise self._death(op)
                if left <= 0:
                    raise _TooLate

    def _parse(self, line: bytes) -> Any:
        try:
            return json.loads(line)
        except ValueError:  # JSON and UTF-8 alike
            raise ProtocolFault(f"output that is no JSON line: {_quote(line)}\n{_CURE}{self._said()}") from None

    def _death(self, op: str) -> EngineCrash:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(1)  # standard output closes a moment before the process ends
        status = self._process.poll()
        return EngineCrash(
            f"the process {_end(status)} before it answered {op}{self._said()}", status=status, stderr=self._tail()
        )

    def _said(self) -> str:
        """The end of standard error, ready to follow a message."""
        words = self._tail()
        return f"\nlast lines of its standard error:\n{words}" if words else ""

    def _tail(self, lines: int = 20) -> str:
        """Read without moving the file's position, which the process shares."""
        if self._stderr.closed:
            return self._last_words
        fd = self._stderr.fileno()
        text = os.pread(fd, 8192, max(0, os.fstat(fd).st_size - 8192)).decode(errors="replace")
        return "\n".join(text.splitlines()[-lines:])


class _TooLate(Exception):
    """The time limit of the message at hand."""


_CURE = "standard output belongs to the protocol: send whatever is printed to standard error"


def _quote(data: bytes | bytearray) -> str:
    return repr(bytes(data[:200]).decode(errors="replace"))


def _end(status: int | None) -> str:
    if status is None:
        return "closed its standard output"
    if status >= 0:
        return f"ended with exit status {status}"
    try:
        return f"was killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"was killed by signal {-status}"


def _kill_group(process: "subprocess.Popen[bytes]") -> None:
    """End the process and its children, and reap it. The group may outlive its leader."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with suppress(OSError):
                stream.close()
    process.wait()
