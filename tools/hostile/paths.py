"""Hostile texts in every place of a table that holds a path or a name: metadata, plans and properties.

A table with each kind of action lies beside a folder of another program. One text is drawn, put into a place, and a reader, a
writer or a service works on the table. Nothing outside of the table may change, the properties must stay, and every error
must be typed.
"""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
from tools.fuzz.targets.plans import SCHEMA

from hudi_reference import WritableTable, clean, cluster, compact, create_table, log_compact, open_table, restore, rollback
from hudi_reference.errors import HudiError
from hudi_reference.layout.java_properties import dump, load
from hudi_reference.layout.properties import PROPERTIES_PATH
from hudi_reference.services.archive.archive import archive
from hudi_reference.services.compaction.compaction import schedule_compaction
from hudi_reference.services.indexing.indexing import index
from hudi_reference.services.rollback.failed_writes import roll_back_failed
from hudi_reference.storage.local import LocalStorage
from hudi_reference.timeline.contents.avro_container import read_record, write_record

_RETAIN_ONE = {"hoodie.clean.commits.retained": "1"}
#: The place of the folder of another program, seen from the table.
_OUTSIDE = "outside/precious"

ACTIONS: dict[str, Callable[[WritableTable], object]] = {
    "snapshot": lambda table: table.snapshot(),
    "read-optimized": lambda table: table.read_optimized(),
    "incremental": lambda table: table.incremental(),
    "upsert": lambda table: table.upsert(_rows("b")),
    "clean": lambda table: clean(table, _RETAIN_ONE),
    "compact": compact,
    "log compaction": log_compact,
    "cluster": cluster,
    "index": lambda table: index(table, {"hoodie.metadata.record.index.enable": "true"}),
    "archive": lambda table: archive(table, {"hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3"}),
    "restore": lambda table: restore(table, min((one.requested for one in table.timeline.commits), default="0" * 17)),
    "rollback of failed writes": roll_back_failed,
    "rollback of the last write": lambda table: rollback(table, _last_write(table)),
}


def _last_write(table: WritableTable) -> str:
    """The instant of the last write; one that no table has if the text has emptied the timeline."""
    return max((one.requested for one in table.timeline.commits), default="0" * 17)


@dataclass(frozen=True)
class Attempt:
    """One hostile text in one place, and what an action did; `broken` says what must not happen, "" if it held."""

    seed: str
    place: str
    text: str
    action: str
    outcome: str
    broken: str = ""


def attempts(count: int, seed: int) -> Iterator[Attempt]:
    """Draw places, texts and actions."""
    with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
        original = Path(folder) / "original"
        make_table(original / "table")
        (original / _OUTSIDE).mkdir(parents=True)
        (original / _OUTSIDE / "file").write_text("of another program")
        for number in range(count):
            yield _attempt(original, Path(folder) / "copy", f"{seed}:{number}")


def make_table(folder: Path) -> None:
    """A merge-on-read table with completed and pending actions of each kind."""
    table = create_table(str(folder), name="t", schema=SCHEMA, record_key=("id",), partition=("p",), table_type="MERGE_ON_READ")
    for value in ("a", "b", "c"):
        table.upsert(_rows(value))
    compact(table)
    for value in ("d", "e"):
        table.upsert(_rows(value))
    clean(table, _RETAIN_ONE)
    rollback(table, table.upsert(_rows("f")))
    table.upsert(_rows("g"))
    schedule_compaction(table)


def _rows(value: str) -> pa.Table:
    return pa.table({"id": ["1", "2"], "v": [value, value], "p": ["x", "y"]})


def _attempt(original: Path, copy: Path, seed: str) -> Attempt:
    random = Random(seed)
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(original, copy)
    storage = LocalStorage(copy / "table", sync=False)
    text = random.choice(hostile_texts(copy / _OUTSIDE))
    place = _put(storage, text, random)
    action = random.choice(sorted(ACTIONS))
    before = _files_outside(copy)
    outcome, broken = "done", ""
    try:
        ACTIONS[action](open_table(str(copy / "table"), storage=storage))
    except HudiError as error:
        outcome = type(error).__name__
    except Exception as error:
        outcome = broken = f"untyped {type(error).__name__}: {error}"[:200]
    if _files_outside(copy) != before:
        broken = "a file outside of the table changed"
    if not (copy / "table" / PROPERTIES_PATH).exists():
        broken = "the properties are gone"
    return Attempt(seed, place, text, action, outcome, broken)


def hostile_texts(outside: Path) -> list[str]:
    """Texts that lead outside of a table, or are no name."""
    up = [f"{'../' * steps}{_OUTSIDE}/file" for steps in (1, 2, 3, 4)]
    return [
        *up, *(f"x/{path}" for path in up), str(outside / "file"), f"/{outside}/file", f"file://{outside}/file", "..", "../",
        ".", "/", "//", "", "/etc/passwd", PROPERTIES_PATH, f"x/../{PROPERTIES_PATH}", ".hoodie", "a\0b", "\0",
        "..\\..\\outside", "%2e%2e/%2e%2e/outside", "~/file", "$HOME/file", "x/./file", "x//file", "x" * 300, "x/" * 2000, "\n",
        "\x1b[2J",         "\u202egnp.exe", "CON", "-rf", "null", "20260101000000000", "é" * 200,
    ]  # fmt: skip


def _put(storage: LocalStorage, text: str, random: Random) -> str:
    """Put a text into a random place of the table; the place."""
    files = [info.path for info in storage.list(".hoodie/timeline") if info.size and "/history/" not in info.path]
    path = random.choice([PROPERTIES_PATH, *files])
    if path == PROPERTIES_PATH:
        entries = load(storage.get(path))
        key = random.choice(sorted(entries))
        storage.put(path, dump({**entries, key: text}, "hostile"))
        return f"{path} {key}"
    record = read_record(storage.get(path), path)
    holder, key = random.choice(list(_texts(record)))
    if isinstance(key, str) and random.random() < 0.3 and isinstance(holder, dict) and key not in _field_names(record.schema):
        holder[text] = holder.pop(key)
    else:
        holder[key] = text
    with suppress(HudiError):
        storage.put(path, write_record(record.schema, record, bytes(16)))
    return f"{path} {key}"


def _texts(value: Any) -> Iterator[tuple[Any, Any]]:
    """Each container and key of a text in a record."""
    entries = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in list(entries):
        if isinstance(inner, str):
            yield value, key
        elif isinstance(inner, dict | list):
            yield from _texts(inner)


def _field_names(schema: Any) -> set[str]:
    """The names of all fields of a schema, which are no keys of maps."""
    if isinstance(schema, list):
        return set().union(*map(_field_names, schema))
    if not isinstance(schema, dict):
        return set()
    own = {field["name"] for field in schema.get("fields", ())}
    inner = [
        *(field["type"] for field in schema.get("fields", ())),
        schema.get("items"),
        schema.get("values"),
        schema.get("type"),
    ]
    return own.union(*map(_field_names, inner))


def _files_outside(copy: Path) -> dict[str, bytes]:
    """All files beside the table."""
    files = (path for path in sorted(copy.rglob("*")) if path.is_file() and not path.is_relative_to(copy / "table"))
    return {str(path): path.read_bytes() for path in files}
