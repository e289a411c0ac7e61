"""Tiny cases and tiny engines: a table is a folder with one JSON file of rows, so that only the suite itself is tested."""

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
        """A right case whose table holds `STORED`; `rows` are other expected rows, `changes` other keys (None: without)."""
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
    """Reads tiny tables as they are."""

    features = frozenset({"read.snapshot", "inspect.table"})

    def hello(self) -> Hello:
        """Version 7."""
        return Hello("tiny", "7", "python", self.features)

    def read(self, table: str, query: Query) -> pa.Table:
        """The rows of the JSON file."""
        return pa.Table.from_pylist(json.loads((Path(urlsplit(table).path) / "rows.json").read_text()))


class Liar(Tiny):
    """Gives one value a new value."""

    def read(self, table: str, query: Query) -> pa.Table:
        """The first row changed."""
        rows = super().read(table, query).to_pylist()
        return pa.Table.from_pylist([{**rows[0], "ts": 11}, *rows[1:]])


class Coward(Tiny):
    """Refuses what it declares."""

    def read(self, table: str, query: Query) -> pa.Table:
        """Refused."""
        raise Refused("read.snapshot", "too dangerous")


class Honest(Tiny):
    """Fails and says so, naming the scratch folder."""

    def read(self, table: str, query: Query) -> pa.Table:
        """An error."""
        raise EngineError(f"cannot read {table}/rows.json\nat line 1")


class Stillborn(Tiny):
    """Never starts."""

    def __init__(self) -> None:
        raise RuntimeError("no heartbeat")


class Blind(Tiny):
    """Declares nothing."""

    features = frozenset()


TINY: dict[str, Callable[[], Engine]] = {
    "tiny": Tiny, "liar": Liar, "coward": Coward, "honest": Honest, "stillborn": Stillborn, "blind": Blind,
}  # fmt: skip


@pytest.fixture
def tiny_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tiny engines under their names, in process, beside the shipped ones."""
    shipped = registry.find

    def find(name: str) -> EngineInfo:
        return EngineInfo(name, "tiny", factory=TINY[name]) if name in TINY else shipped(name)

    monkeypatch.setattr(registry, "find", find)
