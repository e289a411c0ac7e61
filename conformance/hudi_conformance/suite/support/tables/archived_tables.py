"""Tables that are archived while they are written, and the contents of their timeline folder after each write.

The module uses no code of an archiver: it reads the files with a general Parquet library and a JSON parser, as the format
describes them.
"""

import json
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.programs.write_programs import Program, Row, as_arrow, expect_rows, row
from hudi_conformance.suite.support.tables.written_tables import table_folder

#: The features that tests of archiving need.
ARCHIVE = pytest.mark.needs(
    "create", "write.upsert", "service.archive", "inspect.table", "timeline.history", "copy-on-write", "partition.plain"
)
#: Automatic archiving is off.
NOT_BY_ITSELF = {"hoodie.archive.automatic": "false"}
#: Neither cleaning nor the next compaction needs more writes than the limits keep.
FREE = {"hoodie.clean.commits.retained": "1", "hoodie.compact.inline.max.delta.commits": "1", "hoodie.metadata.enable": "false"}
LEVEL_FILE = re.compile(r"(\d{17})_(\d{17})_(\d+)\.parquet", re.ASCII)
COMPLETED = re.compile(r"(\d{17})_(\d{17})\.([a-z]+)", re.ASCII)

#: Enough writes for nine flushes, and with them for a file of level 2.
WRITES = 21

Files = Mapping[str, bytes]


def archive_limits(most: int, fewest: int, **more: str) -> dict[str, str]:
    """Return settings of an archiver that keeps `fewest` writes once there are more than `most`."""
    return {**FREE, "hoodie.keep.max.commits": str(most), "hoodie.keep.min.commits": str(fewest), **more}


@dataclass(frozen=True)
class Step:
    """The contents of the timeline folder and the history folder after one write."""

    active: Files
    history: Files

    @cached_property
    def version(self) -> int:
        """The number in the version file, 0 if there is none."""
        text = self.history.get("_version_")
        return 0 if text is None else int(text.decode("ascii"))

    @cached_property
    def manifests(self) -> dict[int, bytes]:
        """The existing manifests, by number."""
        return {int(name[9:]): data for name, data in self.history.items() if re.fullmatch(r"manifest_\d+", name)}

    def listed(self, number: int) -> dict[str, int]:
        """Return names and lengths in a manifest."""
        return {entry["fileName"]: entry["fileLen"] for entry in json.loads(self.manifests[number])["files"]}

    @cached_property
    def current(self) -> dict[str, int]:
        """Names and lengths in the valid manifest."""
        return self.listed(self.version) if self.version else {}

    @cached_property
    def levels(self) -> dict[int, list[str]]:
        """The files of each level in the valid manifest, by name."""
        found: dict[int, list[str]] = {}
        for name in sorted(self.current):
            match = LEVEL_FILE.fullmatch(name)
            assert match is not None, f"{name} is no <minimum>_<maximum>_<level>.parquet"
            found.setdefault(int(match[3]), []).append(name)
        return found

    def rows(self, name: str) -> list[dict[str, Any]]:
        """Return the rows of a file of the history."""
        return list(pq.read_table(BytesIO(self.history[name])).to_pylist())

    def schema(self, name: str) -> pa.Schema:
        """Return the columns of a file of the history."""
        return pq.read_schema(BytesIO(self.history[name]))

    @cached_property
    def archived(self) -> dict[tuple[str, str], dict[str, Any]]:
        """Every archived action by requested time and action; a duplicate fails."""
        found: dict[tuple[str, str], dict[str, Any]] = {}
        for name in sorted(self.current):
            for one in self.rows(name):
                key = (one["instantTime"], one["action"])
                assert key not in found, f"{key} is in the history twice"
                found[key] = one
        return found

    @cached_property
    def completed(self) -> dict[tuple[str, str], str]:
        """Completion times of the completed actions on the active timeline."""
        names = (COMPLETED.fullmatch(name) for name in self.active)
        return {(match[1], match[3]): match[2] for match in names if match is not None}


def read_step(uri: str) -> Step:
    """Return the current timeline of a table."""
    timeline = table_folder(uri) / ".hoodie" / "timeline"
    return Step(_files(timeline), _files(timeline / "history"))


def _files(folder: Path) -> dict[str, bytes]:
    if not folder.is_dir():
        return {}
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file() and path.suffix != ".crc"}


def new_table(engine: Client, uri: str, type: str = "COPY_ON_WRITE") -> None:
    """Create an empty table of two partitions."""
    engine.create(uri, Program(type, "COMMIT_TIME_ORDERING", True).spec())  # type: ignore[arg-type]


def changed_rows(number: int) -> tuple[Row, ...]:
    """Return the rows of the write of that number; every write changes the same row."""
    first = (row("still", 0, "never changed", "rio"),) if number == 0 else ()
    return (*first, row("a", number, f"write {number}"))


def write_times(engine: Client, uri: str, count: int, options: Mapping[str, str], first: int = 0) -> list[str]:
    """Write this many times; return the instants."""
    return [engine.write(uri, "upsert", as_arrow(changed_rows(n)), options=options) for n in range(first, first + count)]


def expected_rows(count: int) -> list[Row]:
    """Return the rows of the table after this many writes."""
    return [row("still", 0, "never changed", "rio"), row("a", count - 1, f"write {count - 1}")]


def completed_actions(engine: Client, uri: str) -> dict[str, list[dict[str, str]]]:
    """Return completed actions as the engine reports them, by where they are."""
    found: dict[str, list[dict[str, str]]] = {"active": [], "archived": []}
    for instant in engine.inspect(uri)["timeline"]["completed"]:
        found[instant["where"]].append(instant)
    return found


class Histories:
    """Tables that an engine writes once; each test takes a copy."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stages: dict[str, dict[int, Path]] = {}
        self._recorded: dict[str, tuple[str, tuple[Step, ...]]] = {}

    def copy(self, engine: Client, writes: int, uri: str) -> str:
        """Copy a table of this many writes, of which nothing is archived, to `uri`."""
        shutil.copytree(self._stage(engine, writes), table_folder(uri))
        return uri

    def _place(self, engine: Client, word: str) -> Path:
        """Return a folder whose name is the same in a path and in a URI."""
        return self._folder / f"{_writer(engine)}-{word}"

    def _stage(self, engine: Client, writes: int) -> Path:
        stages = self._stages.setdefault(_writer(engine), {})
        if writes not in stages:
            folder = self._place(engine, str(writes))
            before = max((number for number in stages if number < writes), default=None)
            if before is None:
                new_table(engine, folder.as_uri())
            else:
                shutil.copytree(stages[before], folder)
            write_times(engine, folder.as_uri(), writes - (before or 0), NOT_BY_ITSELF, before or 0)
            stages[writes] = folder
        return stages[writes]

    def recorded(self, engine: Client) -> tuple[str, Sequence[Step]]:
        """Return a table that archives with each second write and merges by threes, and its steps; tests must not change it."""
        writer = _writer(engine)
        if writer not in self._recorded:
            uri = self._place(engine, "recorded").as_uri()
            new_table(engine, uri)
            options = archive_limits(3, 2, **{"hoodie.timeline.compaction.batch.size": "3", "hoodie.archive.automatic": "true"})
            steps = []
            for number in range(WRITES):
                write_times(engine, uri, 1, options, number)
                steps.append(read_step(uri))
            assert steps[-1].current, f"{engine.name} has archived nothing in {WRITES} writes"
            self._recorded[writer] = uri, tuple(steps)
        return self._recorded[writer]


def _writer(engine: Client) -> str:
    """The engine and the version of the tables that it writes, as a name that is the same in a path and in a URI."""
    return re.sub("[^a-z0-9]", "-", f"{engine.name}-{engine.table_version}")


#: Settings of an archiver that merges history files by twos.
MERGED_BY_TWOS = archive_limits(4, 2, **{"hoodie.timeline.compaction.batch.size": "2"})


def expect_all(engine: Client, uri: str, before: dict[tuple[str, str], str], count: int) -> None:
    """Check that the engine reports every action that ever completed, once and with its times, and the newest rows."""
    found = completed_actions(engine, uri)
    actions = [((i["requested"], i["action"]), i["completion"]) for where in found.values() for i in where]
    assert sorted(actions) == sorted(before.items())
    assert len(found["archived"]) == len(read_step(uri).archived) > 0
    expect_rows(engine, uri, expected_rows(count), f"{engine.name}, after {count} writes")


def archive_in_turn(writer: Client, reader: Client, uri: str) -> None:
    """Write and archive with two engines in turn, four times; both see everything after each turn."""
    count = 0
    new_table(writer, uri)
    completed: dict[tuple[str, str], str] = {}
    for turn, engine in enumerate((writer, reader, writer, reader)):
        write_times(engine, uri, 8 - 4 * bool(turn), NOT_BY_ITSELF, count)
        count += 8 - 4 * bool(turn)
        completed |= read_step(uri).completed
        contents = {key: one["metadata"] for key, one in read_step(uri).archived.items()}
        engine.service(uri, "archive", options=MERGED_BY_TWOS)
        for other in (reader, writer):
            expect_all(other, uri, completed, count)
        after = read_step(uri)
        assert len(after.completed) == 2
        assert contents.items() <= {key: one["metadata"] for key, one in after.archived.items()}.items()
        assert after.current == {name: len(after.history[name]) for name in after.current}
    assert max(read_step(uri).levels) > 0
