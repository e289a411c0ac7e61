"""The timeline of a table that was migrated from version 6: completion times, names and contents of its files.

At version 6 an action has no completion time: it completed when its file was modified.
"""

import json
import os
import shutil
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.actions_by_hand import SYNC_MARKER, add_milliseconds, timeline_folder
from hudi_conformance.suite.support.concurrent.in_process import only_in_process
from hudi_conformance.suite.support.tables.older_tables import golden_table
from hudi_conformance.suite.support.tables.written_tables import table_folder
from hudi_reference import migrate
from hudi_reference.timeline.contents.actions import write_action
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import State

#: The completed actions of the golden table: the second and the fourth write to file groups of the first.
FIRST, SECOND, CLUSTERED, FOURTH, OVERWRITTEN = (
    "20261122012638123", "20261122012703532", "20261122012718871", "20261122012725451", "20261122012732262",
)  # fmt: skip
MIGRATES = pytest.mark.needs("table-version.6", "read.snapshot")
#: Times at which files of the old timeline were modified, and the completion time that follows for the first of them.
MODIFIED: Mapping[str, tuple[dict[str, str], str]] = {
    "before the next write": ({FIRST: add_milliseconds(SECOND, -1)}, add_milliseconds(SECOND, -1)),
    "with the next write of a file group": ({FIRST: SECOND}, add_milliseconds(FIRST, 1)),
    "after the next write of a file group": ({FIRST: add_milliseconds(SECOND, 1)}, add_milliseconds(FIRST, 1)),
    "after the next write of every file group": ({FIRST: add_milliseconds(FOURTH, 1)}, add_milliseconds(FIRST, 1)),
    "after the next write of another file group": ({SECOND: add_milliseconds(FOURTH, 1)}, add_milliseconds(FOURTH, 1)),
    "with the request": ({FIRST: FIRST}, add_milliseconds(FIRST, 1)),
    "with the request of another action": ({SECOND: CLUSTERED}, add_milliseconds(CLUSTERED, 1)),
    "with another action": (
        {OVERWRITTEN: add_milliseconds(OVERWRITTEN, 5), FOURTH: add_milliseconds(OVERWRITTEN, 5)},
        add_milliseconds(OVERWRITTEN, 6),
    ),
}  # fmt: skip


def copy_table(uri: str) -> Path:
    """Copy the golden table; the fourth write changes a file group of the first. Return the folder of its timeline."""
    shutil.copytree(golden_table("v6.cow"), table_folder(uri))
    old = table_folder(uri) / ".hoodie"
    first, fourth = (json.loads((old / f"{time}.commit").read_text()) for time in (FIRST, FOURTH))
    (stat,) = first["partitionToWriteStats"]["y"]
    fourth["partitionToWriteStats"]["y"] = [stat]
    (old / f"{FOURTH}.commit").write_text(json.dumps(fourth))
    return old


def set_modified(old: Path, times: Mapping[str, str]) -> None:
    """Set when the files of completed actions were modified, by requested time; by default a second after the request."""
    for requested in (FIRST, SECOND, CLUSTERED, FOURTH, OVERWRITTEN):
        text = times.get(requested, add_milliseconds(requested, 1000))
        modified = datetime.strptime(text, "%Y%m%d%H%M%S%f").timestamp()
        nanoseconds = round(modified * 1000) * 1_000_000
        for path in old.glob(f"{requested}.*commit"):
            os.utime(path, ns=(nanoseconds, nanoseconds))


@MIGRATES
@pytest.mark.requirements("COMPAT-006", "TL-004")
@pytest.mark.parametrize("name", MODIFIED)
def test_completion_times_of_a_migrated_table(engine: Client, new_uri: Callable[[], str], name: str) -> None:
    """TL-004: an action of version 6 completed when its file was modified, if that is after its request, before the next
    request for one of its file groups, and no time of another action. Otherwise it completed just after its request, or just
    after the other action.
    """
    only_in_process(engine)
    uri, (times, expected) = new_uri(), MODIFIED[name]
    set_modified(copy_table(uri), times)
    migrate(uri)
    (file,) = timeline_folder(uri).glob(f"{next(iter(times))}_*commit")
    assert file.name.partition("_")[2].partition(".")[0] == expected


#: What the plan of a clustering may say in the requested file of a replacecommit.
CLUSTERINGS: Mapping[str, dict[str, Any]] = {
    "by its operation": {"operationType": "CLUSTER"},
    "by its plan": {"clusteringPlan": {"inputGroups": [], "strategy": None, "extraMetadata": None, "version": 1}},
}


@MIGRATES
@pytest.mark.requirements("COMPAT-006", "TL-031")
@pytest.mark.parametrize("found", CLUSTERINGS)
def test_files_of_a_migrated_timeline(engine: Client, new_uri: Callable[[], str], found: str) -> None:
    """COMPAT-006: at version 6 a clustering is a replacecommit. Its plan and its inflight file get the name of the action at
    version 8, those of an overwrite keep theirs; every file with a record is an Avro file.
    """
    only_in_process(engine)
    uri = new_uri()
    plan = {"operationType": None, "clusteringPlan": None, "extraMetadata": None, "version": None, **CLUSTERINGS[found]}
    requested = Instant(CLUSTERED, "replacecommit", State.REQUESTED)
    (copy_table(uri) / requested.file_name).write_bytes(write_action(requested, plan, SYNC_MARKER))
    migrate(uri)
    names = {path.name for path in timeline_folder(uri).iterdir() if path.is_file()}
    pending = {name for name in names if name.startswith((CLUSTERED, OVERWRITTEN)) and "_" not in name}
    actions = {CLUSTERED: "clustering", OVERWRITTEN: "replacecommit"}
    assert pending == {f"{time}.{actions[time]}.{state}" for time in actions for state in ("requested", "inflight")}
    contents = [(timeline_folder(uri) / name).read_bytes() for name in names]
    assert {content[:4] for content in contents if content} == {b"Obj\x01"}
