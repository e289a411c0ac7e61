"""Make drawn tables of version 9 with Apache Hudi 1.2.0 and compare three answers to each query of them.

    python -m tools.drawn_tables FOLDER [--wide | --further | --changing | --varying] [--seed N] [--from N] [--count N]
                                 [--by-reference] [--judge]

`--judge` makes no table, and compares those in the folder. Exit code 1 if an answer of the reference differs from another one.
"""

import argparse
import pickle
import subprocess
import sys
from pathlib import Path

from tools.drawn_tables import by_reference
from tools.drawn_tables.drawings import DRAWINGS
from tools.drawn_tables.judging import Judge

from hudi_conformance.engines.support.environments import python_for, to_stderr
from hudi_reference.errors import HudiError

ROOT = Path(__file__).parents[2]


def main() -> int:
    """Make the tables, and print what differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--from", type=int, default=0, dest="first")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--kinds", default="snapshot,incremental,cdc", help="queries that Apache Hudi answers too")
    drawing = parser.add_mutually_exclusive_group()
    drawing.add_argument("--wide", action="store_const", const="wide", default="usual", dest="drawing",
                         help="draw what the usual tables leave out")  # fmt: skip
    drawing.add_argument("--further", action="store_const", const="further", dest="drawing",
                         help="draw mergers, fields of records and non-blocking writers")  # fmt: skip
    drawing.add_argument("--changing", action="store_const", const="changing", dest="drawing",
                         help="draw writes with other indexes than the writes before them")  # fmt: skip
    drawing.add_argument("--varying", action="store_const", const="varying", dest="drawing",
                         help="draw writes with other settings of files and services than the writes before them")  # fmt: skip
    parser.add_argument("--by-reference", action="store_true", help="the reference makes the tables")
    parser.add_argument("--judge", action="store_true")
    asked = parser.parse_args()
    draw = DRAWINGS[asked.drawing]
    numbers = [str(number) for number in range(asked.first, asked.first + asked.count)]
    if asked.by_reference:
        for number in numbers:
            try:
                by_reference.make(draw(int(number), asked.seed), asked.folder / number)
            except HudiError as error:
                print(f"{number}: the reference does not create this table: {error.message}")
    elif not asked.judge:
        command: list[str] = [str(python_for("apache-hudi", to_stderr)), "-m", "tools.drawn_tables.maker"]
        told = [str(asked.folder.absolute()), str(asked.seed), asked.kinds]
        command += ["--drawing", asked.drawing]
        old = [number for number in numbers if draw(int(number), asked.seed).axes.get("start", "").endswith("1.0.2")]
        if old:
            subprocess.run([*command, "--release", "1.0.2", *told, *old], cwd=ROOT, check=False)
        subprocess.run([*command, *told, *numbers], cwd=ROOT, check=False)
    failed = 0
    for number in numbers:
        folder = asked.folder / number
        if not (folder / "made.json").is_file():
            print(f"{number}: not made")
            continue
        drawn = pickle.loads((folder / "drawn.pickle").read_bytes())
        judge = Judge(drawn, folder)
        found = list(judge.differences())
        errors = [f"  step {n} {step.kind}: {done['error']}" for n, (step, done)
                  in enumerate(zip(drawn.recipe.steps, judge.made["steps"], strict=True)) if done["error"]]  # fmt: skip
        print(f"{number} {drawn.axes}: {len(judge.made['asked'])} queries, {len(found)} differ")
        print(*(errors + found if found or errors else []), sep="\n", flush=True)
        failed += bool(found)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
