"""The areas of the table: how many attempts each makes, and how many broke. Tests and tools run as programs of their own."""

import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.hostile.paths import attempts
from tools.hostile.plan_programs import plan_programs

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Outcome:
    """What was tried in an area, what broke, and the attempts that broke."""

    tried: int
    broken: int
    says: tuple[str, ...] = ()


def paths(count: int, seed: int) -> Outcome:
    """Hostile texts in metadata, plans and properties."""
    found = list(attempts(count, seed))
    broken = tuple(f"{one.seed} {one.action}: {one.place} = {one.text!r}: {one.broken}" for one in found if one.broken)
    return Outcome(len(found), len(broken), broken)


def plans(count: int, seed: int) -> Outcome:
    """Plans that do not fit the table; each execution is an attempt."""
    found = list(plan_programs(count, seed))
    broken = tuple(f"{one.seed}: {one.broken} after {'; '.join(one.steps)}" for one in found if one.broken)
    return Outcome(sum(one.executed for one in found), len(broken), broken)


def damage(count: int, seed: int) -> Outcome:
    """Damages to golden tables: silent ones without a listed reason, untyped errors, ended processes."""
    done = _run(["-m", "tools.damage", "--count", str(count), "--seed", str(seed)])
    broken = tuple(line for line in done.stdout.splitlines() if re.match(r"\S+ (silent|untyped|ended):", line))
    return Outcome(count, max(len(broken), int(done.returncode not in (0, 1))), broken or _end_of(done))


def chaos(seconds: int, seed: int) -> Outcome:
    """Real processes under SIGKILL; each kill is an attempt."""
    done = _run(["-m", "tools.chaos", "--seconds", str(seconds), "--seed", str(seed)])
    kills = sum(int(number) for number in re.findall(r"(\d+) kill", done.stdout))
    return Outcome(max(kills, 1), done.returncode, _end_of(done))


def tests(*selected: str, only: str = "", long: bool = False) -> Callable[[], Outcome]:
    """The tests of some files, with `only` those of an expression of pytest; with `long` also the long ones."""

    def run() -> Outcome:
        options = [*(["-k", only] if only else []), *(["-m", ""] if long else [])]
        done = _run(["-m", "pytest", "-q", "-p", "no:randomly", *selected, *options])
        counts = {word: int(number) for number, word in re.findall(r"(\d+) (passed|failed|error)", done.stdout)}
        broken = counts.get("failed", 0) + counts.get("error", 0)
        failed = tuple(line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR")))
        return Outcome(sum(counts.values()), max(broken, int(done.returncode != 0)), failed or _end_of(done))

    return run


def _run(arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)


def _end_of(done: subprocess.CompletedProcess[str]) -> tuple[str, ...]:
    return tuple((done.stdout + done.stderr).splitlines()[-5:]) if done.returncode else ()


def areas(*, quick: bool, seed: int) -> Mapping[str, Callable[[], Outcome]]:
    """The areas by name."""
    storage, reference, suite = "reference/tests/storage", "reference/tests", "conformance/tests"
    return {
        "paths in plans, metadata, properties": lambda: paths(150 if quick else 1454, seed),
        "symbolic links in a table": tests(storage, only="link"),
        "plans that delete too much": tests(f"{reference}/services/test_unsafe_plans.py"),
        "plans that do not fit the table": lambda: plans(100 if quick else 1000, seed),
        "random damage": lambda: damage(100 if quick else 1024, seed),
        "exchanged files": tests(f"{reference}/query/test_damaged_tables.py", f"{reference}/query/test_exchanged_content.py"),
        "bombs": tests(f"{reference}/test_bombs.py", f"{reference}/schema/test_limits.py"),
        "work out of proportion": tests(f"{reference}/test_growth.py"),
        "adapter as adversary": tests(f"{suite}/contract"),
        "terminal escape sequences": tests(f"{suite}/commands/test_terminal_output.py"),
        "endpoints and outputs": tests(f"{suite}/commands/test_cli_messages.py", f"{suite}/commands/test_cli_outputs.py"),
        "faults of the file system": tests(f"{storage}/test_local_faults.py", long=True),
        "power loss": tests(f"{suite}/explorer/test_power_loss.py"),
        "signals and processes": tests(f"{suite}/processes"),
        "reports and sites": tests(f"{suite}/report", only="script or escape or hostile"),
        "real processes under SIGKILL": lambda: chaos(20 if quick else 60, seed),
    }
