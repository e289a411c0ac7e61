"""Which cases execute which lines of the reference: recorded once, so that a mutant is judged by these cases only."""

import json
import os
import time
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

import pytest
from coverage import Coverage, CoverageData

from hudi_conformance.mutants.drawn.draw import reference_folder

#: Suffix of the files with the seconds that each case took; one file for each process.
SECONDS = ".seconds.json"
#: Seconds that a test costs beside its run.
START_OF_TEST = 0.02


class LineRecorder:
    """A plugin of pytest that records the lines of the reference that each test executes, and the time it takes.

    Lines that are executed when a module is imported belong to no test.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.coverage = Coverage(
            data_file=str(folder / f"lines.{os.getpid()}"),
            config_file=False,
            include=[f"{reference_folder()}/*"],
            concurrency=["thread", "greenlet"],
        )
        self.seconds: dict[str, float] = {}
        self.coverage.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Lines from here on belong to this test."""
        self.coverage.switch_context(item.nodeid)
        before = time.process_time()
        try:
            return (yield)
        finally:
            self.seconds[item.nodeid] = time.process_time() - before

    def pytest_sessionfinish(self) -> None:
        """Write what this process has recorded."""
        self.coverage.stop()
        self.coverage.save()
        text = json.dumps(self.seconds)
        (self.folder / f"{os.getpid()}{SECONDS}").write_text(text, encoding="utf-8")


@dataclass(frozen=True)
class RecordedLines:
    """The tests, by their node ids, of each line (path relative to the reference, number from 1), and their CPU seconds."""

    tests: dict[tuple[str, int], frozenset[str]]
    seconds: dict[str, float]

    def tests_of(self, path: str, *lines: int) -> tuple[str, ...]:
        """The tests that execute one of these lines, in the order of `_in_order`; all, if imports alone execute them."""
        found = frozenset[str]().union(*(self.tests.get((path, line), frozenset()) for line in lines))
        is_executed = any((path, line) in self.tests for line in lines)
        return self.all_tests(path) if is_executed and not found else self._in_order(path, found)

    def all_tests(self, path: str) -> tuple[str, ...]:
        """All tests: first those that execute any line of the file, in the order of `_in_order`, then the others."""
        first = self._in_order(path, frozenset(self._lines_by_test(path)))
        known = frozenset(first)
        return (*first, *sorted((t for t in self.seconds if t not in known), key=lambda t: self.seconds[t]))

    def _in_order(self, path: str, tests: frozenset[str]) -> tuple[str, ...]:
        """Short tests first, and first one of each set that execute the same lines of the file: the others add little."""
        same: dict[frozenset[int], list[str]] = {}
        lines = self._lines_by_test(path)
        for test in sorted(tests, key=lambda t: (self.seconds.get(t, 0.0), t)):
            same.setdefault(frozenset(lines[test]), []).append(test)
        costs = {
            test: (self.seconds.get(test, 0.0) + START_OF_TEST) * earlier
            for alike in same.values()
            for earlier, test in enumerate(alike, 1)
        }
        return tuple(sorted(costs, key=lambda t: (costs[t], t)))

    def _lines_by_test(self, path: str) -> dict[str, set[int]]:
        """The lines of a file that each test executes."""
        found: dict[str, set[int]] = {}
        for (file, line), tests in self.tests.items():
            for test in tests if file == path else ():
                found.setdefault(test, set()).add(line)
        return found


def read_recorded_lines(folder: Path) -> RecordedLines:
    """What the processes of one or several runs recorded in `folder` and the folders below it.

    Raises:
        FileNotFoundError: nothing was recorded there.
    """
    tests, seconds = dict[tuple[str, int], set[str]](), dict[str, float]()
    files = sorted(folder.rglob("lines.*"))
    if not files:
        raise FileNotFoundError(f"no recorded lines in {folder}")
    for file in files:
        data = CoverageData(str(file))
        data.read()
        for name in data.measured_files():
            path = Path(name).as_posix().rpartition(f"/{reference_folder().name}/")[2]  # of whichever checkout
            for line, contexts in data.contexts_by_lineno(name).items():
                tests.setdefault((path, line), set()).update(filter(None, contexts))
    for file in folder.rglob(f"*{SECONDS}"):
        seconds |= json.loads(file.read_text(encoding="utf-8"))
    return RecordedLines({place: frozenset(found) for place, found in tests.items()}, seconds)
