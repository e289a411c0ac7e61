"""Judging drawn mutants: the cases that execute the changed line, up to the first that fails."""

import hashlib
import json
import os
import shutil
import time
from collections import deque
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from threading import Lock

import pytest

from hudi_conformance.mutants.drawn.draw import Change, DrawnMutant, reference_folder
from hudi_conformance.processes.cache import cache_folder
from hudi_conformance.report.evidence.evidence import ROOT
from hudi_conformance.runner.mutation.lines import START_OF_TEST, RecordedLines, read_recorded_lines
from hudi_conformance.runner.mutation.named import PLAIN, PLUGINS, TIME_LIMIT, SuiteError, run_pytest
from hudi_conformance.runner.mutation.worker import Answer, Worker

#: Seconds of the tests in the first batch, and how much longer each further batch is: most mutants are killed soon.
FIRST_BATCH, GROWTH = 2.0, 4.0
#: Tests that each process runs without a mutant first.
CONTROLS = 50
#: Limits of a run, because a mutant may make it hang: its processor time, in seconds and as a multiple of what the tests need
#: without a mutant, and its duration as a multiple of that.
EXTRA_SECONDS, CPU_FACTOR, WAITING_FACTOR = 10.0, 4.0, 4.0


@dataclass(frozen=True)
class Judgement:
    """What the suite says of a drawn mutant.

    `outcome` is `killed`, `survived` or `not executed` (no case executes the line); `killed_by` is the case, or how the run
    ended. `asked` counts the tests that were run, and `seconds` is how long that took.
    """

    name: str
    change: Change
    outcome: str
    killed_by: str
    asked: int
    seconds: float


@dataclass
class DrawnRun:
    """A run of drawn mutants: what is judged, and how many batches of tests each undecided mutant has passed, by its name."""

    seed: int
    judged: list[Judgement] = field(default_factory=list)
    passed: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class _Waiting:
    """A mutant that no case has killed yet, with the batches of tests, how many it has passed, and how long that took."""

    mutant: DrawnMutant
    batches: tuple[Sequence[str], ...]
    passed: int = 0
    seconds: float = 0.0


def judge_mutants(
    mutants: Sequence[DrawnMutant], lines: RecordedLines, run: DrawnRun, *, jobs: int, done: Callable[[Judgement | None], None]
) -> None:
    """Judge those of the mutants that are not judged in `run`, and note in it what is found.

    `done` is called after each batch of tests, with the judgement if there is one. Every mutant is run on its first batch
    before the next batches are run on those that survived it, so that an interrupted run has judged the mutants that are
    killed soon.

    Raises:
        SuiteError: pytest did not run.
    """
    known, lock = {j.name for j in run.judged}, Lock()
    new = [mutant for mutant in mutants if mutant.name not in known]
    new.sort(key=lambda mutant: run.passed.get(mutant.name, 0))
    waiting = deque(_Waiting(mutant, _batches(lines, mutant), run.passed.get(mutant.name, 0)) for mutant in new)

    def judge_waiting() -> None:
        worker = Worker()
        try:
            _check_control(lines, worker)
            while True:
                with lock:
                    if not waiting:
                        return
                    chosen = waiting.popleft()
                found = _run_batch(chosen, lines, worker)
                with lock:
                    if isinstance(found, _Waiting):
                        waiting.append(found)
                    done(_note(run, found))
        finally:
            worker.close()

    with ThreadPoolExecutor(jobs) as pool:
        for finished in [pool.submit(judge_waiting) for _ in range(jobs)]:
            finished.result()


def _note(run: DrawnRun, found: Judgement | _Waiting) -> Judgement | None:
    """Note in a run what a batch of tests has shown: the judgement, or that the mutant has passed it."""
    if isinstance(found, _Waiting):
        run.passed[found.mutant.name] = found.passed
        return None
    run.passed.pop(found.name, None)
    run.judged.append(found)
    return found


def _check_control(lines: RecordedLines, worker: Worker) -> None:
    """Without a mutant no case fails: otherwise every mutant would count as killed."""
    shortest = sorted(lines.seconds, key=lambda t: lines.seconds[t])[:CONTROLS]
    found = worker.run([*PLUGINS, *PLAIN, *map(_target, shortest)], cpu_seconds=TIME_LIMIT, seconds=TIME_LIMIT)
    if found.exit != 0:
        raise SuiteError(f"cases fail without a mutant: {found.failed}\n{found.output}")


def judge_mutant(mutant: DrawnMutant, lines: RecordedLines, worker: Worker) -> Judgement:
    """Run the tests that execute the line of the mutant, until one fails."""
    found: Judgement | _Waiting = _Waiting(mutant, _batches(lines, mutant))
    while isinstance(found, _Waiting):
        found = _run_batch(found, lines, worker)
    return found


def _run_batch(chosen: _Waiting, lines: RecordedLines, worker: Worker) -> Judgement | _Waiting:
    """Run the next batch of tests; the mutant waits on if all pass and there are more."""
    start, mutant, batches = time.monotonic(), chosen.mutant, chosen.batches
    if not batches:
        return Judgement(mutant.name, mutant.change, "not executed", "", 0, 0.0)
    batch = batches[chosen.passed]
    killer = _first_failure(mutant.name, batch, sum(lines.seconds.get(t, 1.0) for t in batch), worker)
    run, seconds = chosen.passed + 1, round(chosen.seconds + time.monotonic() - start, 1)
    if not killer and run < len(batches):
        return _Waiting(mutant, batches, run, seconds)
    asked = sum(map(len, batches[:run]))
    return Judgement(mutant.name, mutant.change, "killed" if killer else "survived", killer, asked, seconds)


def _batches(lines: RecordedLines, mutant: DrawnMutant) -> tuple[Sequence[str], ...]:
    """The tests that execute the line of the mutant, in batches that take longer and longer.

    A line that is executed when its module is imported is judged by all tests, those that execute functions of the file first.
    """
    batches: list[list[str]] = []
    limit = left = FIRST_BATCH
    site = mutant.site
    tests = lines.all_tests(mutant.path) if site.runs_on_import else lines.tests_of(mutant.path, site.line, site.statement)
    for test in tests:
        needed = lines.seconds.get(test, 1.0) + START_OF_TEST
        if not batches or needed > left:
            limit = left = FIRST_BATCH if not batches else limit * GROWTH
            batches.append([])
        batches[-1].append(test)
        left -= needed
    return tuple(batches)


def _first_failure(mutant: str, tests: Sequence[str], seconds: float, worker: Worker) -> str:
    """The first case that fails with the mutant, or how the run ended; empty if all pass. `seconds` is what they need.

    A test that fails is run alone once more: on a busy machine a test that waits may fail without a mutant.
    """
    while tests:
        found = _run_tests(mutant, tests, seconds, worker)
        if not found.failed:
            return _describe_end(mutant, found)
        failed = found.nodes[0]
        again = _run_tests(mutant, [failed], seconds, worker)
        if again.exit != 0 or failed not in tests:
            return found.failed[0]
        tests = [test for test in tests if test != failed]
    return ""


def _run_tests(mutant: str, tests: Sequence[str], seconds: float, worker: Worker) -> Answer:
    arguments = [*PLUGINS, *PLAIN, "--maxfail=1", f"--mutant={mutant}", *map(_target, tests)]
    cpu = EXTRA_SECONDS + CPU_FACTOR * seconds
    return worker.run(arguments, cpu_seconds=cpu, seconds=WAITING_FACTOR * cpu)


def _describe_end(mutant: str, found: Answer) -> str:
    """How a run ended in which no case failed; empty if all passed."""
    if found.ended_by_limit:
        return "time limit"
    if found.exit == pytest.ExitCode.USAGE_ERROR and "LookupError" in found.output:
        raise SuiteError(f"pytest did not run with {mutant}:\n{found.output}")
    return "" if found.exit == 0 else f"the run ended early, exit {found.exit}"


def _target(node: str) -> str:
    """What pytest takes for a node id: a golden case is named by its file."""
    return node.partition("::")[0] if "case.json::" in node else node


@cache
def folder_of_lines() -> Path:
    """Where the lines of the reference and the suite as they are now are recorded, or will be."""
    digest = hashlib.sha256()
    suite = ROOT / "conformance/hudi_conformance/suite"
    for file in [*sorted(reference_folder().rglob("*.py")), *sorted(suite.rglob("*.py")), ROOT / "fixtures/index.json"]:
        digest.update(file.relative_to(ROOT).as_posix().encode() + b"\0" + file.read_bytes())
    return cache_folder() / f"lines-{digest.hexdigest()[:12]}"


def load_lines(folder: Path) -> RecordedLines:
    """The recorded lines in `folder`. Chapters of the suite that are missing there are recorded first, one after the other.

    An interrupted recording is continued with the chapter that was not finished.

    Raises:
        SuiteError: the run that records a chapter failed.
    """
    golden = {file.parents[1] for file in (ROOT / "fixtures").glob("*/*/case.json")}
    programs = {file.parent for file in (ROOT / "conformance/hudi_conformance/suite").rglob("test_*.py")}
    for chapter in sorted(golden | programs):
        _record_chapter(chapter, folder / f"{chapter.parent.name}.{chapter.name}")
    return read_recorded_lines(folder)


def _record_chapter(chapter: Path, target: Path) -> None:
    """Record the lines that the cases in a folder execute; what an interrupted run has recorded is removed."""
    if target.is_dir():
        return
    unfinished = target.with_name(f"unfinished-{target.name}")
    shutil.rmtree(unfinished, ignore_errors=True)
    processes = ["-p", "no:randomly", "-n", str(os.cpu_count() or 1)]
    options = [f"--rootdir={ROOT}", f"--record-lines={unfinished}"]  # node ids begin at the checkout
    done = run_pytest([*processes, *PLAIN, *options, str(chapter.relative_to(ROOT))])
    if done.returncode != 0:
        raise SuiteError(f"the run that records the lines of {chapter.name} failed:\n{done.stdout[-3000:]}")
    unfinished.rename(target)


def save_run(path: Path, run: DrawnRun) -> None:
    """Write a run of drawn mutants as JSON, with the state of the sources that it judges."""
    mutants = [asdict(j) for j in sorted(run.judged, key=lambda j: (j.change.path, j.name))]
    found = {"seed": run.seed, "state": folder_of_lines().name, "mutants": mutants, "passed": run.passed}
    path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def load_run(path: Path, seed: int, names: Collection[str]) -> DrawnRun:
    """What an interrupted run with the same seed and the same sources has found about these mutants."""
    run = DrawnRun(seed)
    if not path.is_file():
        return run
    found = json.loads(path.read_text(encoding="utf-8"))
    if (found["seed"], found["state"]) == (seed, folder_of_lines().name):
        run.passed = {name: number for name, number in found["passed"].items() if name in names}
        mutants = [one for one in found["mutants"] if one["name"] in names]
        run.judged = [Judgement(**(one | {"change": Change(**one["change"])})) for one in mutants]
    return run
