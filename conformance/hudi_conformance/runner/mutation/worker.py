"""A process that runs pytest again and again, each time in a child that has the libraries imported already.

A drawn mutant must be applied before the reference is imported, so that each mutant needs a process of its own; importing
pytest, Arrow and Hypothesis takes longer than most cases. Run as `python -m hudi_conformance.runner.mutation.worker`.
Each line of standard input is a `Request` as JSON, each line of standard output is the `Answer` to it.
"""

import importlib
import json
import os
import resource
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from typing import Any

import pytest

from hudi_conformance.cases.verdict import Outcome
from hudi_conformance.processes.supervised import Supervised
from hudi_conformance.report.evidence.evidence import ROOT

#: What is imported before children are forked. Nothing here imports the reference.
PRELOADED = ("pyarrow.compute", "pyarrow.parquet", "hypothesis.strategies", "jsonschema", "rich.table", "fastavro")
#: What a child needs because of them: pytest warns of imported modules whose assertions it cannot rewrite.
QUIET = ("-W", "ignore::pytest.PytestAssertRewriteWarning")
#: Seconds between two looks at a child.
POLL = 0.01


@dataclass(frozen=True)
class Request:
    """A run of pytest, with limits of its processor time and of its duration in seconds.

    With `stop_early` it ends at the first case that fails.
    """

    arguments: list[str]
    cpu_seconds: float
    seconds: float
    stop_early: bool


@dataclass(frozen=True)
class Answer:
    """How a run ended: the exit status of the process, negative if a signal ended it, and the cases that failed.

    `failed` are the ids of the cases, `nodes` are their tests as pytest names them.

    `exit` is None if the run took too long. `output` is the end of what pytest printed, if the run ended neither with passed
    nor with failed cases.
    """

    exit: int | None
    failed: Sequence[str] = ()
    nodes: Sequence[str] = ()
    output: str = ""

    @property
    def ended_by_limit(self) -> bool:
        """Whether the run needed more time than it may."""
        return self.exit is None or self.exit == -signal.SIGXCPU


class Failures:
    """A plugin of pytest that writes the id of each case that the engine fails or refuses to a pipe."""

    def __init__(self, pipe: int, *, stop_early: bool) -> None:
        self.pipe, self.stop_early = pipe, stop_early

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Write the id if this is the report of such a case. A refusal is no failure for pytest."""
        found = getattr(report, "hudi_result", None)
        if found is None and not report.failed:
            return
        outcome = Outcome(found["outcome"]) if found else Outcome.ERROR
        if outcome.is_failure or outcome is Outcome.REFUSED:
            line = json.dumps([found["case"] if found else report.nodeid, report.nodeid])
            os.write(self.pipe, line.encode() + b"\n")
            if self.stop_early:
                raise pytest.exit.Exception("a case failed", returncode=pytest.ExitCode.TESTS_FAILED)


def main() -> None:
    """Answer requests until standard input ends."""
    for name in PRELOADED:
        importlib.import_module(name)
    if loaded := [name for name in sys.modules if name.startswith("hudi_reference")]:
        raise ImportError(f"a mutant cannot be applied to {loaded[0]}, which is imported already")
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        answers.write(json.dumps(asdict(_run(Request(**json.loads(line))))) + "\n")
        answers.flush()


def _run(request: Request) -> Answer:
    with _temporary_file() as output:
        received, pipe = os.pipe()
        child = os.fork()
        if child == 0:
            _run_in_child(request, output, pipe)
        os.close(pipe)
        exit_ = _wait_for(child, request.seconds)
        with os.fdopen(received, "rb") as file:
            found = [json.loads(line) for line in file.read().splitlines()]
        failed, nodes = [case for case, _ in found], [node for _, node in found]
        if exit_ == 0 or failed:
            return Answer(exit_, failed, nodes)
        os.lseek(output, 0, os.SEEK_SET)
        return Answer(exit_, failed, nodes, os.read(output, 1 << 20).decode(errors="replace")[-3000:])


@contextmanager
def _temporary_file() -> Iterator[int]:
    import tempfile

    with tempfile.TemporaryFile() as file:
        yield file.fileno()


def _run_in_child(request: Request, output: int, pipe: int) -> None:
    """Run pytest and end this process."""
    status = 1
    try:
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDONLY)
        for target, source in ((0, nothing), (1, output), (2, output)):
            os.dup2(source, target)
        limit = int(time.process_time() + request.cpu_seconds) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
        status = pytest.main([*QUIET, *request.arguments], plugins=[Failures(pipe, stop_early=request.stop_early)])
        sys.stdout.flush()
    except BaseException:
        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(status)


def _wait_for(child: int, seconds: float) -> int | None:
    """The exit status of a child; None if it did not end in time. Its session is killed in any case."""
    end = time.monotonic() + seconds
    try:
        while time.monotonic() < end:
            pid, status = os.waitpid(child, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
            time.sleep(POLL)
    finally:
        with suppress(OSError):
            os.killpg(child, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(child, 0)
    return None


class Worker:
    """The other side: a supervised process of this kind. It is used by one thread at a time."""

    def __init__(self) -> None:
        environment = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        command = [sys.executable, "-m", "hudi_conformance.runner.mutation.worker"]
        self._process = Supervised(command, cwd=ROOT, env=environment, **pipes)
        assert self._process.stdin is not None and self._process.stdout is not None
        self._requests, self._answers = self._process.stdin, self._process.stdout

    def run(self, arguments: Sequence[str], *, cpu_seconds: float, seconds: float, stop_early: bool = True) -> Answer:
        """Run pytest once.

        Raises:
            EOFError: the process has ended.
        """
        request = Request(list(arguments), cpu_seconds, seconds, stop_early)
        self._requests.write(json.dumps(asdict(request)) + "\n")
        self._requests.flush()
        if not (line := self._answers.readline()):
            raise EOFError("the process that runs pytest has ended")
        answer = json.loads(line)
        return Answer(**{**answer, "failed": tuple(answer["failed"]), "nodes": tuple(answer["nodes"])})

    def close(self) -> None:
        """End the process and the run in it."""
        self._process.kill()
        for stream in (self._requests, self._answers):
            stream.close()


if __name__ == "__main__":
    main()
