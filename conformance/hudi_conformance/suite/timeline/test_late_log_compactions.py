"""Log compactions that complete after a compaction of the same file group: their inputs are in the base file.

Writers that check for this abort. The tables have the files of a writer that does not; the reference writes them, and the
engine under test reads.
"""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.engines.registry import connect
from hudi_conformance.suite.support.actions_by_hand import add_milliseconds
from hudi_conformance.suite.support.programs.write_programs import Step, row
from hudi_conformance.suite.support.tables.tables_with_logs import FIRST, JOIN, MODES, LoggedTable, Mode
from hudi_conformance.suite.support.tables.written_tables import completion_time, table_folder

#: Without a metadata table, whose listing would not have the files.
UNLISTED = {"hoodie.metadata.enable": "false"}


def add_files(source: Path, target: Path, instant: str, completion: str) -> None:
    """Copy the files of an action from one copy of a table to another one, with this completion time."""
    for path in source.rglob(f"*{instant}*"):
        place = target / path.relative_to(source)
        is_completed = path.name.startswith(f"{instant}_")
        shutil.copy(path, place.with_name(f"{instant}_{completion}{path.suffix}") if is_completed else place)


@MODES
@pytest.mark.needs("read.snapshot", "read.projection", "merge-on-read", "log.avro", "merge.commit-time", "merge.event-time")
@pytest.mark.requirements("LCP-003", "LCP-005", "LF-040")
def test_compacted_blocks_without_their_inputs_are_not_applied(engine: Client, new_uri: Callable[[], str], mode: Mode) -> None:
    """LCP-003: a compacted block takes the place of its inputs. If a compaction of the same group was planned after the log
    compaction and completed before it, the inputs are in the base file, and the compacted block is in the slice of that base
    file. It is not applied: a delete in it would remove a row that was written later.
    """
    uri, other = new_uri(), new_uri()
    with connect("reference") as writer:
        table = LoggedTable(writer, uri, mode).write(FIRST, Step("delete", (row("a", 0, "gone"),)), options=UNLISTED)
        table.write(Step("upsert", (row("b", 15, "second"),)), options=UNLISTED)
        instant = table.schedule("log-compaction")
        shutil.copytree(table_folder(uri), table_folder(other))
        writer.service(other, "log-compaction", phase="execute", instant=instant, options=JOIN | UNLISTED)
        (table_folder(uri) / ".hoodie" / "timeline" / f"{instant}.logcompaction.requested").unlink()
        table.write(Step("upsert", (row("a", 1, "back"), row("b", 30, "newest"))), options=UNLISTED)
        table.check_rows("before the compaction")
        compaction = table.compact()
    table.check_rows("after the compaction", engine)
    late = add_milliseconds(completion_time(uri, compaction), 1)
    add_files(table_folder(other), table_folder(uri), instant, late)
    table.check_rows("with the files of the log compaction", engine)
