"""The timeline history: actions that were moved from the active timeline, spec "Timeline > LSM Timeline History".

    _version_           the number of the valid manifest, as text
    manifest_<n>        JSON: name and length of every live file
    <min>_<max>_<level>.parquet     one row for each action

Only what a reader of the latest state needs is here: which instants completed, and when.
"""

import json
import re

import pyarrow as pa
import pyarrow.parquet as pq

from hudi_reference.errors import MalformedHistory, PathOutsideTable
from hudi_reference.requirement import implements
from hudi_reference.storage import Storage, inside
from hudi_reference.timeline.instant import Instant
from hudi_reference.timeline.states import ACTIONS, State

#: What of a level file answers whether and when an action completed.
_COLUMNS = pa.schema([(name, pa.string()) for name in ("instantTime", "completionTime", "action")])
_MANIFEST = re.compile(r"manifest_(\d+)", re.ASCII)


@implements("LSM-001", "LSM-005", "LSM-007", "LSM-010", "LSM-012", "LSM-017", "LSM-018", "LSM-019")
def read_history(storage: Storage, folder: str) -> tuple[Instant, ...]:
    """Every completed instant in the history, by requested time; () where nothing was archived yet.

    Raises MalformedHistory when manifest or a listed file is missing or cannot be read.
    """
    manifest = _current_manifest(storage, folder)
    if manifest is None:
        return ()
    instants: dict[tuple[str, str], Instant] = {}
    for name in _listed_files(storage, f"{folder}/{manifest}"):
        for instant in _read_level_file(storage, f"{folder}/{name}"):
            instants.setdefault(instant.identity, instant)
    return tuple(sorted(instants.values(), key=lambda instant: instant.requested))


def _current_manifest(storage: Storage, folder: str) -> str | None:
    """The manifest that the version file names, or the newest where an interrupted switch left no version file (ER-005)."""
    try:
        text = storage.get(f"{folder}/_version_").decode("ascii", "replace").strip(" \r\n\t")
    except FileNotFoundError:
        names = (info.path.rpartition("/")[2] for info in storage.list(folder))
        numbers = [int(match[1]) for name in names if (match := _MANIFEST.fullmatch(name))]
        return f"manifest_{max(numbers)}" if numbers else None
    if not re.fullmatch("[0-9]{1,18}", text):
        raise MalformedHistory(
            "not a manifest number",
            rule="LSM-007",
            path=f"{folder}/_version_",
            expected="digits",
            found=repr(text[:40]),
        )
    return f"manifest_{int(text)}"


def _listed_files(storage: Storage, path: str) -> list[str]:
    try:
        text = storage.get(path)
        listed = [entry["fileName"] for entry in json.loads(text)["files"]] if text.strip() else []
        return [inside(name) for name in listed]
    except FileNotFoundError as error:
        raise MalformedHistory("the manifest is missing", rule="LSM-009", path=path) from error
    except PathOutsideTable as error:
        error.path = path
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise MalformedHistory("not a manifest", rule="LSM-010", path=path, found=str(error)) from error


def _read_level_file(storage: Storage, path: str) -> list[Instant]:
    try:
        with storage.open(path) as file:
            columns = pq.read_table(file, columns=list(_COLUMNS.names), use_threads=False)
            rows = columns.select(_COLUMNS.names).cast(_COLUMNS).to_pylist()
    except FileNotFoundError as error:
        raise MalformedHistory("a file of the manifest is missing", rule="LSM-012", path=path) from error
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise MalformedHistory("not a file of the history", rule="LSM-003", path=path, found=str(error)) from error
    return [
        Instant(row["instantTime"], row["action"], State.COMPLETED, row["completionTime"])
        for row in rows
        if row["action"] in ACTIONS and row["instantTime"]
    ]
