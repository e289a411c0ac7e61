"""Judging drawn mutants: the cases that execute the changed line, the shortest first, up to the first that fails."""

import hashlib
import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from hudi_conformance.cases.verdict import Outcome
from hudi_conformance.engines.support.environments import cache_folder
from hudi_conformance.mutants.drawn.draw import DrawnMutant, reference_folder
from hudi_conformance.report.evidence.evidence import ROOT
from hudi_conformance.report.saved_run import read_report
from hudi_conformance.runner.mutation.lines import RecordedLines, read_recorded_lines
from hudi_conformance.runner.mutation.named import PLAIN, PLUGINS, SuiteError, run_pytest

#: Tests of the first, second and further runs of a mutant: most mutants are killed by one of the first.
BATCHES = (24, 240, 2400)
#: Seconds of a run beyond twelve times the CPU time that its tests need without a mutant: a mutant may make them hang.
EXTRA_SECONDS = 120


@dataclass(frozen=True)
class Judgement:
    """What the suite says of a drawn mutant.

    `outcome` is `killed`, `survived` or `not executed` (no case executes the line); `killed_by` is the case, or how the run
    ended. `asked` counts the tests that were run.
    """

    name: str
    description: str
    outcome: str
    killed_by: str
    asked: int


def judge_mutants(
    mutants: Sequence[DrawnMutant], lines: RecordedLines, *, jobs: int, done: Callable[[Judgement], None]
) -> list[Judgement]:
    """Judge each mutant; `done` is called for each."""

    def judge(mutant: DrawnMutant) -> Judgement:
        found = judge_mutant(mutant, lines)
        done(found)
        return found

    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(judge, mutants))


def judge_mutant(mutant: DrawnMutant, lines: RecordedLines) -> Judgement:
    """Run the tests that execute the line of the mutant, until one fails.

    A line outside of functions is executed when its module is imported: it is judged by the tests that execute any line of
    the file.
    """
    tests = lines.tests_of(mutant.path, mutant.site.line) or lines.tests_of_file(mutant.path)
    if not tests:
        return Judgement(mutant.name, mutant.description, "not executed", "", 0)
    asked = 0
    for batch in _batches(tests):
        asked += len(batch)
        if killer := _first_failure(mutant.name, batch, sum(lines.seconds.get(t, 1.0) for t in batch)):
            return Judgement(mutant.name, mutant.description, "killed", killer, asked)
    return Judgement(mutant.name, mutant.description, "survived", "", asked)


def _batches(tests: Sequence[str]) -> Iterator[Sequence[str]]:
    start = 0
    for size in BATCHES:
        if start < len(tests):
            yield tests[start : start + size]
        start += size
    while start < len(tests):
        yield tests[start : start + BATCHES[-1]]
        start += BATCHES[-1]


def _first_failure(mutant: str, tests: Sequence[str], seconds: float) -> str:
    """The first case that fails with the mutant, or how the run ended; empty if all pass."""
    with tempfile.TemporaryDirectory(prefix="hudi-conformance-mutant-") as scratch:
        arguments = [*PLUGINS, *PLAIN, "--maxfail=1", f"--mutant={mutant}", f"--report={scratch}", *map(_target, tests)]
        try:
            done = run_pytest(arguments, timeout=12 * seconds + EXTRA_SECONDS)
        except subprocess.TimeoutExpired:
            return "time limit"
        if done.returncode == 0:
            return ""
        if done.returncode == pytest.ExitCode.USAGE_ERROR:
            raise SuiteError(f"pytest did not run with {mutant}:\n{done.stdout[-3000:]}")
        try:
            _, results = read_report(Path(scratch))
        except FileNotFoundError:
            return f"the run ended early, exit {done.returncode}"
    failed = [r.case for r in results if r.outcome.is_failure or r.outcome is Outcome.REFUSED]
    return failed[0] if failed else f"exit {done.returncode}"


def _target(node: str) -> str:
    """What pytest takes for a node id: a golden case is named by its file."""
    return node.partition("::")[0] if "case.json::" in node else node


def folder_of_lines() -> Path:
    """Where the lines of the reference and the suite as they are now are recorded, or will be."""
    digest = hashlib.sha256()
    suite = ROOT / "conformance/hudi_conformance/suite"
    for file in [*sorted(reference_folder().rglob("*.py")), *sorted(suite.rglob("*.py")), ROOT / "fixtures/index.json"]:
        digest.update(file.relative_to(ROOT).as_posix().encode() + b"\0" + file.read_bytes())
    return cache_folder() / f"lines-{digest.hexdigest()[:12]}"


def load_lines(folder: Path) -> RecordedLines:
    """The recorded lines in `folder`; they are recorded first if it does not exist.

    Raises:
        SuiteError: the run that records them failed.
    """
    if not folder.is_dir():
        suite = [f"--record-lines={folder}", "fixtures", "conformance/hudi_conformance/suite"]
        done = run_pytest(["-p", "no:randomly", "-n", str(os.cpu_count() or 1), *PLAIN, *suite])
        if done.returncode != 0:
            raise SuiteError(f"the run that records lines failed:\n{done.stdout[-3000:]}")
    return read_recorded_lines(folder)


def save_judgements(path: Path, seed: int, judged: Sequence[Judgement]) -> None:
    """Write a run of drawn mutants as JSON."""
    mutants = [vars(j) for j in judged]
    path.write_text(json.dumps({"seed": seed, "mutants": mutants}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
