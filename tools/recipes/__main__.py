"""Regenerate the golden tables and report the differences from the committed ones.

    python -m tools.recipes --list
    python -m tools.recipes --producer reference
    python -m tools.recipes --producer apache-hudi@1.0.2 --only 'merge.*' [--refreeze]
    python -m tools.recipes --texts
    python -m tools.recipes --prune

Tables of the reference have the same bytes each time; a table that differs is replaced. Tables of Apache Hudi are frozen:
a regenerated table is compared in rows and structure, and replaces the committed one only with --refreeze. New tables are
added. --texts generates no table: it writes case files and expected rows from the recipes. --prune removes cases that no
recipe generates any more.
"""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import get_args

from tools.recipes import catalogue
from tools.recipes.producers import golden_tables
from tools.recipes.recipe import REFERENCE, Producer, Recipe


def arguments() -> argparse.Namespace:
    """The arguments of the command line."""
    parser = argparse.ArgumentParser(prog="tools.recipes", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--producer", action="append", choices=get_args(Producer), help="one or more; all if absent")
    parser.add_argument("--only", default="*", help="pattern of AREA.RECIPE, such as 'merge.delete.*'")
    parser.add_argument("--refreeze", action="store_true", help="replace committed tables of Apache Hudi")
    parser.add_argument("--texts", action="store_true", help="write only case files and expected rows")
    parser.add_argument("--prune", action="store_true", help="remove cases that no recipe makes any more")
    parser.add_argument("--list", action="store_true", help="print the recipes and their producers")
    return parser.parse_args()


def chosen(pattern: str) -> list[Recipe]:
    """The recipes whose `AREA.RECIPE` matches."""
    return [recipe for recipe in catalogue.all_recipes() if fnmatch(f"{recipe.area}.{recipe.name}", pattern)]


def regenerate(producer: Producer, recipes: Sequence[Recipe], work: Path, *, refreeze: bool) -> int:
    """Generate tables, print differences, replace tables that may be replaced; return the number of tables that differ."""
    differing = 0
    for made in golden_tables.produce(producer, recipes, work):
        found = golden_tables.compare(made)
        print(f"{'same' if not found else 'DIFFERS'}  {producer}  {made.recipe.area}.{made.recipe.name}")
        for line in found:
            print(f"    {line}")
        differing += bool(found)
        if found and (refreeze or producer == REFERENCE or found == ["new table"]):
            golden_tables.freeze(made)
    return differing


def main() -> int:
    """0 if everything is as committed, 1 if something differs, 2 if no recipe matches."""
    asked = arguments()
    recipes = chosen(asked.only)
    if not recipes:
        print(f"no recipe matches {asked.only}; --list prints the recipes", file=sys.stderr)
        return 2
    producers: Sequence[Producer] = asked.producer or get_args(Producer)
    if asked.list:
        for recipe in recipes:
            print(f"{recipe.area}.{recipe.name}: {', '.join(recipe.producers)}")
        return 0
    if asked.prune:
        for folder in golden_tables.orphans():
            print(f"removed: {folder.name}")
            shutil.rmtree(folder)
        return 0
    by_producer = {producer: [r for r in recipes if producer in r.producers] for producer in producers}
    if asked.texts:
        changed = [f for p, found in by_producer.items() for r in found for f in golden_tables.rewrite_texts(r, p)]
        print(*(f"written: {folder.name}" for folder in changed), sep="\n")
        return int(bool(changed))
    with tempfile.TemporaryDirectory(prefix="golden-") as work:
        counts = [regenerate(p, found, Path(work), refreeze=asked.refreeze) for p, found in by_producer.items()]
    return int(any(counts))


if __name__ == "__main__":
    sys.exit(main())
