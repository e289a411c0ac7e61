"""Damage tables: `python -m tools.draw_damages [--folder DIR] [--count N] [--seed S] [--tables GLOB]`."""

import argparse
import sys
from pathlib import Path

from tools.draw_damages.kinds import DAMAGES
from tools.draw_damages.trial import Trial, tables_of


def main() -> int:
    """Run the command; 1 if something was missed or a check broke."""
    parser = argparse.ArgumentParser(
        description="Damage tables, and compare changed answers with the findings of the validator."
    )
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, help="has the folders of the tables; the golden tables without one")
    parser.add_argument("--tables", default="*/*", help="pattern of the folders, each of which has a folder `table`")
    parser.add_argument("--kinds", nargs="*", default=sorted(DAMAGES), choices=sorted(DAMAGES))
    parser.add_argument("--version", help="only tables of this version")
    options = parser.parse_args()
    trial, tables = Trial(), tables_of(options.tables, options.version, options.folder)
    for seed in range(options.seed, options.seed + options.count):
        trial.run(seed, tables, options.kinds)
    print(dict(trial.counts))
    return int(bool(trial.counts["MISSED"] or trial.counts["BROKEN"]))


if __name__ == "__main__":
    sys.exit(main())
