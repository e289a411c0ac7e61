"""Writes by the reference that have stored their files and are not completed, beside an engine."""

from collections.abc import Sequence
from dataclasses import dataclass

from hudi_conformance.suite.support.programs.write_programs import Row, as_arrow, row
from hudi_conformance.suite.support.tables.tables_under_services import data_file_names
from hudi_conformance.suite.support.tables.written_tables import table_folder
from hudi_reference import open_table
from hudi_reference.schema.avro import AvroSchema, with_meta_columns
from hudi_reference.timeline.contents.metadata import write_commit_metadata
from hudi_reference.timeline.instants.instant import Instant
from hudi_reference.timeline.instants.states import State
from hudi_reference.write.commit import Commit, begin, transitions_of
from hudi_reference.write.placement.locate import locate
from hudi_reference.write.placement.rows import prepare
from hudi_reference.write.writer import Writer

#: Options for one of several writers: it does not roll back pending actions of others.
SEVERAL_WRITERS = {
    "hoodie.write.concurrency.mode": "optimistic_concurrency_control",
    "hoodie.clean.failed.writes.policy": "LAZY",
    "hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.InProcessLockProvider",
}

LATE = (row("a", 90, "late"), row("d", 90, "late and new", "rio"))


@dataclass(frozen=True)
class PendingWrite:
    """A write by the reference that has its files on storage and is not completed."""

    commit: Commit
    schema: AvroSchema
    #: The names of its files.
    files: set[str]

    @property
    def instant(self) -> str:
        """The requested time."""
        return self.commit.requested

    def complete(self) -> None:
        """Complete the write; raises WriteConflict if the action was rolled back."""
        self.commit.complete(self.schema)


def begin_write(uri: str, rows: Sequence[Row] = LATE) -> PendingWrite:
    """Begin a write and store its files; do not complete it."""
    table, before = open_table(uri), data_file_names(uri)
    view = table.view()
    reader = view.reader(table)
    located = locate(prepare(as_arrow(rows), table.properties, reader.schema), view, reader)
    commit = begin(table, "UPSERT", view.timeline)
    writer = Writer(commit, reader, with_meta_columns(view.schema))
    for found, changes in located.known:
        writer.change(found, changes)
    for partition, new in located.new:
        writer.add(partition, new)
    return PendingWrite(commit, view.schema, data_file_names(uri) - before)


def complete_unchecked(uri: str, write: PendingWrite) -> None:
    """Complete a write as a writer does that looks neither for rollbacks nor for conflicts."""
    table, commit = open_table(uri), write.commit
    content = write_commit_metadata(commit.operation, commit.stats, write.schema, table.ids.sync_marker())
    transitions_of(table).complete(Instant(write.instant, commit.action, State.INFLIGHT), content)


def send_heartbeat(uri: str, instant: str) -> None:
    """Create or refresh the heartbeat of a writer."""
    file = table_folder(uri) / ".hoodie" / ".heartbeat" / instant
    file.parent.mkdir(exist_ok=True)
    file.touch()
