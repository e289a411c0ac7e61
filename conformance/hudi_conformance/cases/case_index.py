"""Indexes of all cases: enough to choose cases without loading them.

Golden cases are listed in `fixtures/index.json`, which is generated from their `case.json` files and also serves consumers
without the runner. Python cases are found by parsing the test files of the suite; nothing is imported.
"""

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from hudi_conformance.cases.schema import PACKAGE, CaseError, fixtures_root, read_json
from hudi_conformance.cases.suite_marks import Modules, read_suite_module
from hudi_conformance.requirements.chapters import chapter_of_golden_case, chapter_of_test, chapters
from hudi_conformance.requirements.requirement import versions_of_golden_case

#: Name of the index of the golden cases, in the folder of the fixtures.
FILE = "index.json"

#: Version of the shape of the index. Members may be added without a new version.
VERSION = 1

SUITE = PACKAGE / "suite"


@dataclass(frozen=True)
class IndexedCase:
    """What an index knows of a case. `node` is what pytest collects: a case file, or a test of a file.

    With `more_rules`, parameters of a Python case cite further rules, which are known only when the test is collected.
    """

    id: str
    chapter: str
    requirements: tuple[str, ...]
    errata: tuple[str, ...]
    needs: tuple[str, ...]
    flags: tuple[str, ...]
    node: str
    description: str
    more_rules: bool = False


# Golden cases.


def golden_cases(root: Path | None = None) -> tuple[IndexedCase, ...]:
    """The golden cases below `root` (the shipped fixtures if None) by id, from the index.

    Case files that the index does not list are read, so that a new case can be run before the index is generated again.
    """
    root = root or fixtures_root()
    listed = {entry["path"]: entry for entry in _listed(root)}
    entries = [listed.get(path) or golden_entry(root, path) for path in _case_files(root)]
    return tuple(_indexed(root, entry) for entry in sorted(entries, key=lambda e: str(e["id"])))


def _listed(root: Path) -> list[dict[str, Any]]:
    path = root / FILE
    return list(json.loads(path.read_text(encoding="utf-8"))["cases"]) if path.is_file() else []


def _case_files(root: Path) -> Iterator[str]:
    """The files `<word>/<case>/case.json` below `root`; the folders below these, which hold tables, are not searched."""
    for word in _folders(root):
        for case in _folders(root / word):
            if os.path.exists(f"{root}/{word}/{case}/case.json"):  # noqa: PTH110 - half the time of a Path
                yield f"{word}/{case}/case.json"


def _folders(root: Path) -> list[str]:
    with os.scandir(root) as found:
        return sorted(entry.name for entry in found if entry.is_dir())


def _indexed(root: Path, entry: dict[str, Any]) -> IndexedCase:
    return IndexedCase(
        id=entry["id"],
        chapter=entry["chapter"],
        requirements=tuple(entry["requirements"]),
        errata=tuple(entry["errata"]),
        needs=tuple(entry["needs"]),
        flags=tuple(entry["flags"]),
        node=f"{root}/{entry['path']}",
        description=entry["description"],
    )


def golden_entry(root: Path, path: str) -> dict[str, Any]:
    """The entry of the index for the case file `path` below `root`. Raises `CaseError` if the file is not a golden case."""
    raw = read_json(root / path)
    try:
        return {
            "id": raw["id"],
            "chapter": chapter_of_golden_case(raw["id"]),
            "requirements": raw["requirements"],
            "errata": raw.get("errata", []),
            "needs": raw["needs"],
            "flags": raw.get("flags", []),
            "versions": list(versions_of_golden_case(raw)),
            "path": path,
            "description": raw["description"],
        }
    except (KeyError, TypeError, AttributeError) as error:
        raise CaseError(root / path, "the file", f"not a golden case: {error!r}") from None


def golden_index(root: Path) -> str:
    """The content of the index of the cases below `root`, one case a line."""
    entries = sorted((golden_entry(root, path) for path in _case_files(root)), key=lambda e: str(e["id"]))
    titles = {chapter.id: chapter.title for chapter in chapters().values()}
    lines = ",\n".join(f"  {json.dumps(entry, ensure_ascii=False)}" for entry in entries)
    head = json.dumps({"version": VERSION, "chapters": titles}, ensure_ascii=False, indent=1).removesuffix("\n}")
    return f'{head},\n "cases": [\n{lines}\n ]\n}}\n'


# Python cases.


@cache
def python_cases(folder: Path = SUITE) -> tuple[IndexedCase, ...]:
    """The Python cases of the suite, without their parameters, in the order of files and tests."""
    return tuple(case for path in sorted(folder.rglob("test_*.py")) for case in python_cases_of(path))


def python_cases_of(path: Path) -> Iterator[IndexedCase]:
    """The tests of one file. Rules that marks name through another module are known only when the test is collected."""
    facts = read_suite_module(path.read_text(encoding="utf-8"))
    module = Modules({path.stem: facts})
    for test in facts["tests"]:
        rules = module.mark_texts(path.stem, test["requirements"])
        yield IndexedCase(
            id=f"{path.stem}::{test['name']}",
            chapter=chapter_of_test(path, rules),
            requirements=rules,
            errata=(),
            needs=(),
            flags=(),
            node=f"{path}::{test['name']}",
            description=test["description"],
            more_rules=test["computed"] or module.lacks_definition(path.stem, test["requirements"]),
        )


def python_case(id_: str, folder: Path = SUITE) -> IndexedCase | None:
    """The Python case with exactly this id, with or without parameters; None if there is none. Only its file is parsed."""
    file, _, test = id_.partition("[")[0].partition("::")
    if not re.fullmatch(r"\w+", file):
        return None
    found = (case for path in sorted(folder.rglob(f"{file}.py")) for case in python_cases_of(path))
    return next((case for case in found if case.id == f"{file}::{test}"), None)
