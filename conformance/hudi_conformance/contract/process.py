"""An engine as a process: JSON lines over its standard streams, with time limits; child processes are killed too."""

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

from hudi_conformance.contract.errors import FLUSH, BufferedAnswer, EngineCrash, EngineTimeout, ProtocolFault
from hudi_conformance.contract.text import escape_controls
from hudi_conformance.processes.supervised import Supervised
from hudi_reference.limits import Limit

#: Seconds that a process has to exit by itself after `bye`.
GRACE = 10.0
#: The longest accepted answer. Rows are in files, so that answers are short.
JSON_LINE = Limit("JSON_LINE", "bytes in an answer of an adapter", 64 << 20)
#: The disk space that standard error may take.
STDERR_BYTES = Limit("STDERR_BYTES", "bytes of standard error of an adapter that are kept", 64 << 20)
#: Seconds that an adapter has to flush its output when its input ends, after a time-out.
_FLUSHING = 1.0
#: Seconds of silence after which a complete object without a newline is taken for the whole answer.
_NEWLINE = 5.0
#: Interval in seconds of the check for the exit of the process. Its pipes may stay open in child processes.
_LOOK_UP = 0.25


class ProcessTransport:
    """One process and the dialogue with it.

    Its supervisor kills the processes that it starts (a JVM) with it, also when this process is killed. Its standard error is
    written to an unnamed file, whose end errors quote.
    """

    def __init__(self, argv: Sequence[str], env: Mapping[str, str] | None = None) -> None:
        self._command = shlex.join(argv)
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115  closed by close()
        try:
            self._process = Supervised(
                argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                bufsize=0,
                env=None if env is None else dict(env),
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
        self._has_answered = False
        self._kill = weakref.finalize(self, _end_process, self._process)

    @property
    def pid(self) -> int:
        """Process id of the supervisor."""
        return self._process.pid

    def ask(self, message: Mapping[str, Any], timeout: float) -> Any:
        """The JSON value of the one line that answers `message`.

        Raises ProtocolFault, EngineCrash or EngineTimeout; after any of them the process is stopped.
        """
        deadline = time.monotonic() + timeout
        try:
            self._must_be_silent(message["op"])
            self._send(message, deadline)
            answer = self._parse(self._line(message["op"], deadline))
        except _TooLate:
            fault = self._unflushed(message["op"], timeout) or self._unfinished(message["op"])
            self.close(grace=0)
            raise fault or EngineTimeout(
                f"no answer to {message['op']} within {timeout:g} s; the process was killed{self._said()}"
            ) from None
        except BaseException:
            self.close(grace=0)
            raise
        self._has_answered = True
        return answer

    def close(self, grace: float = GRACE) -> bool:
        """Send `bye`, wait `grace` seconds, kill the remaining processes; whether the process exited by itself in time."""
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
        """Raise ProtocolFault for output that was sent before the message."""
        with suppress(BlockingIOError):
            self._buffer += os.read(self._out.fileno(), 65536)
        if self._buffer:
            raise ProtocolFault(f"output before the message {op} was sent: {_quote(self._buffer)}\n{_REMEDY}{self._said()}")

    def _send(self, message: Mapping[str, Any], deadline: float) -> None:
        rest = memoryview(json.dumps(message, allow_nan=False).encode() + b"\n")
        while rest:
            self._wait(self._in.fileno(), selectors.EVENT_WRITE, message["op"], deadline)
            if time.monotonic() > deadline:  # also if it reads, but slowly
                raise _TooLate
            try:
                rest = rest[os.write(self._in.fileno(), rest) :]
            except BrokenPipeError:
                raise self._crash(message["op"]) from None

    def _line(self, op: str, deadline: float) -> bytes:
        searched = 0
        while (end := self._buffer.find(b"\n", searched)) < 0:
            if len(self._buffer) > JSON_LINE.value:
                raise ProtocolFault(
                    f"a line longer than {JSON_LINE.value} bytes: {_quote(self._buffer)}",
                    f"send rows in files, or set {JSON_LINE.variable} to a greater number",
                )
            searched = len(self._buffer)
            self._wait_for_output(op, deadline)
            chunk = os.read(self._out.fileno(), 1 << 20)
            if not chunk:
                raise self._unfinished(op) or self._crash(op)
            self._buffer += chunk
            if time.monotonic() > deadline and b"\n" not in chunk:
                raise _TooLate
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return line

    def _wait_for_output(self, op: str, deadline: float) -> None:
        """Return when there is output; raise when the time is up, or earlier if only the newline of an answer is missing."""
        while True:
            try:
                return self._wait(self._out.fileno(), selectors.EVENT_READ, op, min(deadline, time.monotonic() + _NEWLINE))
            except _TooLate:
                if time.monotonic() >= deadline or _is_object(self._buffer):
                    raise

    def _unfinished(self, op: str) -> ProtocolFault | None:
        """The fault of an adapter whose answer is complete but for the newline."""
        if not _is_object(self._buffer):
            return None
        return ProtocolFault(
            f"the answer to {op} has no newline at its end: {_quote(self._buffer)}", "end each answer with a newline"
        )

    def _unflushed(self, op: str, timeout: float) -> ProtocolFault | EngineTimeout | None:
        """The error of an adapter whose answer comes only when its input ends: it buffers standard output.

        A slow engine may answer at the same moment. So this is certain for the first answer only, which is that to `hello`.
        """
        self._in.close()
        with suppress(_TooLate, EngineCrash, OSError):
            deadline, searched, most = time.monotonic() + _FLUSHING, 0, JSON_LINE.value
            while self._buffer.find(b"\n", searched) < 0 and len(self._buffer) < most and time.monotonic() < deadline:
                searched = len(self._buffer)
                self._wait(self._out.fileno(), selectors.EVENT_READ, op, deadline)
                if not (chunk := os.read(self._out.fileno(), 1 << 20)):
                    break
                self._buffer += chunk
        line, end, _ = self._buffer.partition(b"\n")
        if not end or not _is_object(line):
            return None
        if self._has_answered:
            return BufferedAnswer(
                f"no answer to {op} within {timeout:g} s; it came when standard input was closed: "
                f"the adapter probably buffers its output; {FLUSH}{self._said()}"
            )
        return ProtocolFault(
            f"the answer to {op} came only when standard input was closed: the adapter buffers its output", FLUSH
        )

    def _wait(self, fd: int, event: int, op: str, deadline: float) -> None:
        """Return when `fd` is ready; raise when the time is up or the process has exited."""
        with selectors.DefaultSelector() as selector:
            selector.register(fd, event)
            while True:
                gone = self._process.poll() is not None
                self._limit_stderr()
                left = deadline - time.monotonic()
                if selector.select(0 if gone else min(_LOOK_UP, max(left, 0))):
                    return
                if gone:
                    raise self._crash(op)
                if left <= 0:
                    raise _TooLate

    def _parse(self, line: bytes) -> Any:
        try:
            return json.loads(line)
        except RecursionError:
            raise ProtocolFault(f"an answer that is nested too deeply: {_quote(line)}{self._said()}") from None
        except ValueError:  # JSON and UTF-8 alike
            raise ProtocolFault(f"output that is not a JSON line: {_quote(line)}\n{_REMEDY}{self._said()}") from None

    def _crash(self, op: str) -> EngineCrash:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(1)  # standard output is closed shortly before the process exits
        status = self._process.poll()
        return EngineCrash(
            f"the process {_end(status)} before it answered {op}{self._said()}", status=status, stderr=self._tail()
        )

    def _limit_stderr(self) -> None:
        """Give back the blocks of a long standard error. The process writes on behind the hole, so that the end is kept."""
        fd = self._stderr.fileno()
        if os.fstat(fd).st_blocks * 512 > STDERR_BYTES.value:
            os.ftruncate(fd, 0)

    def _said(self) -> str:
        """The end of standard error, as the last lines of a message."""
        words = self._tail()
        return f"\nlast lines of its standard error:\n{words}" if words else ""

    def _tail(self, lines: int = 20) -> str:
        """Read without a change of the file position, which the process shares."""
        if self._stderr.closed:
            return self._last_words
        fd = self._stderr.fileno()
        text = os.pread(fd, 8192, max(0, os.fstat(fd).st_size - 8192)).decode(errors="replace")
        return escape_controls("\n".join(text.splitlines()[-lines:]))


class _TooLate(Exception):
    """The time limit of one message."""


_REMEDY = "standard output is reserved for the protocol; print to standard error"


def _quote(data: bytes | bytearray) -> str:
    return repr(bytes(data[:200]).decode(errors="replace"))


def _is_object(data: bytes | bytearray) -> bool:
    """Whether the bytes are a JSON object. Long ones are not parsed."""
    try:
        return len(data) < 1 << 20 and isinstance(json.loads(data), dict)
    except (ValueError, RecursionError):
        return False


def _end(status: int | None) -> str:
    if status is None:
        return "closed its standard output"
    if status >= 0:
        return f"exited with status {status}"
    try:
        return f"was killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"was killed by signal {-status}"


def _end_process(process: Supervised) -> None:
    """Kill the process and everything it started, and reap it."""
    process.kill()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with suppress(OSError):
                stream.close()
