"""A golden case as data: one question about one table, file or function, with its expected answer.

A case is a folder `fixtures/<first word of the id>/<rest of the id>/` with `case.json` (shape: `schemas/case.json`), the table
or file, and the expected answer. It names the rules that it checks and the features that it needs of an engine, and never a
product.
"""

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from hudi_conformance.cases.file_cases import Variant, Vector, Vectors, Verdict
from hudi_conformance.cases.reads import Read, parse_reads
from hudi_conformance.cases.rows import Rows, load_rows
from hudi_conformance.cases.schema import CaseError, check_schema, fixtures_root, read_json
from hudi_conformance.cases.table_versions import set_table_version
from hudi_conformance.contract.features import FEATURES
from hudi_conformance.contract.messages import Query
from hudi_conformance.requirements.chapters import chapter_of_golden_case
from hudi_conformance.requirements.requirement import can_choose_version, versions_of_golden_case


@dataclass(frozen=True)
class Producer:
    """The engine that wrote the table of a case; `recipe` is `file::function` in the repository."""

    engine: str
    recipe: str
    version: str | None = None
    note: str | None = None

    def __str__(self) -> str:
        """Engine and version."""
        return self.engine if self.version is None else f"{self.engine} {self.version}"


@dataclass(frozen=True)
class Expected:
    """The expected answer: one of `rows`, `inspect`, `variants`, `reads` (files), `refused`, `error`, `vectors`, or `open`.

    With `or_error`, an error or a refusal is accepted too.
    """

    rows: str | None = None
    inspect: str | None = None
    variants: str | None = None
    reads: str | None = None
    vectors: bool = False
    or_error: bool = False
    refused: str | None = None
    error: str | None = None
    accept: tuple[str, ...] = ()
    open: bool = False
    derived_by: tuple[str, ...] = ()


@dataclass(frozen=True)
class Case:
    """One golden case; the fields are those of `case.json`, `folder` is the folder that contains it."""

    folder: Path
    id: str
    requirements: tuple[str, ...]
    description: str
    producer: Producer
    needs: tuple[str, ...]
    expected: Expected
    if_it_fails: str
    table: str | None = None
    query: Query = field(default_factory=Query)
    file: str | None = None
    keys: tuple[str, ...] | None = None
    prefix: str | None = None
    verdict: Verdict | None = None
    vectors_file: str | None = None
    flags: tuple[str, ...] = ()
    errata: tuple[str, ...] = ()
    versions: tuple[int, ...] = ()
    #: The version that copies of the table are given; None: that of the committed table.
    copied_as: int | None = None

    @property
    def chapter(self) -> str:
        """The id of the chapter of the specification that the case belongs to."""
        return chapter_of_golden_case(self.id)

    def at_version(self, version: int | None) -> "Case":
        """Return the case with the table at one of its versions: this one, if it is about it, otherwise the first."""
        if not can_choose_version(self.table, self.versions):
            return self
        stored = self.versions[0]
        copied_as = version if version in self.versions[1:] else None
        return replace(self, versions=(copied_as or stored,), copied_as=copied_as)

    @property
    def path(self) -> Path:
        """The case file."""
        return self.folder / "case.json"

    @cached_property
    def subject(self) -> Path:
        """The committed table, file or vectors. Engines must not get this path: `copy_subject` makes a copy."""
        return (self.folder / (self.table or self.file or self.vectors_file or "")).resolve()

    @property
    def inspects(self) -> bool:
        """Whether the engine is asked by `inspect` and not by `read`."""
        return self.expected.inspect is not None or self.file is not None

    @cached_property
    def variants(self) -> tuple[Variant, ...]:
        """The damaged copies of the file of a family; empty in other cases."""
        name = self.expected.variants
        return () if name is None else tuple(map(Variant.from_json, self._read(name, "variants.json")))

    @cached_property
    def reads(self) -> tuple[Read, ...]:
        """The queries of a case that asks several of one table; empty in other cases."""
        name = self.expected.reads
        try:
            return () if name is None else parse_reads(self._read(name, "reads.json"))
        except ValueError as error:
            raise CaseError(self.folder / str(name), "reads", str(error)) from None

    @cached_property
    def vectors(self) -> Vectors | None:
        """The vectors of a function; None in other cases."""
        if self.vectors_file is None:
            return None
        raw = self._read(self.vectors_file, "vectors.json")
        return Vectors(raw["function"], tuple(map(Vector.from_json, raw["tests"])), raw.get("notes", {}))

    def _read(self, name: str, schema: str) -> Any:
        found = read_json(self.folder / name)
        check_schema(self.folder / name, found, schema)
        return found

    @cached_property
    def rows(self) -> tuple[Rows, ...]:
        """The expected rows, then further accepted answers; empty if no rows are expected."""
        names = () if self.expected.rows is None else (self.expected.rows, *self.expected.accept)
        return tuple(load_rows(self.folder / name) for name in names)

    @cached_property
    def inspection(self) -> tuple[dict[str, Any], ...]:
        """The expected inspection, then further accepted answers; empty if the case expects no inspection."""
        names = () if self.expected.inspect is None else (self.expected.inspect, *self.expected.accept)
        return tuple(read_json(self.folder / name) for name in names)


def load_case(path: Path) -> Case:
    """Read the case in the file `path`. Raises `CaseError` for the first mistake in it."""
    path = path.resolve()
    raw = read_json(path)
    check_schema(path, raw, "case.json")
    for feature in raw["needs"]:
        if feature not in FEATURES:
            raise CaseError(path, "needs", f"{feature!r} is not a feature of the contract (hudi-conformance explain)")
    expected = dict(raw["expected"])
    case = Case(
        folder=path.parent,
        producer=Producer(**raw["producer"]),
        query=Query.from_json(raw.get("query", {})),
        expected=Expected(**_tuples(expected)),
        vectors_file=raw.get("vectors"),
        versions=versions_of_golden_case(raw),
        **_tuples({k: v for k, v in raw.items() if k not in ("producer", "query", "expected", "vectors", "versions")}),
    )
    _check_files(case)
    return case


def _tuples(raw: Mapping[str, Any]) -> dict[str, Any]:
    return {k: tuple(v) if isinstance(v, list) else v for k, v in raw.items()}


def _check_files(case: Case) -> None:
    """Check that every file that a case names exists, so that a mistake in the case is not reported as a fault of an engine."""
    subjects = {"table": case.table, "file": case.file, "vectors": case.vectors_file}
    if len([name for name in subjects.values() if name is not None]) != 1:
        raise CaseError(case.path, "table", "a case has either a table, a file or vectors")
    if case.table is not None and not case.subject.is_dir():
        raise CaseError(case.path, "table", f"no folder {case.table!r} beside the case")
    for key, name in (("file", case.file), ("vectors", case.vectors_file)):
        if name is not None and not case.subject.is_file():
            raise CaseError(case.path, key, f"no file {name!r} beside the case")
    kinds = ("rows", "inspect", "variants", "reads")
    named = [(f"expected.{kind}", name) for kind in kinds if (name := getattr(case.expected, kind)) is not None]
    for key, name in [*named, *(("expected.accept", a) for a in case.expected.accept)]:
        if not (case.folder / name).is_file():
            raise CaseError(case.path, key, f"no file {name!r} beside the case")


def looks_like_a_case(path: Path) -> bool:
    """Whether a file named `case.json` is a golden case; other projects use the name too."""
    if path.is_relative_to(fixtures_root()) or path.resolve().is_relative_to(fixtures_root()):
        return True
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        return False
    return isinstance(raw, dict) and raw.keys() >= {"id", "requirements", "producer", "needs", "expected"}


def find_cases(root: Path | None = None) -> Iterator[Case]:
    """All cases below `root` (the shipped fixtures if None), in the order of their paths."""
    for path in sorted(_case_files(root or fixtures_root())):
        yield load_case(path)


def _case_files(root: Path) -> Iterator[Path]:
    """The case files below `root`; the folders below a case, which hold its table, are not searched."""
    for folder, below, files in os.walk(root):
        if "case.json" in files:
            below.clear()
            yield Path(folder) / "case.json"


def copy_subject(case: Case, folder: Path) -> str:
    """Copy the table of `case` to `folder/table`, or its file into `folder`, for one engine; the copy's `file://` URI."""
    if case.file is not None:
        return write_file(case.subject.name, case.subject.read_bytes(), folder)
    copy = folder.resolve() / "table"
    shutil.copytree(case.subject, copy, copy_function=shutil.copyfile)  # without times and permissions, which no case needs
    if case.copied_as is not None:
        set_table_version(copy, case.copied_as)
    return copy.as_uri()


def write_file(name: str, data: bytes, folder: Path) -> str:
    """Write a file into `folder`; its `file://` URI."""
    copy = folder.resolve() / name
    copy.write_bytes(data)
    return copy.as_uri()
