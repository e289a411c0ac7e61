"""Running the suite against the reference with a mutant applied, one process per mutant."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path

from hudi_conformance.cases.verdict import Outcome
from hudi_conformance.mutants.harness.mutant import Mutant
from hudi_conformance.mutants.harness.score import Kill
from hudi_conformance.processes.supervised import run_supervised
from hudi_conformance.report.evidence.evidence import ROOT, CitedCase
from hudi_conformance.report.evidence.levels import has_role
from hudi_conformance.report.published import case_without_parameters
from hudi_conformance.report.saved_run import read_report
from hudi_conformance.requirements.requirement import requirements

#: Seconds after which a run is aborted: no mutant may make the reference hang.
TIME_LIMIT = 900
#: Plugins of a run. Looking for all plugins of the environment takes longer than most cases.
PLUGINS = ("--disable-plugin-autoload", "-p", "hudi_conformance", "-p", "hypothesispytest")

#: The arguments of every run: long cases are included.
PLAIN = ("-q", "-p", "no:cacheprovider", "--tb=no", "-m", "", "--engine=reference", "--seed=0")


class SuiteError(RuntimeError):
    """The run with this mutant timed out, or wrote no report."""


def run_mutants(
    mutants: Sequence[Mutant], cases: Sequence[CitedCase], *, jobs: int = 1, done: Callable[[Kill], None]
) -> list[Kill]:
    """Apply one mutant after the other and record which cases fail; `done` is called for each.

    The golden cases that cite one of the mutant's rules run first. If the failing ones do not check each role of the rules, the
    Python cases that cite one run too, and if none of these fails, all others, up to the first that fails. Cases that fail
    without a mutant are excluded.

    Raises:
        SuiteError: a run timed out or wrote no report; raised when all other mutants have run.
    """
    unmutated, kills, errors = _Unmutated(), [], []
    with ThreadPoolExecutor(jobs) as pool:
        for finished in as_completed([pool.submit(_run_one, mutant, cases, unmutated) for mutant in mutants]):
            if (error := finished.exception()) is not None:
                errors.append(error)
                continue
            kills.append(finished.result())
            done(kills[-1])
    if errors:
        raise errors[0]
    return kills


@dataclass
class _Unmutated:
    """The outcomes of cases without a mutant. A case is run at most once, and only if it failed with a mutant."""

    fails: dict[str, bool] = field(default_factory=dict)

    def failing(self, cases: Sequence[CitedCase]) -> frozenset[str]:
        """Those of the cases that fail without a mutant."""
        new = [c for c in cases if c.id not in self.fails]
        broken = find_failing_cases(None, new)
        self.fails |= {c.id: c.id in broken for c in new}
        return frozenset(c.id for c in cases if self.fails[c.id])


def _run_one(mutant: Mutant, cases: Sequence[CitedCase], unmutated: _Unmutated) -> Kill:
    rules = set(mutant.breaks)
    own = [c for c in cases if rules & set(c.requirements)]
    golden = [c for c in own if c.golden is not None]
    programs = [c for c in own if c.golden is None]
    rest = sorted((c for c in cases if c not in own), key=lambda c: c.golden is None)
    killed = _killers(mutant.name, golden, unmutated)
    if not _covers_roles(mutant, [c for c in golden if c.id in killed]):
        killed |= _killers(mutant.name, programs, unmutated)
    killed = killed or _killers(mutant.name, rest, unmutated, stop_early=True)
    return Kill(mutant.name, mutant.breaks, mutant.description, tuple(sorted(killed)))


def _covers_roles(mutant: Mutant, killers: Sequence[CitedCase]) -> bool:
    """Whether these cases cite each rule of the mutant, in each of its roles; golden cases check readers only."""
    pairs = [(rule, role) for rule in mutant.breaks for role in requirements()[rule].role]
    return all(any(rule in case.requirements and has_role(case, role) for case in killers) for rule, role in pairs)


def _killers(mutant: str, cases: Sequence[CitedCase], unmutated: _Unmutated, *, stop_early: bool = False) -> frozenset[str]:
    """The cases that fail with the mutant and pass without it; with `stop_early` the first one."""
    while found := find_failing_cases(mutant, cases, stop_early=stop_early):
        broken = unmutated.failing([c for c in cases if c.id in found])
        if found != broken or not stop_early:
            return found - broken
        cases = [c for c in cases if c.id not in broken]  # the run ended at a case that kills nothing
    return frozenset()


def find_failing_cases(mutant: str | None, cases: Sequence[CitedCase], *, stop_early: bool = False) -> frozenset[str]:
    """The cases that the reference fails or refuses with this mutant applied (None: as it is)."""
    if not cases:
        return frozenset()
    with tempfile.TemporaryDirectory(prefix="hudi-conformance-mutant-") as scratch:
        options = ["--mutant", mutant] if mutant is not None else []
        found = _pytest([*options, *(["--maxfail=1"] if stop_early else []), f"--report={scratch}"], cases)
        try:
            _, results = read_report(Path(scratch))
        except FileNotFoundError:
            raise SuiteError(f"no report with {mutant or 'no mutant'}:\n{found[-3000:]}") from None
    return frozenset(case_without_parameters(r) for r in results if r.outcome.is_failure or r.outcome is Outcome.REFUSED)


def _pytest(options: Iterable[str], cases: Iterable[CitedCase]) -> str:
    """Run pytest on these cases, long ones included, and return its output."""
    try:
        done = run_pytest([*PLUGINS, *PLAIN, *options, *map(target_of, cases)], timeout=TIME_LIMIT)
    except subprocess.TimeoutExpired as error:
        raise SuiteError(f"not finished after {TIME_LIMIT} s: {' '.join(options)}") from error
    return str(done.stdout)


def run_pytest(arguments: Sequence[str], *, timeout: float | None = None) -> "subprocess.CompletedProcess[str]":
    """Run pytest in the checkout, in a supervised process; both outputs are in `stdout`.

    Raises subprocess.TimeoutExpired after `timeout` seconds.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    outputs = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    command = [sys.executable, "-m", "pytest", *arguments]
    done: subprocess.CompletedProcess[str] = run_supervised(command, cwd=ROOT, env=environment, timeout=timeout, **outputs)
    return done


def target_of(case: CitedCase) -> str:
    """The argument for pytest: the case file, or one test of a module."""
    return case.path if case.golden is not None else f"{case.path}::{case.id.partition('::')[2]}"
