"""Tiny cases and engines for tests of the suite itself: a table is a folder with one JSON file of rows."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa
import pytest

from hudi_conformance.contract import Engine, EngineError, Hello, Query, Refused
from hudi_conformance.engines import registry
from hudi_conformance.engines.support.info import EngineInfo

COLUMNS = [{"name": "id", "type": "string"}, {"name": "ts", "type": "long"}]
RIGHT = [{"id": "a", "ts": "10"}, {"id": "b", "ts": None}]
STORED = [{"id": "a", "ts": 10}, {"id": "b", "ts": None}]


class Casebook:
    """Writes case folders below `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def add(self, case_id: str = "merge.tiny", rows: list[dict[str, Any]] | None = None, **changes: Any) -> Path:
        """Write a correct case whose table has `STORED`; `rows` are other expected rows, `changes` other keys (None: without)."""
        folder = self.root / case_id.replace(".", "/", 1)
        (folder / "table").mkdir(parents=True)
        (folder / "table" / "rows.json").write_text(json.dumps(STORED))
        (folder / "expected").mkdir()
        answer = {"columns": COLUMNS, "rows": RIGHT if rows is None else rows}
        (folder / "expected" / "rows.json").write_text(json.dumps(answer))
        case = {
            "id": case_id,
            "requirements": ["MRG-029"],
            "description": "What was stored is what is read.",
            "producer": {"engine": "by hand", "recipe": "none"},
            "needs": ["read.snapshot"],
            "table": "table",
            "expected": {"rows": "expected/rows.json"},
            "if_it_fails": "Look at the tiny engine.",
        }
        path = folder / "case.json"
        path.write_text(json.dumps({k: v for k, v in (case | changes).items() if v is not None}))
        return path


@pytest.fixture
def casebook(tmp_path: Path) -> Casebook:
    """An empty folder for cases."""
    return Casebook(tmp_path / "cases")


class Tiny(Engine):
    """Reads tiny tables correctly."""

    features = frozenset({"read.snapshot", "inspect.table"})

    def hello(self) -> Hello:
        """Version 7."""
        return Hello("tiny", "7", "python", self.features)

    def read(self, table: str, query: Query) -> pa.Table:
        """The rows of the JSON file."""
        return pa.Table.from_pylist(json.loads((Path(urlsplit(table).path) / "rows.json").read_text()))


class Liar(Tiny):
    """Changes one value."""

    def read(self, table: str, query: Query) -> pa.Table:
        """The rows with one changed value."""
        rows = super().read(table, query).to_pylist()
        return pa.Table.from_pylist([{**rows[0], "ts": 11}, *rows[1:]])


class Coward(Tiny):
    """Refuses features that it declares."""

    def read(self, table: str, query: Query) -> pa.Table:
        """Refused."""
        raise Refused("read.snapshot", "too dangerous")


class Honest(Tiny):
    """Returns an error that names the temporary folder."""

    def read(self, table: str, query: Query) -> pa.Table:
        """An error."""
        raise EngineError(f"cannot read {table}/rows.json\nat line 1")


class Stillborn(Tiny):
    """Fails to start."""

    def __init__(self) -> None:
        raise RuntimeError("no heartbeat")


class Blind(Tiny):
    """Declares no feature."""

    features = frozenset()


TINY: dict[str, Callable[[], Engine]] = {
    "tiny": Tiny, "liar": Liar, "coward": Coward, "honest": Honest, "stillborn": Stillborn, "blind": Blind,
}  # fmt: skip


@pytest.fixture
def tiny_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Register the tiny engines, in process, in addition to the shipped ones."""
    shipped = registry.find

    def find(name: str) -> EngineInfo:
        return EngineInfo(name, "tiny", factory=TINY[name]) if name in TINY else shipped(name)

    monkeypatch.setattr(registry, "find", find)
