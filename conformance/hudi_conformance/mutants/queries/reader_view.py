"""Mutants of the view of a reader: instants, file groups, slices, and logs."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference import locks
from hudi_reference.query import file_groups, table
from hudi_reference.query.file_groups import FileGroup
from hudi_reference.query.log_scanner import LogScanner
from hudi_reference.query.table import Table
from hudi_reference.records import merge
from hudi_reference.records.merging import merge_slice
from hudi_reference.timeline import active
from hudi_reference.timeline.active import Timeline


@mutant(breaks="RDR-001")
def reader_removes_pending_instants(patch: Patch) -> None:
    """Removes pending instants from the timeline when a table is read."""
    from hudi_reference.query.table import Table

    patch.edit(
        Table._read,
        "check_readable(self.properties)\n",
        "check_readable(self.properties)\n"
        "    for i in view.timeline.pending:\n"
        "        self.storage.create(f'{self.properties.timeline_folder}/{i.requested}.rollback.requested', b'')\n",
    )


@mutant(breaks="RDR-002")
def timeline_reloaded_for_each_slice(patch: Patch) -> None:
    """Reloads the table for each slice that it reads."""
    patch.edit(
        Table._read,
        "parts = self._in_parallel(plan.read, plan.slices)",
        "parts = [plan.read(s) for n, _ in enumerate(plan.slices) for s in self.view().groups.latest_slices[n : n + 1]]",
    )


@mutant(breaks="RDR-004")
def reader_takes_table_lock(patch: Patch) -> None:
    """Takes the table lock to read the timeline."""
    patch.set(locks.InProcessLock.__init__, "__defaults__", (0.2,))
    patch.edit(
        table.Table.view,
        "earlier = None",
        "from hudi_reference.locks import held, lock_of\n"
        "    with held(lock_of(self.storage), 'a reader'):\n"
        "        pass\n"
        "    earlier = None",
    )


@mutant(breaks="RDR-005")
def timeline_read_twice_per_query(patch: Patch) -> None:
    """Reads the timeline again to find the files."""
    patch.edit(
        table.Table.view,
        "load_file_groups(self.storage, self.properties, timeline,",
        "load_file_groups(self.storage, self.properties, self.timeline,",
    )


@mutant(breaks="RDR-006")
def time_travel_by_requested_time(patch: Patch) -> None:
    """Includes instants that were requested before the end of a window, also if they completed later."""
    patch.edit(active.Timeline.completion_of, "found >= self.limit", "requested >= self.limit")


@mutant(breaks="RDR-007")
def files_grouped_by_write_token(patch: Patch) -> None:
    """Puts files with one write token into one file group."""
    patch.edit(
        file_groups._data_files,
        "files.setdefault((partition, parsed.file_id), [])",
        "files.setdefault((partition, parsed.write_token), [])",
    )


@mutant(breaks="RDR-009")
def archived_completion_time_is_requested_time(patch: Patch) -> None:
    """Takes the requested time of an archived write for its completion time."""
    patch.edit(
        active.Timeline._archived_completion_of,
        "return self.archived.completion_of(requested, everywhere=True) or requested",
        "return requested",
    )


@mutant(breaks="RDR-009")
def files_of_active_timeline_only(patch: Patch) -> None:
    """Reads the files that commits of the active timeline name, and no others."""
    patch.edit(file_groups._data_files, "sorted({*listed, *committed})", "sorted(committed)")


@mutant(breaks="RDR-009")
def archived_instants_ignored_by_reader(patch: Patch) -> None:
    """Uses only the active timeline and ignores the files of archived actions."""
    patch.edit(
        active.Timeline._archived_completion_of,
        "return self.archived.completion_of(requested, everywhere=True) or requested",
        "return None",
    )


@mutant(breaks="RDR-010")
def replaced_groups_reappear_after_next_write(patch: Patch) -> None:
    """Hides replaced groups only if the replacement is the newest action."""
    patch.edit(
        file_groups._replaced_groups,
        "for instant, commit in commits.items()",
        "for instant, commit in list(commits.items())[-1:]",
    )


@mutant(breaks=("RDR-010", "TL-010"))
def replaced_groups_read(patch: Patch) -> None:
    """Reads the groups that a replacecommit replaced beside the new ones."""
    patch.edit(FileGroup.latest, "self.replaced_by is not None or ", "")


@mutant(breaks="RDR-011")
def replaced_groups_hidden_from_time_travel(patch: Patch) -> None:
    """Hides replaced groups from time travel to before the replacement too."""
    patch.edit(
        Timeline.until,
        "if instant.requested <= requested)",
        "if instant.requested <= requested or instant.action == 'replacecommit')",
    )


@mutant(breaks=("RDR-012", "TYP-008"))
def time_travel_excludes_its_instant(patch: Patch) -> None:
    """Excludes the instant itself from a query as of that instant."""
    patch.edit(Timeline.until, "if instant.requested <= requested)", "if instant.requested < requested)")


@mutant(breaks="RDR-013")
def newest_instant_ignored(patch: Patch) -> None:
    """Ignores the newest instant of the timeline."""
    patch.edit(
        file_groups._slices,
        "if parsed.instant > last:",
        "if parsed.instant > last or parsed.instant >= timeline.commits[-1].requested:",
    )


@mutant(breaks="RDR-014")
def delete_blocks_applied_first(patch: Patch) -> None:
    """Applies the delete blocks of a slice before its data blocks."""
    patch.edit(
        LogScanner.blocks,
        "return apply_log_compactions(of_one_attempt(queue))",
        "return sorted(apply_log_compactions(of_one_attempt(queue)), key=lambda b: b.kind != BlockType.DELETE)",
    )


@mutant(breaks=("RDR-014", "MRG-027"))
def logs_applied_newest_first(patch: Patch) -> None:
    """Merges the versions of a record from the newest on."""
    patch.edit(merge.fold, "for version in versions:", "for version in reversed(list(versions)):")


@mutant(breaks="RDR-015")
def logs_assigned_to_newest_slice(patch: Patch) -> None:
    """Puts every log of a group into its newest slice."""
    patch.edit(file_groups._slices, "(start for start in slices if start <= time)", "slices")


@mutant(breaks=("RDR-015", "CMP-006"))
def compacted_logs_applied_again(patch: Patch) -> None:
    """Applies all logs of a group to its newest base file, also those that it already contains."""
    patch.edit(
        FileGroup.latest,
        "\n    return newest\n",
        "\n    return replace(newest, log_files=sum((s.log_files for s in reversed(self.slices)), ()))\n",
    )


@mutant(breaks="RDR-016")
def newest_log_file_only(patch: Patch) -> None:
    """Merges only the newest log file of a file slice."""
    patch.edit(LogScanner.blocks, "for name in file_slice.log_files:", "for name in file_slice.log_files[-1:]:")


@mutant(breaks="RDR-017")
def log_only_records_dropped(patch: Patch) -> None:
    """Joins logs to base rows and drops log records without one."""
    patch.edit(merge_slice.select, "if key not in in_base]", "if key in in_base]")


@mutant(breaks="RDR-018")
def file_listing_cached_forever(patch: Patch) -> None:
    """Keeps the first listing of a table, so that later files are not seen."""
    patch.edit(
        file_groups.load_file_groups,
        "listed = {info.path for info in storage.list(skip=META_FOLDER)}",
        "cache = load_file_groups.__dict__.setdefault('_cache', {})\n"
        "    key = (getattr(storage, 'root', id(storage)), len({s.partition for c in commits.values() for s in c.stats}))\n"
        "    listed = cache.setdefault(key, {info.path for info in storage.list(skip=META_FOLDER)})",
    )
