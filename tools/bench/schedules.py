"""Schedules: the cost of a step, and the number of interleavings of two writers per CPU second.

`python -m tools.bench.schedules [--rounds N] [--runs N] [--json FILE]`
"""

import gc
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from hudi_conformance.explorer.scenarios.scenarios import SCENARIOS
from hudi_conformance.explorer.search.explore import Explored, explore_exhaustively, explore_with_priorities
from hudi_conformance.explorer.simulation.actor import Actor, Process
from hudi_conformance.explorer.simulation.simulated_store import SimulatedStore
from hudi_conformance.report.evidence import figures
from hudi_conformance.report.evidence.figures import ORDERS_GOAL, STEP_GOAL
from hudi_reference.storage import MemoryStorage

console = Console(highlight=False)
SCENARIO = "two-writers-of-one-group"
#: Searches that run single orders independently of each other, so that two processes run twice as many.
ON_TWO_CORES = {"one by one": "every order, one by one", "drawn": "drawn orders"}


def write_six_notes(actor: Actor) -> None:
    """A program of six steps without effect, so that only the scheduler is measured."""
    for number in range(6):
        actor.record_note("", number)


def measure_cost(task: Callable[[], Explored], rounds: int) -> tuple[float, Explored]:
    """Median CPU seconds of a task after one warm-up round, and the number of runs."""
    costs, found = [], task()
    for _ in range(rounds):
        gc.collect()
        started = time.process_time()
        found = task()
        costs.append(time.process_time() - started)
    return median(costs), found


def step_cost(rounds: int) -> dict[str, float]:
    """CPU microseconds per step, for all orders of two programs of six steps each."""
    simulated = SimulatedStore.from_storage(MemoryStorage())
    processes = [Process(name, write_six_notes) for name in "ab"]
    # A round takes 20 ms; many rounds reduce the effect of other load on the median.
    seconds, found = measure_cost(
        lambda: explore_exhaustively(lambda: simulated, processes, preemptions=12, merge=False), 40 * rounds
    )
    return {"steps": found.steps, "orders": found.runs, "microseconds": seconds / found.steps * 1e6}


def measure_writers(rounds: int, runs: int) -> dict[str, dict[str, float]]:
    """Orders per CPU second of two writers of one file group, without memoized steps at the start, for five searches."""
    scenario = SCENARIOS[SCENARIO].make_scenario(SCENARIO)
    simulated, processes = scenario.make_store(), scenario.processes()

    def look(**how: Any) -> Callable[[], Explored]:
        return lambda: explore_exhaustively(lambda: simulated, processes, **how)

    ways: dict[str, Callable[[], Explored]] = {
        "every order, one by one": look(preemptions=3, merge=False, most_runs=runs),
        "drawn orders": lambda: explore_with_priorities(lambda: simulated, processes, seed=1, runs=runs),
        "one order of each class": look(),
        "every order, each point once": look(reduce=False),
        "the same, all invariants checked": look(reduce=False, check=scenario.check),
    }
    return {name: _figures(*measure_cost(way, rounds)) for name, way in ways.items()}


def _figures(seconds: float, found: Explored) -> dict[str, float]:
    return {
        "cpu": seconds, "runs": found.runs, "per_second": found.runs / seconds, "covered": found.interleavings or found.runs,
        "steps": found.steps, "programs": found.starts, "microseconds": seconds / found.steps * 1e6,
    }  # fmt: skip


def main(
    rounds: Annotated[int, typer.Option(help="measured rounds")] = 5,
    runs: Annotated[int, typer.Option(help="orders that are run one after another")] = 20_000,
    output: Annotated[Path | None, typer.Option("--json", help="file for the figures")] = None,
    record: Annotated[bool, typer.Option("--record", help="store the figures for reports")] = False,
) -> None:
    """Measure, and print medians and goals."""
    step, found = step_cost(rounds), measure_writers(rounds, runs)
    micro = step["microseconds"]
    console.print(
        f"scheduler alone: {micro:.2f} µs CPU a step (goal {'<=' if micro <= STEP_GOAL else '>'} {STEP_GOAL}), "
        f"{step['steps']:,.0f} steps in {step['orders']:,.0f} orders; system load {os.getloadavg()[0]:.0f}"
    )
    shown = Table("two writers", "CPU s", "runs", "runs/s", "orders covered", "steps", "programs run", "µs/step", box=None)
    for name, of in found.items():
        covered = f"{of['covered']:,.0f}" if of["covered"] < 10**9 else f"{of['covered']:.2e}"
        shown.add_row(
            name, f"{of['cpu']:.2f}", f"{of['runs']:,.0f}", f"{of['per_second']:,.0f}", covered, f"{of['steps']:,.0f}",
            f"{of['programs']:.0f}", f"{of['microseconds']:.1f}",
        )  # fmt: skip
    console.print(shown)
    rates = {how: round(2 * found[name]["per_second"]) for how, name in ON_TWO_CORES.items()}
    verdict = ">=" if min(rates.values()) >= ORDERS_GOAL else "<"
    told = ", ".join(f"{rate:,} orders/s {how}" for how, rate in rates.items())
    console.print(f"in two processes, a core for each: {told} (goal {verdict} {ORDERS_GOAL:,})")
    if record:
        figures.record_figures(
            "schedules",
            figures.measurement_details(f"python -m tools.bench.schedules --rounds {rounds} --runs {runs}")
            | {"microseconds": micro, "per_second": rates},
        )
    if output is not None:
        output.write_text(json.dumps({"step": step, "writers": found}, indent=2) + "\n")


if __name__ == "__main__":
    typer.run(main)
