"""Mutants in archiving: limits, bounds, what goes where and in which order."""

from dataclasses import replace

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.query import inspect
from hudi_reference.services.archive import archive, bounds, limits
from hudi_reference.timeline.history import history_writer, manifest
from hudi_reference.write import commit

SPARK, FLINK = limits.SPARK, limits.FLINK


@mutant(breaks="ARC-001")
def archiving_forgets(patch: Patch) -> None:
    """Deletes old instants from the active timeline without storing them."""
    patch.edit(archive._carry_out, "flush(storage, history, (found.action(storage) for found in files))", "pass")


@mutant(breaks="ARC-002")
def the_active_timeline_is_cleared_first(patch: Patch) -> None:
    """Deletes instants from the active timeline before the manifest that lists them is published."""
    patch.edit(
        archive._carry_out,
        "        flush(storage, history, (found.action(storage) for found in files))\n        _remove(storage, files)\n",
        "        actions = [found.action(storage) for found in files]\n"
        "        _remove(storage, files)\n        flush(storage, history, actions)\n",
    )


@mutant(breaks="ARC-002")
def completed_files_go_before_pending_ones(patch: Patch) -> None:
    """Removes the completed file of an action first, so that a crash leaves an action that looks pending."""
    patch.edit(
        archive._remove,
        "for found in files:\n        for _, instant in sorted(found.pending.items()):\n"
        '            storage.delete(f"{found.folder}/{instant.file_name}")\n    for found in files:\n'
        "        for name in found.completed:\n"
        '            storage.delete(f"{found.folder}/{name}")',
        "for found in files:\n        for name in found.completed:\n"
        '            storage.delete(f"{found.folder}/{name}")\n    for found in files:\n'
        "        for _, instant in sorted(found.pending.items()):\n"
        '            storage.delete(f"{found.folder}/{instant.file_name}")',
    )


@mutant(breaks="ARC-002")
def what_is_in_both_places_counts_twice(patch: Patch) -> None:
    """Lists an action twice that is archived and not yet removed from the active timeline."""
    patch.edit(inspect.inspect_table, "if instant.identity not in archived", "")


@mutant(breaks="ARC-003")
def archiving_goes_by_times_alone(patch: Patch) -> None:
    """Archives past pending actions, and what they are based on."""
    patch.edit(bounds._pending, "if oldest is None", "if True")
    patch.edit(bounds._concurrent, "if first is None", "if True")


@mutant(breaks="ARC-003")
def savepoints_do_not_stop_archiving(patch: Patch) -> None:
    """Archives beyond a savepoint without being told to."""
    patch.edit(bounds._savepoint, "if situation.limits.beyond_savepoints or", "if True or")


@mutant(breaks="ARC-004")
def markers_are_left_behind(patch: Patch) -> None:
    """Archives an action and leaves its markers."""
    patch.edit(archive._left_behind, "sorted(requested)", "()")


@mutant(breaks="ARC-004")
def files_of_lost_attempts_are_left_behind(patch: Patch) -> None:
    """Archives independently of what attempts left in the partitions."""
    patch.edit(
        archive._left_behind,
        "(*files_left_behind(storage, lost(named), uncommitted(timeline, start)), *markers)",
        "tuple(markers)",
    )


@mutant(breaks=("ARC-005", "ARC-006"))
def archiving_is_started_by_hand(patch: Patch) -> None:
    """Never archives after a write."""
    patch.edit(commit.Commit._after_completion, "self.table.hooks.after_completion", "()")


@mutant(breaks="ARC-006")
def archiving_follows_one_write_late(patch: Patch) -> None:
    """Counts without the write that has just completed."""
    patch.edit(archive.archive_timeline, "len(timeline.commits) + 1 >", "len(timeline.commits) >")


@mutant(breaks="ARC-007")
def archiving_begins_at_twice_the_limit(patch: Patch) -> None:
    """Starts only when there are twice as many writes as the limit says."""
    patch.edit(archive._writes_that_go, "len(commits) <= most", "len(commits) <= 2 * most")


@mutant(breaks="ARC-007")
def the_upper_limit_is_fifty(patch: Patch) -> None:
    """Takes the default of Flink jobs for all."""
    patch.item(SPARK, "most", replace(SPARK["most"], default="50"))  # type: ignore[arg-type]


@mutant(breaks="ARC-008")
def limits_without_room_are_accepted(patch: Patch) -> None:
    """Takes a lower limit that is not below the upper one, and never archives or archives with each write."""
    patch.edit(limits.ArchiveLimits._check, "if self.fewest >= self.most", "if False")


@mutant(breaks="ARC-009")
def only_what_exceeds_the_limit_goes(patch: Patch) -> None:
    """Leaves as many writes as the upper limit says."""
    patch.edit(archive._writes_that_go, "[: len(commits) - fewest]", "[: len(commits) - most]")


@mutant(breaks="ARC-010")
def batches_of_actions(patch: Patch) -> None:
    """Merges a level when its files hold as many actions as the batch size says."""
    patch.edit(history_writer._merge_level, "if len(files) >= batch_size", "if 2 * len(files) >= batch_size")


@mutant(breaks="ARC-011")
def flink_begins_at_thirty(patch: Patch) -> None:
    """Gives Flink jobs the upper limit of Spark jobs, where only the lower one is set."""
    patch.item(FLINK, "most", replace(FLINK["most"], default="30"))  # type: ignore[arg-type]


@mutant(breaks="ARC-012")
def flink_leaves_twenty(patch: Patch) -> None:
    """Gives Flink jobs the lower limit of Spark jobs."""
    patch.item(FLINK, "fewest", replace(FLINK["fewest"], default="20"))  # type: ignore[arg-type]


@mutant(breaks="LSM-002")
def times_and_types_only(patch: Patch) -> None:
    """Keeps neither metadata nor plan of an archived action."""
    patch.edit(archive._Files.action, "ArchivedAction(self.instant, metadata or None, self._plan(storage))",
             "ArchivedAction(self.instant)")  # fmt: skip


@mutant(breaks="LSM-003")
def archived_as_avro(patch: Patch) -> None:
    """Writes the history as an Avro container under a Parquet name."""
    patch.edit(
        history_writer.encode_level_file,
        "return out.getvalue()",
        "import fastavro; data = io.BytesIO(); fastavro.writer(data, AVRO_SCHEMA, rows.to_pylist()); return data.getvalue()",
    )


@mutant(breaks="LSM-004")
def one_manifest_for_ever(patch: Patch) -> None:
    """Changes the manifest that is there instead of making a new one."""
    patch.edit(
        history_writer._publish,
        "    number = max([seen.manifest.number, *taken]) + 1\n"
        '    path, version = f"{folder}/manifest_{number}", f"{folder}/{VERSION_FILE}"\n'
        "    try:\n        storage.create(path, encode_manifest(files))\n",
        "    number = 1\n"
        '    path, version = f"{folder}/manifest_{number}", f"{folder}/{VERSION_FILE}"\n'
        "    try:\n        storage.put(path, encode_manifest(files))\n",
    )


@mutant(breaks="LSM-006")
def superseded_files_go_at_once(patch: Patch) -> None:
    """Deletes the inputs of a merge in the step that publishes its output."""
    patch.set(history_writer, "KEPT_MANIFESTS", 1)
    patch.edit(history_writer.retire, "KEPT_MANIFESTS + merged", "KEPT_MANIFESTS")


@mutant(breaks="LSM-008")
def the_version_file_is_deleted_and_made_anew(patch: Patch) -> None:
    """Switches the version file in two steps, with none in between."""
    patch.edit(
        history_writer._publish,
        "storage.replace(version, str(number).encode(), seen.version_file.version)",
        "storage.delete(version); storage.create(version, str(number).encode())",
    )


@mutant(breaks="LSM-009")
def the_version_comes_before_its_manifest(patch: Patch) -> None:
    """Names a manifest in the version file before it is written."""
    patch.edit(
        history_writer._publish,
        "        storage.create(path, encode_manifest(files))\n",
        "        if seen.version_file: storage.put(version, str(number).encode())\n"
        "        storage.create(path, encode_manifest(files))\n"
        "        if seen.version_file: return\n",
    )


@mutant(breaks="LSM-010")
def a_manifest_of_the_last_step(patch: Patch) -> None:
    """Lists only the files that the step added itself."""
    patch.edit(history_writer.flush, "[*seen.manifest.files, file]", "[file]")


@mutant(breaks="LSM-011")
def a_length_of_rows(patch: Patch) -> None:
    """Stores the number of rows where the length in bytes belongs."""
    patch.edit(history_writer._store, "len(data), minimum", "rows.num_rows, minimum")


@mutant(breaks="LSM-013")
def levels_of_one_digit(patch: Patch) -> None:
    """Knows names only whose level is one digit."""
    patch.edit(manifest.parse_level_file_name, "len(match[3]) > 9", "len(match[3]) > 1")


@mutant(breaks="LSM-014")
def named_by_the_least_completion_time(patch: Patch) -> None:
    """Begins the name of a file with the smallest completion time in it."""
    patch.edit(
        history_writer._store,
        "    data = encode",
        '    minimum = min(rows.column("completionTime").to_pylist())\n    data = encode',
    )


@mutant(breaks="LSM-015")
def named_by_the_greatest_completion_time(patch: Patch) -> None:
    """Names a file by the largest completion time in it, as the text has it and no deployed reader expects (ER-039)."""
    patch.edit(
        history_writer._store,
        "    data = encode",
        '    maximum = max(rows.column("completionTime").to_pylist())\n    data = encode',
    )


@mutant(breaks="LSM-016")
def flushed_to_level_one(patch: Patch) -> None:
    """Starts counting levels at 1."""
    patch.edit(history_writer.flush, "level=0", "level=1")


@mutant(breaks="LSM-020")
def archived_metadata_as_json(patch: Patch) -> None:
    """Turns completion metadata into JSON, as the text has it and no deployed reader expects (ER-038)."""
    patch.edit(history_writer.rows_of, '"metadata": action.metadata or None', '"metadata": b"{}"')


@mutant(breaks="LSM-021")
def an_empty_plan(patch: Patch) -> None:
    """Stores an empty text where there is no plan."""
    patch.edit(history_writer.rows_of, '"plan": action.plan or None', '"plan": action.plan or b""')


@mutant(breaks="LSM-021")
def plans_are_forgotten(patch: Patch) -> None:
    """Keeps no plan of any action."""
    patch.edit(archive._Files._plan, "return next((data for name in names", "return None and next((data for name in names")


@mutant(breaks="LSM-022")
def rows_as_they_were_listed(patch: Patch) -> None:
    """Writes rows in any order, the newest first."""
    patch.edit(history_writer.rows_of, "action.instant.requested)", "action.instant.requested, reverse=True)")


@mutant(breaks="LSM-023")
def merged_into_the_same_level(patch: Patch) -> None:
    """Leaves the merged file on the level of its inputs."""
    patch.edit(history_writer._merge_level, "for file in chosen]), level + 1)", "for file in chosen]), level)")


@mutant(breaks="LSM-023")
def merged_at_twice_the_number(patch: Patch) -> None:
    """Merges only when twice as many files have come together."""
    patch.edit(history_writer._merge_level, "if len(files) >= batch_size", "if len(files) >= 2 * batch_size")


@mutant(breaks="LSM-024")
def a_merge_loses_plans(patch: Patch) -> None:
    """Copies all columns but the plan."""
    patch.edit(history_writer._merged, "rows = pa.concat_tables(parts)", "rows = pa.concat_tables(parts); "
             "rows = rows.set_column(4, COLUMNS.field(4), pa.nulls(rows.num_rows, pa.binary()))")  # fmt: skip
