"""Mutants in file slices and queries."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.query import file_groups, table
from hudi_reference.query.file_groups import FileGroup, FileGroups
from hudi_reference.query.slice_reader import SliceReader
from hudi_reference.query.table import Table
from hudi_reference.records.mergers.merger import Merging
from hudi_reference.timeline.active import Timeline
from hudi_reference.write import rows


@mutant(breaks=("RDR-015", "CMP-006"))
def older_logs_applied_again(patch: Patch) -> None:
    """Applies all logs of a group to its newest base file, also those that are already in it."""
    patch.edit(
        FileGroup.latest,
        "\n    return newest\n",
        "\n    return replace(newest, log_files=sum((s.log_files for s in reversed(self.slices)), ()))\n",
    )


@mutant(breaks=("RDR-010", "TL-010"))
def replaced_groups_are_read(patch: Patch) -> None:
    """Reads the groups that a replacecommit superseded beside the new ones."""
    patch.edit(FileGroup.latest, "self.replaced_by is not None or ", "")


@mutant(breaks="RDR-011")
def replaced_groups_are_gone_for_every_time(patch: Patch) -> None:
    """Hides replaced groups from time travel to before the replacement too."""
    patch.edit(
        Timeline.until,
        "if instant.requested <= requested)",
        "if instant.requested <= requested or instant.action == 'replacecommit')",
    )


@mutant(breaks="TYP-008")
def time_travel_stays_at_home(patch: Patch) -> None:
    """Answers a query as of an instant with the latest rows."""
    patch.edit(Table.view, "timeline if as_of is None else _as_of(timeline, as_of)", "timeline")


@mutant(breaks=("RDR-012", "TYP-008"))
def time_travel_stops_one_short(patch: Patch) -> None:
    """Leaves the instant itself out of a query as of that instant."""
    patch.edit(Timeline.until, "if instant.requested <= requested)", "if instant.requested < requested)")


@mutant(breaks=("CMP-003", "RDR-012"))
def pending_compaction_hides_what_was_before(patch: Patch) -> None:
    """Reads only the logs of the slice that a pending compaction has begun."""
    patch.edit(FileGroup.latest, "while newest.pending_compaction and older:", "while False:")


@mutant(breaks="LAY-022")
def groups_without_base_file_are_dropped(patch: Patch) -> None:
    """Starts from base files and so misses groups that have only logs."""
    patch.edit(FileGroups.latest_slices, "is not None)", "is not None and found.base_file)")


@mutant(breaks="LAY-003")
def only_the_first_partition(patch: Patch) -> None:
    """Stops after the first partition."""
    patch.edit(
        FileGroups.latest_slices,
        "is not None)",
        "is not None and found.partition == next(iter(self.groups.values())).partition)",
    )


@mutant(breaks="TYP-017")
def read_optimized_merges_logs(patch: Patch) -> None:
    """Merges logs into a read-optimized query."""
    patch.edit(Table.read_optimized, ", logs=False", "")


@mutant(breaks="TYP-006")
def logs_are_ignored(patch: Patch) -> None:
    """Answers a snapshot query from base files alone."""
    patch.edit(SliceReader.read, "if logs and file_slice.log_files:", "if False:")


@mutant(breaks="MRG-015")
def ordering_column_only_when_asked_for(patch: Patch) -> None:
    """Reads the ordering column only if it is in the projection, and merges without it otherwise."""
    patch.edit(Merging.columns, 'path.partition(".")[0] for path in self.ordering', "name for name in ()")


@mutant(breaks="MRG-015")
def base_rows_are_filtered_before_merging(patch: Patch) -> None:
    """Returns the base row of a key whose newer version the filter does not match."""
    patch.edit(
        table.SliceQuery.__call__,
        "return chosen(rows, self.where).select(self.columns)",
        "return chosen(rows, self.where).select(self.columns) or self.reader.read(found, self.columns, logs=False)",
    )


@mutant(breaks="META-012")
def unfilled_keys_are_taken_as_they_are(patch: Patch) -> None:
    """Merges by the stored key column where the table leaves it empty, and so takes all rows for one."""
    patch.edit(SliceReader.keyed, "if not self.key_fields:", "if True:")


@mutant(breaks="BF-008")
def files_of_losing_attempts_are_read(patch: Patch) -> None:
    """Reads what an attempt left behind that lost against another one of the same action."""
    patch.edit(file_groups.load_file_groups, "if won(path):", "if True:")


@mutant(breaks="META-012")
def meta_columns_are_filled_unasked(patch: Patch) -> None:
    """Stores keys and times in a table that wants its meta columns empty."""
    patch.edit(rows.stored, "if properties.populates_meta_fields:", "if True:")
