"""Fuzz: `python -m tools.fuzz [TARGET…] [--seconds N] [--corpus DIR] [--seed N] [--figures FILE]`."""

import json
import re
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Annotated

import platformdirs
import typer
from rich.console import Console
from rich.table import Table
from tools.fuzz.figures import Figures
from tools.fuzz.targets.catalogue import all_targets

console = Console()
_EDGES = re.compile(r"cov: (\d+)")
_INPUTS = re.compile(r"stat::number_of_executed_units: *(\d+)|#(\d+)\s")


def run_target(target: str, folder: Path, seconds: int, seed: int) -> Figures:
    """Run one target for this number of seconds; start it again if an input ends the process."""
    figures, until = Figures(), time.monotonic() + seconds
    while (left := int(until - time.monotonic())) > 0:
        before, started = _cpu(), time.monotonic()
        argv = [sys.executable, "-m", "tools.fuzz.runner", target, str(folder), "--seconds", str(left), "--seed", str(seed)]
        done = subprocess.run(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        text = done.stderr.decode(errors="replace")
        inputs = max((int(a or b) for a, b in _INPUTS.findall(text)), default=0)
        edges = max((int(found) for found in _EDGES.findall(text)), default=0)
        figures += Figures(inputs, time.monotonic() - started, _cpu() - before, edges)
        seed += 1
        if done.returncode != 0:
            _keep_fatal(folder, done.returncode, text)
        if not inputs:
            raise typer.Exit(_tell(target, text))
    return figures


def _keep_fatal(folder: Path, status: int, text: str) -> None:
    """Store the last output of the process next to the input that ended it, which libFuzzer names, or `current`."""
    inputs = [
        path for path in (folder / "findings").iterdir() if path.name.startswith(("crash-", "timeout-", "oom-", "current"))
    ]
    if inputs:
        newest = max(inputs, key=lambda path: path.stat().st_mtime)
        newest.with_suffix(".txt").write_text(f"{newest.name}: exit status {status}\n\n{text[-4000:]}")


def _tell(target: str, text: str) -> int:
    console.print(f"[red]{target} did not run[/red]\n{text[-2000:]}")
    return 3


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def read_findings(folder: Path) -> list[str]:
    """The first line of each finding."""
    return [path.read_text().splitlines()[0] for path in sorted((folder / "findings").glob("*.txt"))]


def main(
    targets: Annotated[list[str] | None, typer.Argument(help="names of targets; all by default")] = None,
    seconds: Annotated[int, typer.Option(help="for each target")] = 60,
    corpus: Annotated[Path | None, typer.Option(help="folder of inputs and findings, kept from run to run")] = None,
    seed: Annotated[int, typer.Option(help="of chance")] = 1,
    only_list: Annotated[bool, typer.Option("--list", help="show the targets")] = False,
) -> None:
    """Fuzz the targets one after the other; exit status 1 if something was found."""
    known = all_targets()
    if only_list:
        for target in known.values():
            console.print(f"{target.name:<14} {target.says}")
        return
    if unknown := set(targets or ()) - set(known):
        raise typer.BadParameter(f"no target {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    folder = corpus or Path(platformdirs.user_cache_dir("hudi-conformance")) / "fuzz"
    any_found = False
    for name in targets or list(known):
        figures = run_target(name, folder / name, seconds, seed)
        Figures.add_to(folder / "figures.json", name, figures)
        found = read_findings(folder / name)
        any_found |= bool(found)
        console.print(f"{name:<14} {figures}", *(f"\n    {line}" for line in found), highlight=False)
    _show(folder / "figures.json")
    raise typer.Exit(int(any_found))


def _show(path: Path) -> None:
    shown = Table("target", "inputs", "CPU hours", "inputs/CPU s", "edges", title="since the corpus began")
    for name, values in json.loads(path.read_text()).items():
        shown.add_row(name, *Figures(**values).cells())
    console.print(shown)


if __name__ == "__main__":
    typer.run(main)
