"""Tables in memory, with the answers that they give undamaged."""

import fnmatch
import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from hudi_conformance.cases.case import find_cases
from hudi_conformance.cases.schema import fixtures_root
from hudi_conformance.validator.all_checks import ALL
from hudi_conformance.validator.checks.finding import UNSOUND, Finding
from hudi_conformance.validator.stored.table import load_table
from hudi_conformance.validator.validation import validate
from hudi_reference.clock import ManualClock
from hudi_reference.errors import HudiError
from hudi_reference.storage import MemoryStorage
from hudi_reference.tables import WritableTable, open_table

#: The questions, of which each damaged table is asked the first one and another one.
QUESTIONS = ("snapshot", "incremental", "read-optimized", "as-of", "changes")
Answer = Counter[str]
#: Years after all golden tables were made, so that no writer can be at work.
_LATER = 2_000_000_000_000


@dataclass(frozen=True)
class Sample:
    """A table: its name below `fixtures`, or below another folder of tables, and its objects by path."""

    name: str
    objects: Mapping[str, bytes]

    @cached_property
    def answers(self) -> dict[str, Answer]:
        """The answers of the undamaged table; without the questions that it refuses."""
        found = {}
        for question in QUESTIONS:
            try:
                found[question] = ask(self.objects, question, self.latest)
            except HudiError:
                continue
        return found

    @cached_property
    def written(self) -> dict[str, frozenset[str]]:
        """The paths of the files that each completed write of the active timeline names, by requested time."""
        return dict(_opened(self.objects).file_groups().committed_files().by_write)

    @cached_property
    def latest(self) -> str:
        """The requested time of the last completed write."""
        return max((instant.requested for instant in _opened(self.objects).timeline.commits), default="")


def golden_tables(pattern: str = "*") -> Iterator[Sample]:
    """The golden tables whose snapshot is read without an error, each set of bytes once, by name."""
    folders = {case.subject for case in find_cases() if case.table is not None and case.expected.error is None}
    seen = set()
    for folder in sorted(folders):
        name = folder.relative_to(fixtures_root()).parent.as_posix()
        objects = _objects(folder)
        digest = hashlib.sha256(repr(sorted(objects.items())).encode()).digest()
        if fnmatch.fnmatch(name, pattern) and ".damaged." not in f".{name.replace('/', '.')}" and digest not in seen:
            seen.add(digest)
            sample = Sample(name, objects)
            if _is_readable(sample):
                yield sample


def tables_below(folder: Path, pattern: str = "*") -> Iterator[Sample]:
    """The tables below a folder whose snapshot is read without an error, by name."""
    for meta in sorted(folder.rglob(".hoodie")):
        name = meta.parent.relative_to(folder).as_posix()
        if meta.parts.count(".hoodie") == 1 and fnmatch.fnmatch(name, pattern):
            sample = Sample(name, _objects(meta.parent))
            if _is_readable(sample):
                yield sample


def _is_readable(sample: Sample) -> bool:
    try:
        ask(sample.objects, "snapshot", "")
    except HudiError:
        return False
    return True


def _objects(folder: Path) -> dict[str, bytes]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def new_finding(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> str:
    """The worst finding of `validate` on a damaged table that it does not have undamaged; "" if there is none."""
    known = {(one.rule, one.path) for one in _findings(before)}
    found = (one for one in _findings(after) if (one.rule, one.path) not in known)
    return next((f"{one.rule} {one.path}: {one.found}" for one in found), "")


def _findings(objects: Mapping[str, bytes]) -> list[Finding]:
    """What `validate` reports of a table that cannot be trusted, worst first."""
    table = load_table("memory:///damaged", storage=stored(objects), clock=ManualClock(_LATER))
    return [one for one in validate(table, ALL).findings if one.severity in UNSOUND]


def stored(objects: Mapping[str, bytes]) -> MemoryStorage:
    """The objects as storage."""
    storage = MemoryStorage()
    for path, data in objects.items():
        storage.put(path, data)
    return storage


def _opened(objects: Mapping[str, bytes]) -> WritableTable:
    return open_table("memory:table", storage=stored(objects))


def ask(objects: Mapping[str, bytes], question: str, latest: str) -> Answer:
    """The rows that a table answers, as a multiset; `latest` is the time of the question as-of. Raises HudiError."""
    table = _opened(objects)
    found: dict[str, Any] = {
        "snapshot": table.snapshot,
        "incremental": table.incremental,
        "read-optimized": table.read_optimized,
        "as-of": lambda: table.as_of(latest),
        "changes": table.changes,
    }
    rows: pa.Table = found[question]()
    return Counter(repr(tuple(row.values())) for row in rows.to_pylist())
