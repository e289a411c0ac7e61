"""Damages of the history, and sound tables with what upgrades and rebuilt partitions of a metadata table leave in it."""

import io
import json
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import validated_tables_samples as t
from damages_samples import Damage
from timeline_damages_samples import _archived_clean, _level_file, _rename_level_file, edit_history

from hudi_reference.layout.names import split_path
from hudi_reference.storage import Storage

_HISTORY = f"{t.TIMELINE}/history/"
_INSIDE = ".hoodie/metadata/.hoodie/timeline/"
_FIRST = "0" * 17


def with_values(rows: pa.Table, values: dict[str, Any], number: int = 0) -> pa.Table:
    """Rows of which one has other values."""
    for name, value in values.items():
        at = rows.schema.get_field_index(name)
        column = rows.column(name).to_pylist()
        column[number] = value
        rows = rows.set_column(at, rows.schema.field(at), pa.array(column, rows.schema.field(at).type))
    return rows


def _of_clean(rows: pa.Table) -> int:
    return int(rows.column("action").to_pylist().index("clean"))


def upgraded_with_a_plan() -> Storage:
    """An upgrade from version 6 stores plans without their schema, in a file whose minimum is above the maximum (ER-083)."""
    storage = _archived_clean()
    edit_history(lambda rows: with_values(rows, {"plan": b"junk"}, _of_clean(rows)))(storage)
    _rename_level_file("20991231000000000", "20200101000000000")(storage)
    return storage


def made_again(*completions: str) -> Storage:
    """A partition of the metadata table was made at these times under the first time, was dropped, and was made again (ER-210)."""
    storage = t.with_metadata_table()
    _archive_first(storage, *completions)
    (first,) = t.paths(storage, ".hoodie/metadata/files/", ".hfile")
    folder, file = split_path(first)
    storage.put(f"{folder}/{file.replace('_0-0-0_', '_9-9-9_')}", storage.get(first))
    return storage


def _archive_first(storage: Storage, *completions: str) -> None:
    """Write a history in which the first time of the metadata table was completed at these times."""
    archived = t.archived()
    (active,) = t.paths(storage, f"{_INSIDE}{_FIRST}_")
    row = pq.read_table(io.BytesIO(archived.get(_level_file(archived)))).slice(0, 1)
    row = with_values(row, {"instantTime": _FIRST, "action": "deltacommit", "metadata": storage.get(active)})
    out, name = io.BytesIO(), f"{_FIRST}_{_FIRST}_0.parquet"
    pq.write_table(pa.concat_tables([with_values(row, {"completionTime": one}) for one in completions]), out)
    manifest = {"files": [{"fileName": name, "fileLen": len(out.getvalue())}]}
    for file, content in {name: out.getvalue(), "manifest_1": json.dumps(manifest).encode(), "_version_": b"1"}.items():
        storage.put(f"{_INSIDE}history/{file}", content)


def _complete_first_again(storage: Storage) -> None:
    _archive_first(storage, "20260921141320000", "20260921141320001")


def _archived_again(storage: Storage) -> None:
    """The next manifest lists only the file that a later step added, and that has no action."""
    old = _level_file(storage)
    rows, out, name = (
        pq.read_table(io.BytesIO(storage.get(old))).slice(0, 0),
        io.BytesIO(),
        "20991231000000000_20991231000000000_0.parquet",
    )
    pq.write_table(rows, out)
    manifest = {"files": [{"fileName": name, "fileLen": len(out.getvalue())}]}
    for file, content in {name: out.getvalue(), "manifest_2": json.dumps(manifest).encode(), "_version_": b"2"}.items():
        storage.put(f"{_HISTORY}{file}", content)


def _lose_entries(storage: Storage) -> None:
    storage.put(t.manifest_of(storage)[0], b'{"files": []}')


def _lose_manifest(storage: Storage) -> None:
    storage.delete(f"{_HISTORY}manifest_1")


HISTORY_DAMAGES = (
    Damage("no manifest", "history.readable", "LSM-009", t.archived, _lose_manifest, severity="wrong-answers"),
    *(
        Damage(name, "history.unlisted-files", "LSM-010", t.archived, edit, ("OCC-008", "RDR-008"), "wrong-answers")
        for name, edit in {
            "neither manifest nor version file": lambda s: (_lose_manifest(s), s.delete(f"{_HISTORY}_version_")),
            "a manifest without entries": _lose_entries,
            "a manifest of the last step alone": _archived_again,
        }.items()
    ),
    Damage("two completions of an archived initialization", "history.no-action-twice", "ARC-002",
           lambda: made_again("20260921141320000"), _complete_first_again, severity="cosmetic"),
)  # fmt: skip

SOUND_HISTORIES = {
    "an upgraded history with a plan": upgraded_with_a_plan,
    "a partition of a metadata table that was made again": lambda: made_again("20260921141320000"),
}
