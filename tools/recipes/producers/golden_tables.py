"""Generate tables with each producer and convert them to fixtures."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import feather
from tools.recipes import catalogue
from tools.recipes.expectation import columns_of, right_rows, rows_document
from tools.recipes.expectation import document as expected_document
from tools.recipes.producers import case_writer, difference, reference
from tools.recipes.recipe import REFERENCE, Check, Producer, Recipe

ROOT = Path(__file__).resolve().parents[3]
FIXTURES = ROOT / "fixtures"


class ProducerFailed(Exception):
    """A producer failed to write a table; the message names the table and the cause."""


@dataclass(frozen=True)
class Made:
    """A finished table, and for engines the answer of the producer to each check."""

    recipe: Recipe
    producer: Producer
    table: Path
    requested_times: tuple[str, ...]
    answers: dict[str, dict[str, str]]

    @property
    def home(self) -> Path:
        """The committed folder that holds, or will hold, the table."""
        return case_folder(self.recipe, self.producer)

    def files(self) -> Iterator[tuple[Path, dict[str, bytes]]]:
        """The folder and files of each case, including the answer of the producer if it differs."""
        checks = case_writer.checks_for(self.recipe, self.producer)
        cases = case_writer.case_files(self.recipe, self.producer, self.requested_times, self.table)
        for check, (name, files) in zip(checks, cases, strict=True):
            answer = self._answer(check)
            if answer is not None:
                files["expected/producer.json"] = case_writer.to_json(answer)
            yield FIXTURES / self.recipe.area / name, files

    def _answer(self, check: Check) -> Any:
        """The answer of the producer, if it is not the right one."""
        answer = self.answers.get(check.name)
        if answer is None:
            return None
        if "error" in answer:
            return None if check.refused or check.error else answer
        columns = columns_of(self.recipe, check)
        found = _rows(columns, feather.read_table(str(self.table.parent / answer["rows"])))
        if not check.has_rows:
            return found
        right = [right_rows(self.recipe, check, self.requested_times), *check.accept]
        return None if any(found == expected_document(self.recipe, check, rows) for rows in right) else found


def _rows(columns: Sequence[tuple[str, Any]], table: pa.Table) -> Any:
    """An answer as rows, or its column names if they differ from those of the query."""
    if any(name not in table.column_names for name, _ in columns):
        return {"columns_found": table.column_names}
    return rows_document(columns, table)


def case_folder(recipe: Recipe, producer: Producer) -> Path:
    """The folder of the case that holds the table."""
    first = case_writer.checks_for(recipe, producer)[0]
    return FIXTURES / recipe.area / recipe.case_name(first, producer)


def committed_times(recipe: Recipe, producer: Producer) -> tuple[str, ...]:
    """The requested times of the steps of a committed table."""
    return tuple(json.loads((case_folder(recipe, producer) / "made.json").read_text())["requested_times"])


def produce(producer: Producer, recipes: Sequence[Recipe], work: Path) -> Iterator[Made]:
    """Generate the tables of `recipes` below `work`."""
    out = work / producer
    if producer == REFERENCE:
        for recipe in recipes:
            times = reference.make(recipe, out)
            yield Made(recipe, producer, out / recipe.name / "table", tuple(times), {})
    elif recipes:
        for zone in dict.fromkeys(recipe.zone for recipe in recipes):
            _run_hudi(producer.partition("@")[2], [recipe.name for recipe in recipes if recipe.zone == zone], out, zone)
        for recipe in recipes:
            yield load_made(recipe, producer, out)


def load_made(recipe: Recipe, producer: Producer, out: Path) -> Made:
    """The table and answers that an engine wrote to `out/<recipe>`."""
    folder = out / recipe.name
    try:
        made = json.loads((folder / "made.json").read_text())
    except FileNotFoundError:
        raise ProducerFailed(f"{producer} did not make {recipe.name}; see its output above") from None
    return Made(recipe, producer, folder / "table", tuple(made["requested_times"]), made["answers"])


def _run_hudi(version: str, names: Sequence[str], out: Path, zone: str) -> None:
    """Write the named tables in one session of Apache Hudi, in the environment of that engine and in the time zone `zone`."""
    from hudi_conformance.engines.support.environments import python_for, to_stderr

    python = python_for("apache-hudi", to_stderr)
    command: list[str | Path] = [
        python,
        "-m",
        "tools.recipes.producers.apache_hudi",
        "--version",
        version,
        "--out",
        out,
        *names,
    ]
    subprocess.run(command, cwd=ROOT, env={**os.environ, "TZ": zone}, check=False)


def compare(made: Made) -> list[str]:
    """The differences from the committed fixture: bytes for the reference, rows and structure for engines."""
    committed = made.home / "table"
    if not committed.is_dir():
        return ["new table"]
    if made.producer == REFERENCE:
        found = list(difference.byte_differences(committed, made.table))
        told = [(folder, difference.file_differences(folder, files)) for folder, files in made.files()]
    else:
        found = list(difference.shape_differences(committed, made.table))
        times = committed_times(made.recipe, made.producer)
        told = [
            (folder, difference.answer_differences(folder, times, files, made.requested_times))
            for folder, files in made.files()
        ]
    return found + [f"{folder.name}: {line}" for folder, lines in told for line in lines]


def freeze(made: Made) -> None:
    """Replace the committed table and its cases."""
    for folder, files in made.files():
        shutil.rmtree(folder, ignore_errors=True)
        case_writer.write(folder, files)
    shutil.copytree(made.table, made.home / "table")


def rewrite_texts(recipe: Recipe, producer: Producer) -> list[Path]:
    """Write case files and expected rows of a committed table again from its recipe; return the changes."""
    changed = []
    times = committed_times(recipe, producer)
    for name, files in case_writer.case_files(recipe, producer, times, case_folder(recipe, producer) / "table"):
        folder = FIXTURES / recipe.area / name
        if any(difference.file_differences(folder, files)):
            case_writer.write(folder, files)
            changed.append(folder)
    return changed


def orphans() -> list[Path]:
    """Case folders that no recipe generates any more. Cases of another origin do not name a recipe."""
    made = {
        FIXTURES / recipe.area / recipe.case_name(check, producer)
        for recipe in catalogue.all_recipes()
        for producer in recipe.producers
        for check in case_writer.checks_for(recipe, producer)
    }
    cases = [file.parent for area in catalogue.AREAS for file in (FIXTURES / area).glob("*/case.json")]
    return [folder for folder in sorted(cases) if folder not in made and _by_recipe(folder)]


def _by_recipe(folder: Path) -> bool:
    module = json.loads((folder / "case.json").read_text())["producer"]["recipe"].partition("::")[0]
    return module in {f"tools/recipes/{name.replace('.', '/')}.py" for name in catalogue.MODULES}
