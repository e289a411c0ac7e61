"""Drawn damages of sound tables: `python -m tools.draw_damages [--count N] [--seed S] [--tables GLOB]`.

A golden table is copied into memory and damaged at one place: a file is deleted, cut, exchanged, copied or renamed; a field
of an action, of a plan or of the properties is changed; a row, a header of a log block, or an entry of the metadata table is
changed. Then the answers of
all queries before and after are compared with the findings of the validator. A damage that changes an answer and has no
finding of wrong answers or lost data is a miss. Each miss is printed with its seed. `docs/validate.md` lists the damages that
the bytes of a table need not show.

The answers are those of the reference: from folders, through the metadata table, and by its indexes.
"""

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from tools.damage import kinds as damages_of_files

from hudi_conformance.cases.schema import fixtures_root
from hudi_conformance.validator.all_checks import ALL
from hudi_conformance.validator.stored.table import load_table
from hudi_conformance.validator.validation import Validation, validate
from hudi_reference import open_table
from hudi_reference.clock import ManualClock
from hudi_reference.errors import HudiError
from hudi_reference.files.base_file import read_base_file
from hudi_reference.files.log.block import Block, CorruptBlock, HeaderKey, encode_block
from hudi_reference.files.log.reader import read_log_file
from hudi_reference.layout.java_properties import dump, load
from hudi_reference.layout.names import parse_data_file_name, split_path
from hudi_reference.layout.properties import PROPERTIES_PATH, with_checksum
from hudi_reference.metadata.availability import METADATA_FOLDER
from hudi_reference.metadata.partitions import IndexGroups
from hudi_reference.metadata.records import MetadataRecord
from hudi_reference.metadata.schema import SCHEMA as METADATA_SCHEMA
from hudi_reference.metadata.writer import Entries, encode_log_file
from hudi_reference.query.pruning.predicates import Comparison
from hudi_reference.storage import MemoryStorage
from hudi_reference.timeline.contents.actions import read_action, write_action
from hudi_reference.timeline.instants.instant import parse_instant_name
from hudi_reference.timeline.instants.version_6 import parse_legacy_name

URI = "memory:///drawn"
#: Years after all golden tables were made, so that no writer can be at work.
LATER = 2_000_000_000_000


class NotPossible(Exception):
    """The table has no place for the damage."""


@dataclass(frozen=True)
class Drawn:
    """A damage: what was done, and to which file."""

    kind: str
    place: str

    @property
    def cannot_be_seen(self) -> bool:
        """Whether docs/validate.md says why the bytes of a table need not show the damage.

        A lost completed file looks like a crashed writer. A bit in a block or in the properties gives another valid value. A
        block of some columns without its mark is one of an older schema.
        """
        where = damages_of_files.class_of(self.place.partition(" ")[0])
        if self.kind in ("delete", "rename", "move", "delete folder"):
            return where == "completed instant"
        if self.kind == "header remove":
            return self.place.endswith(f": {HeaderKey.IS_PARTIAL}")
        return where == "properties" or (self.kind in ("flip", "zeros", "junk") and where in ("log file", "base file"))


def copied(folder: Path) -> MemoryStorage:
    """The table in a folder, in memory."""
    storage = MemoryStorage()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            storage.put(path.relative_to(folder).as_posix(), path.read_bytes())
    return storage


# Answers.


def answers(storage: MemoryStorage, filters: Sequence[Comparison]) -> dict[str, object]:
    """The answer of each query, or the class of its error; filters with data skipping."""
    listed = _queries(storage, {"hoodie.metadata.enable": "false"}, ())
    skipped = _queries(storage, {"hoodie.metadata.enable": "true"}, filters)
    return {f"{one} by folders": rows for one, rows in listed.items()} | {f"{one} by metadata": r for one, r in skipped.items()}


def _queries(storage: MemoryStorage, options: Mapping[str, str], filters: Sequence[Comparison]) -> dict[str, object]:
    found: dict[str, object] = {}

    def ask(name: str, query: Callable[[Any], pa.Table]) -> None:
        try:
            table = open_table(URI, storage=storage, clock=ManualClock(LATER), options=dict(options))
            found[name] = sorted(map(repr, query(table).to_pylist()))
        except (HudiError, FileNotFoundError) as error:
            found[name] = type(error).__name__

    ask("snapshot", lambda table: table.snapshot())
    ask("read-optimized", lambda table: table.read_optimized())
    ask("incremental", lambda table: table.incremental("00000000000000000"))
    for one in filters:
        ask(f"where {one}", lambda table, one=one: table.snapshot(where=[one]))
    return found


def filters_of(storage: MemoryStorage) -> list[Comparison]:
    """Filters by the least and the greatest value of each column of texts and integers."""
    found: list[Comparison] = []
    try:
        rows = open_table(
            URI, storage=storage, clock=ManualClock(LATER), options={"hoodie.metadata.enable": "false"}
        ).snapshot()
    except HudiError:
        return found
    for field_of_rows in rows.schema:
        if pa.types.is_string(field_of_rows.type) or pa.types.is_integer(field_of_rows.type):
            values = sorted(rows.column(field_of_rows.name).drop_null().unique().to_pylist())
            found += [(field_of_rows.name, "=", one) for one in dict.fromkeys((*values[:1], *values[-1:]))]
    return found


# Damages of whole files.


def _paths(storage: MemoryStorage, wanted: Callable[[str], bool] = lambda path: True) -> list[str]:
    found = [info.path for info in storage.list("") if wanted(info.path)]
    if not found:
        raise NotPossible
    return sorted(found)


def delete(draw: random.Random, storage: MemoryStorage) -> Drawn:
    path = draw.choice(_paths(storage))
    storage.delete(path)
    return Drawn("delete", path)


def cut(draw: random.Random, storage: MemoryStorage) -> Drawn:
    path = draw.choice(_paths(storage))
    data = storage.get(path)
    if not data:
        raise NotPossible
    storage.put(path, data[: draw.choice((0, len(data) - 1, draw.randrange(len(data))))])
    return Drawn("cut", path)


def exchange(draw: random.Random, storage: MemoryStorage) -> Drawn:
    first = draw.choice(_paths(storage))
    ending = first.rpartition(".")[2].partition("_")[0]
    others = [path for path in _paths(storage) if path != first and path.rpartition(".")[2].partition("_")[0] == ending]
    if not others:
        raise NotPossible
    second = draw.choice(others)
    one, other = storage.get(first), storage.get(second)
    if one == other:
        raise NotPossible
    storage.put(first, other)
    storage.put(second, one)
    return Drawn("exchange", f"{first} and {second}")


def overwrite(draw: random.Random, storage: MemoryStorage) -> Drawn:
    first = draw.choice(_paths(storage))
    ending = first.rpartition(".")[2].partition("_")[0]
    second = draw.choice(_paths(storage, lambda path: path.rpartition(".")[2].partition("_")[0] == ending))
    if storage.get(first) == storage.get(second):
        raise NotPossible
    storage.put(first, storage.get(second))
    return Drawn("overwrite", f"{first} by {second}")


def _other_name(draw: random.Random, storage: MemoryStorage, path: str) -> str:
    """A name of the same kind: another time of the timeline, another partition, file id or token."""
    times = sorted(
        {name[:17] for name in (split_path(p)[1] for p in storage.list("") and _paths(storage)) if name[:17].isdigit()}
    )
    folder, name = split_path(path)
    kind = draw.choice(("time", "folder", "id", "token"))
    if kind == "time" and times:
        mine = [time for time in times if time in name]
        if mine:
            changed = draw.choice((*times, f"{int(mine[0]) + draw.choice((-1, 1, 10**6)):017}"))
            return f"{folder}/{name.replace(draw.choice(mine), changed)}".lstrip("/")
    if kind == "folder":
        folders = sorted({split_path(one)[0] for one in _paths(storage)})
        return f"{draw.choice(folders)}/{name}".lstrip("/")
    if kind == "id" and parse_data_file_name(name) is not None:
        start = 1 if name.startswith(".") else 0
        return f"{folder}/{name[:start]}{draw.randrange(10**8):08}{name[start + 8 :]}".lstrip("/")
    if kind == "token" and "_0-" in name:
        return f"{folder}/{name.replace('_0-', '_7-', 1)}".lstrip("/")
    raise NotPossible


def rename(draw: random.Random, storage: MemoryStorage) -> Drawn:
    path = draw.choice(_paths(storage))
    other = _other_name(draw, storage, path)
    if other == path:
        raise NotPossible
    storage.put(other, storage.get(path))
    storage.delete(path)
    return Drawn("rename", f"{path} to {other}")


def duplicate(draw: random.Random, storage: MemoryStorage) -> Drawn:
    path = draw.choice(_paths(storage))
    other = _other_name(draw, storage, path)
    if other == path or storage.head(other) is not None:
        raise NotPossible
    storage.put(other, storage.get(path))
    return Drawn("duplicate", f"{path} as {other}")


def flip(draw: random.Random, storage: MemoryStorage) -> Drawn:
    path = draw.choice(_paths(storage))
    data = bytearray(storage.get(path))
    if not data:
        raise NotPossible
    place = draw.randrange(len(data))
    data[place] ^= 1 << draw.randrange(8)
    storage.put(path, bytes(data))
    return Drawn("flip", f"{path} at {place}")


def damage_file(draw: random.Random, storage: MemoryStorage) -> Drawn:
    """A damage of `tools.damage` to a file of a drawn class, as bytes inserted or taken out, or a lost folder."""
    before = {path: storage.get(path) for path in _paths(storage)}
    damage, after = damages_of_files.draw(before, draw)
    for path in before.keys() - after.keys():
        storage.delete(path)
    changed = {path: data for path, data in after.items() if before.get(path) != data}
    for path, data in changed.items():
        storage.put(path, data)
    if before == after:
        raise NotPossible
    return Drawn(damage.kind, str(damage).partition(" ")[2])


# Damages inside files.


def _leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The places of all values in a record, of lists and maps as well."""
    found = [path] if path else []
    if isinstance(value, dict):
        for key, one in value.items():
            found += _leaves(one, (*path, key))
    elif isinstance(value, list):
        for number, one in enumerate(value):
            found += _leaves(one, (*path, number))
    return found


def _change(draw: random.Random, record: Any, values: list[Any]) -> str:
    place = draw.choice(_leaves(record) or [()])
    if not place:
        raise NotPossible
    parent = record
    for step in place[:-1]:
        parent = parent[step]
    old = parent[place[-1]]
    how = draw.choice(("remove", "other", "other"))
    if how == "remove" and not old:  # the default of the field says the same
        raise NotPossible
    if how == "remove" and (isinstance(parent, list) or len(place) > 1):
        del parent[place[-1]]
    elif isinstance(old, bool):
        parent[place[-1]] = not old
    elif isinstance(old, int):
        parent[place[-1]] = max(0, old + draw.choice((-1, 1, 100, -old)))
    elif isinstance(old, str):
        same = [one for one in values if isinstance(one, str) and one != old]
        parent[place[-1]] = draw.choice([*same, ""] if same else [""])
    elif isinstance(old, list) and old:
        parent[place[-1]] = []
    elif isinstance(old, dict) and old:
        parent[place[-1]] = {}
    else:
        raise NotPossible
    return "/".join(map(str, place))


def _texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for key, one in value.items() for text in (str(key), *_texts(one))]
    if isinstance(value, list):
        return [text for one in value for text in _texts(one)]
    return [value] if isinstance(value, str) else []


def _is_action(path: str) -> bool:
    """Whether it is a file of the active timeline, of any version."""
    return ("/timeline/" in path and "/history/" not in path) or (path.count("/") == 1 and path.startswith(".hoodie/2"))


def change_action(draw: random.Random, storage: MemoryStorage) -> Drawn:
    path = draw.choice(_paths(storage, _is_action))
    name = split_path(path)[1]
    instant = parse_instant_name(name) if "/timeline/" in path else parse_legacy_name(name)
    if instant is None or not storage.get(path):
        raise NotPossible
    record = read_action(storage.get(path), path, instant)
    if not record:
        raise NotPossible
    place = _change(draw, record, sorted(set(_texts(record))))
    before = read_action(storage.get(path), path, instant)
    try:
        is_json = storage.get(path).lstrip()[:1] == b"{"
        storage.put(path, json.dumps(record).encode() if is_json else write_action(instant, record, bytes(16)))
    except Exception:
        raise NotPossible from None
    if read_action(storage.get(path), path, instant) == before:  # the default value was left out
        raise NotPossible
    return Drawn("action", f"{path}: {place}")


def change_properties(draw: random.Random, storage: MemoryStorage) -> Drawn:
    entries = load(storage.get(PROPERTIES_PATH))
    if not entries:
        raise NotPossible
    key = draw.choice(sorted(entries))
    old = entries[key]
    if draw.random() < 0.5:
        del entries[key]
    else:
        values = ["", "other", "COMMIT_TIME_ORDERING", "EVENT_TIME_ORDERING", "COPY_ON_WRITE", "MERGE_ON_READ", "true", "false",
                  "6", "8", "9", "2", "id", "ts", *entries.values()]  # fmt: skip
        entries[key] = draw.choice([one for one in values if one != old])
    if draw.random() < 0.7 and "hoodie.table.name" in entries:
        entries = with_checksum(entries)
    storage.put(PROPERTIES_PATH, dump(entries, "edited"))
    return Drawn("properties", f"{key}={old} to {entries.get(key)!r}")


def change_rows(draw: random.Random, storage: MemoryStorage) -> Drawn:
    path = draw.choice(
        _paths(storage, lambda p: p.endswith(".parquet") and not p.startswith(".hoodie/") and "/.hoodie" not in p)
    )
    table, metadata = read_base_file(storage, path), pq.read_schema(pa.BufferReader(storage.get(path))).metadata
    if not table.num_rows:
        raise NotPossible
    row = draw.randrange(table.num_rows)
    how = draw.choice(("value", "value", "value", "drop", "twice"))
    column = draw.choice(table.column_names)
    if how == "drop":
        changed = pa.concat_tables([table.slice(0, row), table.slice(row + 1)])
    elif how == "twice":
        changed = pa.concat_tables([table, table.slice(row, 1)])
    else:
        number, field = table.column_names.index(column), table.schema.field(column)
        values = table.column(column).to_pylist()
        others = [one for one in values if one != values[row]] + [None]
        values[row] = draw.choice(others)
        try:
            changed = table.set_column(number, field.with_nullable(True), pa.array(values, field.type))
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            raise NotPossible from None
        if changed.equals(table):
            raise NotPossible
    sink = pa.BufferOutputStream()
    pq.write_table(changed.replace_schema_metadata(metadata), sink)
    storage.put(path, sink.getvalue().to_pybytes())
    return Drawn(f"row {how}", f"{path}: row {row}, {column}")


def change_header(draw: random.Random, storage: MemoryStorage) -> Drawn:
    path = draw.choice(_paths(storage, lambda p: ".log." in p and ".cdc" not in p))
    data, parts = storage.get(path), []
    blocks = [one for one in read_log_file(storage, path) if isinstance(one, Block) and not isinstance(one, CorruptBlock)]
    chosen = draw.choice(blocks) if blocks else None
    if chosen is None or not chosen.header:
        raise NotPossible
    key = draw.choice(sorted(chosen.header, key=str))
    times = [name[:17] for name in (split_path(p)[1] for p in _paths(storage)) if name[:17].isdigit()]
    header = dict(chosen.header)
    how = draw.choice(("remove", "other", "drop block", "block twice"))
    if how == "remove":
        del header[key]
    elif how == "other":
        header[key] = draw.choice(times) if key in (HeaderKey.INSTANT_TIME, HeaderKey.TARGET_INSTANT_TIME) else "other"
    for one in blocks:
        whole = data[one.offset : one.end]
        if one is chosen:
            whole = {"drop block": b"", "block twice": whole * 2}.get(how) if how.count("block") else encode_block(
                one.kind, header, bytes(one.content))  # fmt: skip
        parts.append(whole or b"")
    if b"".join(parts) == data:
        raise NotPossible
    storage.put(path, b"".join(parts))
    return Drawn(f"header {how}", f"{path} at {chosen.offset}: {key}")


def change_entry(draw: random.Random, storage: MemoryStorage) -> Drawn:
    """Remove an entry of the metadata table, give it the payload of another one, or change one field of it."""
    snapshot = load_table(URI, storage=storage).opened.indexes
    if snapshot is None:
        raise NotPossible
    index = draw.choice(sorted(snapshot.usable))
    slices = {one.file_id: one for one in snapshot.slices(index)}
    records = {key: one for found in slices.values() for key, one in snapshot.metadata.records_of_slice(found).items()}
    if not records or not all(one.log_files for one in slices.values()):
        raise NotPossible
    key = draw.choice(sorted(records))
    how = draw.choice(("remove", "other", "other"))
    others = [one for one in records.values() if one.payload != records[key].payload]
    added: list[MetadataRecord] = []
    if how == "other":
        if not others:
            raise NotPossible
        added = [MetadataRecord(key, draw.choice(others).payload)]
    groups = IndexGroups.from_ids(slices)
    for group, part in Entries(added, [key] if how == "remove" else []).in_groups(groups).items():
        path = f"{METADATA_FOLDER}/{slices[group].path(slices[group].log_files[-1])}"
        instant = next(iter(read_log_file(storage, path))).instant
        storage.put(path, storage.get(path) + encode_log_file(index, instant, part, METADATA_SCHEMA))
    return Drawn(f"entry {how}", f"{index}: {key!r}")


DAMAGES: dict[str, Callable[[random.Random, MemoryStorage], Drawn]] = {
    one.__name__: one
    for one in (
        delete, cut, exchange, overwrite, rename, duplicate, flip, damage_file, change_action, change_properties, change_rows,
        change_header, change_entry,
    )
}  # fmt: skip


@dataclass
class Trial:
    """Damages tables, and compares changed answers with findings."""

    counts: Counter[str] = field(default_factory=Counter)
    _known: dict[Path, tuple[dict[str, object], list[Comparison], bool]] = field(default_factory=dict)

    def run(self, seed: int, tables: Sequence[Path], kinds: Sequence[str]) -> None:
        """One drawn damage of one drawn table."""
        draw = random.Random(seed)
        case = draw.choice(tables)
        before, filters, is_sound = self._state(case)
        if not is_sound or isinstance(before["snapshot by folders"], str):
            self.counts["not sound before"] += 1
            return
        storage = copied(case / "table")
        try:
            drawn = DAMAGES[draw.choice(kinds)](draw, storage)
        except (NotPossible, HudiError, FileNotFoundError):
            self.counts["not possible"] += 1
            return
        after = answers(storage, filters)
        changed = [name for name, answer in after.items() if before.get(name, answer) != answer]
        try:
            outcome = _judge(bool(changed), _validated(storage), drawn)
        except HudiError as error:
            outcome = f"refused as a whole: {type(error).__name__}"
        self.counts[outcome] += 1
        if outcome.isupper():
            print(f"{seed} {outcome} {case.parent.name}/{case.name}: {drawn.kind} {drawn.place}\n    {changed[:3]}", flush=True)

    def _state(self, case: Path) -> tuple[dict[str, object], list[Comparison], bool]:
        if case not in self._known:
            storage = copied(case / "table")
            try:
                load_table(URI, storage=storage)
                filters = filters_of(storage)
                self._known[case] = answers(storage, filters), filters, _validated(storage).is_sound
            except HudiError:
                self._known[case] = {}, [], False
        return self._known[case]


def _validated(storage: MemoryStorage) -> Validation:
    return validate(load_table(URI, storage=storage, clock=ManualClock(LATER)), ALL)


def _judge(changed: bool, found: Validation, drawn: Drawn) -> str:
    if found.broken:
        return "BROKEN"
    if changed and found.is_sound and drawn.cannot_be_seen:
        return "cannot be seen"
    if changed:
        return "MISSED" if found.is_sound else "found"
    return "nothing changed" if found.is_sound else "found, no answer changed"


def tables_of(pattern: str, version: str | None = None) -> list[Path]:
    """The folders of golden cases with tables, perhaps of one table version."""
    found = [path.parent for path in sorted(fixtures_root().glob(f"{pattern}/case.json")) if (path.parent / "table").is_dir()]
    if version is None:
        return found
    files = ((one, one / "table" / PROPERTIES_PATH) for one in found)
    wanted = f"hoodie.table.version={version}"
    return [one for one, file in files if file.is_file() and wanted in file.read_text(errors="replace")]


def main() -> int:
    """Run the command; 1 if something was missed or a check broke."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tables", default="*/*", help="pattern of the cases below fixtures")
    parser.add_argument("--kinds", nargs="*", default=sorted(DAMAGES), choices=sorted(DAMAGES))
    parser.add_argument("--version", help="only tables of this version")
    options = parser.parse_args()
    trial, tables = Trial(), tables_of(options.tables, options.version)
    for seed in range(options.seed, options.seed + options.count):
        trial.run(seed, tables, options.kinds)
    print(dict(trial.counts))
    return int(bool(trial.counts["MISSED"] or trial.counts["BROKEN"]))


if __name__ == "__main__":
    sys.exit(main())
