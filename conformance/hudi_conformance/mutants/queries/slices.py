"""Planted bugs in file slices and queries."""

from hudi_conformance.mutants.harness.mutant import Bug, planted
from hudi_reference.query import file_groups, table
from hudi_reference.query.file_groups import FileGroup, FileGroups
from hudi_reference.query.slice_reader import SliceReader
from hudi_reference.query.table import Table
from hudi_reference.records.mergers.merger import Merging
from hudi_reference.timeline.active import Timeline
from hudi_reference.write import rows


@planted(breaks=("RDR-015", "CMP-006"))
def older_logs_applied_again(bug: Bug) -> None:
    """Applies all logs of a group to its newest base file, also those that are already in it."""
    bug.edit(
        FileGroup.latest,
        "\n    return newest\n",
        "\n    return replace(newest, log_files=sum((s.log_files for s in reversed(self.slices)), ()))\n",
    )


@planted(breaks=("RDR-010", "TL-010"))
def replaced_groups_are_read(bug: Bug) -> None:
    """Reads the groups that a replacecommit superseded beside the new ones."""
    bug.edit(FileGroup.latest, "self.replaced_by is not None or ", "")


@planted(breaks="RDR-011")
def replaced_groups_are_gone_for_every_time(bug: Bug) -> None:
    """Hides replaced groups from time travel to before the replacement too."""
    bug.edit(
        Timeline.until,
        "if instant.requested <= requested)",
        "if instant.requested <= requested or instant.action == 'replacecommit')",
    )


@planted(breaks="TYP-008")
def time_travel_stays_at_home(bug: Bug) -> None:
    """Answers a query as of an instant with the latest rows."""
    bug.edit(Table.view, "timeline if as_of is None else _as_of(timeline, as_of)", "timeline")


@planted(breaks=("RDR-012", "TYP-008"))
def time_travel_stops_one_short(bug: Bug) -> None:
    """Leaves the instant itself out of a query as of that instant."""
    bug.edit(Timeline.until, "if instant.requested <= requested)", "if instant.requested < requested)")


@planted(breaks=("CMP-003", "RDR-012"))
def pending_compaction_hides_what_was_before(bug: Bug) -> None:
    """Reads only the logs of the slice that a pending compaction has begun."""
    bug.edit(FileGroup.latest, "while newest.pending_compaction and older:", "while False:")


@planted(breaks="LAY-022")
def groups_without_base_file_are_dropped(bug: Bug) -> None:
    """Starts from base files and so misses groups that have only logs."""
    bug.edit(FileGroups.latest_slices, "is not None)", "is not None and found.base_file)")


@planted(breaks="LAY-003")
def only_the_first_partition(bug: Bug) -> None:
    """Stops after the first partition."""
    bug.edit(
        FileGroups.latest_slices,
        "is not None)",
        "is not None and found.partition == next(iter(self.groups.values())).partition)",
    )


@planted(breaks="TYP-017")
def read_optimized_merges_logs(bug: Bug) -> None:
    """Merges logs into a read-optimized query."""
    bug.edit(Table.read_optimized, ", logs=False", "")


@planted(breaks="TYP-006")
def logs_are_ignored(bug: Bug) -> None:
    """Answers a snapshot query from base files alone."""
    bug.edit(SliceReader._rows, "if not logs or not found.log_files:", "if True:")


@planted(breaks="MRG-015")
def ordering_column_only_when_asked_for(bug: Bug) -> None:
    """Reads the ordering column only if it is in the projection, and merges without it otherwise."""
    bug.edit(Merging.columns, 'path.partition(".")[0] for path in self.ordering', "name for name in ()")


@planted(breaks="MRG-015")
def base_rows_are_filtered_before_merging(bug: Bug) -> None:
    """Returns the base row of a key whose newer version the filter does not match."""
    bug.edit(
        table.SliceQuery.__call__,
        "return chosen(rows, self.where).select(self.columns)",
        "return chosen(rows, self.where).select(self.columns) or self.reader.read(found, self.columns, logs=False)",
    )


@planted(breaks="META-012")
def unfilled_keys_are_taken_as_they_are(bug: Bug) -> None:
    """Merges by the stored key column where the table leaves it empty, and so takes all rows for one."""
    bug.edit(SliceReader.keyed, "if not self.key_fields:", "if True:")


@planted(breaks="BF-008")
def files_of_losing_attempts_are_read(bug: Bug) -> None:
    """Reads what an attempt left behind that lost against another one of the same action."""
    bug.edit(file_groups.load_file_groups, "if won(path):", "if True:")


@planted(breaks="META-012")
def meta_columns_are_filled_unasked(bug: Bug) -> None:
    """Stores keys and times in a table that wants its meta columns empty."""
    bug.edit(rows.stored, "if properties.populates_meta_fields:", "if True:")
