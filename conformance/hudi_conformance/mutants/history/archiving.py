"""Planted bugs in archiving: limits, bounds, what goes where and in which order."""

from dataclasses import replace

from hudi_conformance.mutants.harness.mutant import Bug, planted
from hudi_reference.query import inspect
from hudi_reference.services.archive import archive, bounds, limits
from hudi_reference.timeline.history import history_writer, manifest
from hudi_reference.write import commit

SPARK, FLINK = limits.SPARK, limits.FLINK


@planted(breaks="ARC-001")
def archiving_forgets(bug: Bug) -> None:
    """Deletes old instants from the active timeline without storing them."""
    bug.edit(archive._carry_out, "flush(storage, history, (found.action(storage) for found in files))", "pass")


@planted(breaks="ARC-002")
def the_active_timeline_is_cleared_first(bug: Bug) -> None:
    """Deletes instants from the active timeline before the manifest that lists them is published."""
    bug.edit(
        archive._carry_out,
        "        flush(storage, history, (found.action(storage) for found in files))\n        _remove(storage, files)\n",
        "        actions = [found.action(storage) for found in files]\n"
        "        _remove(storage, files)\n        flush(storage, history, actions)\n",
    )


@planted(breaks="ARC-002")
def completed_files_go_before_pending_ones(bug: Bug) -> None:
    """Removes the completed file of an action first, so that a crash leaves an action that looks pending."""
    bug.edit(
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


@planted(breaks="ARC-002")
def what_is_in_both_places_counts_twice(bug: Bug) -> None:
    """Lists an action twice that is archived and not yet removed from the active timeline."""
    bug.edit(inspect.inspect_table, "if instant.identity not in archived", "")


@planted(breaks="ARC-003")
def archiving_goes_by_times_alone(bug: Bug) -> None:
    """Archives past pending actions, and what they are based on."""
    bug.edit(bounds._pending, "if oldest is None", "if True")
    bug.edit(bounds._concurrent, "if first is None", "if True")


@planted(breaks="ARC-003")
def savepoints_do_not_stop_archiving(bug: Bug) -> None:
    """Archives beyond a savepoint without being told to."""
    bug.edit(bounds._savepoint, "if situation.limits.beyond_savepoints or", "if True or")


@planted(breaks="ARC-004")
def markers_are_left_behind(bug: Bug) -> None:
    """Archives an action and leaves its markers."""
    bug.edit(archive._left_behind, "sorted(requested)", "()")


@planted(breaks="ARC-004")
def files_of_lost_attempts_are_left_behind(bug: Bug) -> None:
    """Archives independently of what attempts left in the partitions."""
    bug.edit(
        archive._left_behind,
        "(*files_left_behind(storage, lost(named), uncommitted(timeline, start)), *markers)",
        "tuple(markers)",
    )


@planted(breaks=("ARC-005", "ARC-006"))
def archiving_is_started_by_hand(bug: Bug) -> None:
    """Never archives after a write."""
    bug.set(commit, "FOLLOW_UPS", [])


@planted(breaks="ARC-006")
def archiving_follows_one_write_late(bug: Bug) -> None:
    """Counts without the write that has just completed."""
    bug.edit(archive.archive_after, "len(timeline.commits) + 1 >", "len(timeline.commits) >")


@planted(breaks="ARC-007")
def archiving_begins_at_twice_the_limit(bug: Bug) -> None:
    """Starts only when there are twice as many writes as the limit says."""
    bug.edit(archive._writes_that_go, "len(commits) <= most", "len(commits) <= 2 * most")


@planted(breaks="ARC-007")
def the_upper_limit_is_fifty(bug: Bug) -> None:
    """Takes the default of Flink jobs for all."""
    bug.item(SPARK, "most", replace(SPARK["most"], default="50"))  # type: ignore[arg-type]


@planted(breaks="ARC-008")
def limits_without_room_are_accepted(bug: Bug) -> None:
    """Takes a lower limit that is not below the upper one, and never archives or archives with each write."""
    bug.edit(limits.ArchiveLimits._check, "if self.fewest >= self.most", "if False")


@planted(breaks="ARC-009")
def only_what_exceeds_the_limit_goes(bug: Bug) -> None:
    """Leaves as many writes as the upper limit says."""
    bug.edit(archive._writes_that_go, "[: len(commits) - fewest]", "[: len(commits) - most]")


@planted(breaks="ARC-010")
def batches_of_actions(bug: Bug) -> None:
    """Merges a level when its files hold as many actions as the batch size says."""
    bug.edit(history_writer._merge_level, "if len(files) >= batch_size", "if 2 * len(files) >= batch_size")


@planted(breaks="ARC-011")
def flink_begins_at_thirty(bug: Bug) -> None:
    """Gives Flink jobs the upper limit of Spark jobs, where only the lower one is set."""
    bug.item(FLINK, "most", replace(FLINK["most"], default="30"))  # type: ignore[arg-type]


@planted(breaks="ARC-012")
def flink_leaves_twenty(bug: Bug) -> None:
    """Gives Flink jobs the lower limit of Spark jobs."""
    bug.item(FLINK, "fewest", replace(FLINK["fewest"], default="20"))  # type: ignore[arg-type]


@planted(breaks="LSM-002")
def times_and_types_only(bug: Bug) -> None:
    """Keeps neither metadata nor plan of an archived action."""
    bug.edit(archive._Files.action, "ArchivedAction(self.instant, metadata or None, self._plan(storage))",
             "ArchivedAction(self.instant)")  # fmt: skip


@planted(breaks="LSM-003")
def archived_as_avro(bug: Bug) -> None:
    """Writes the history as an Avro container under a Parquet name."""
    bug.edit(
        history_writer.encode_level_file,
        "return out.getvalue()",
        "import fastavro; data = io.BytesIO(); fastavro.writer(data, AVRO_SCHEMA, rows.to_pylist()); return data.getvalue()",
    )


@planted(breaks="LSM-004")
def one_manifest_for_ever(bug: Bug) -> None:
    """Changes the manifest that is there instead of making a new one."""
    bug.edit(
        history_writer._publish,
        "    number = max([seen.manifest.number, *taken]) + 1\n"
        '    path, version = f"{folder}/manifest_{number}", f"{folder}/{VERSION_FILE}"\n'
        "    try:\n        storage.create(path, encode_manifest(files))\n",
        "    number = 1\n"
        '    path, version = f"{folder}/manifest_{number}", f"{folder}/{VERSION_FILE}"\n'
        "    try:\n        storage.put(path, encode_manifest(files))\n",
    )


@planted(breaks="LSM-006")
def superseded_files_go_at_once(bug: Bug) -> None:
    """Deletes the inputs of a merge in the step that publishes its output."""
    bug.set(history_writer, "KEPT_MANIFESTS", 1)
    bug.edit(history_writer.retire, "KEPT_MANIFESTS + merged", "KEPT_MANIFESTS")


@planted(breaks="LSM-008")
def the_version_file_is_deleted_and_made_anew(bug: Bug) -> None:
    """Switches the version file in two steps, with none in between."""
    bug.edit(
        history_writer._publish,
        "storage.replace(version, str(number).encode(), seen.version_file.version)",
        "storage.delete(version); storage.create(version, str(number).encode())",
    )


@planted(breaks="LSM-009")
def the_version_comes_before_its_manifest(bug: Bug) -> None:
    """Names a manifest in the version file before it is written."""
    bug.edit(
        history_writer._publish,
        "        storage.create(path, encode_manifest(files))\n",
        "        if seen.version_file: storage.put(version, str(number).encode())\n"
        "        storage.create(path, encode_manifest(files))\n"
        "        if seen.version_file: return\n",
    )


@planted(breaks="LSM-010")
def a_manifest_of_the_last_step(bug: Bug) -> None:
    """Lists only the files that the step added itself."""
    bug.edit(history_writer.flush, "[*seen.manifest.files, file]", "[file]")


@planted(breaks="LSM-011")
def a_length_of_rows(bug: Bug) -> None:
    """Stores the number of rows where the length in bytes belongs."""
    bug.edit(history_writer._store, "len(data), minimum", "rows.num_rows, minimum")


@planted(breaks="LSM-013")
def levels_of_one_digit(bug: Bug) -> None:
    """Knows names only whose level is one digit."""
    bug.edit(manifest.parse_level_file_name, "len(match[3]) > 9", "len(match[3]) > 1")


@planted(breaks="LSM-014")
def named_by_the_least_completion_time(bug: Bug) -> None:
    """Begins the name of a file with the smallest completion time in it."""
    bug.edit(
        history_writer._store,
        "    data = encode",
        '    minimum = min(rows.column("completionTime").to_pylist())\n    data = encode',
    )


@planted(breaks="LSM-015")
def named_by_the_greatest_completion_time(bug: Bug) -> None:
    """Names a file by the largest completion time in it, as the text has it and no deployed reader expects (ER-039)."""
    bug.edit(
        history_writer._store,
        "    data = encode",
        '    maximum = max(rows.column("completionTime").to_pylist())\n    data = encode',
    )


@planted(breaks="LSM-016")
def flushed_to_level_one(bug: Bug) -> None:
    """Starts counting levels at 1."""
    bug.edit(history_writer.flush, "level=0", "level=1")


@planted(breaks="LSM-020")
def archived_metadata_as_json(bug: Bug) -> None:
    """Turns completion metadata into JSON, as the text has it and no deployed reader expects (ER-038)."""
    bug.edit(history_writer.rows_of, '"metadata": action.metadata or None', '"metadata": b"{}"')


@planted(breaks="LSM-021")
def an_empty_plan(bug: Bug) -> None:
    """Stores an empty text where there is no plan."""
    bug.edit(history_writer.rows_of, '"plan": action.plan or None', '"plan": action.plan or b""')


@planted(breaks="LSM-021")
def plans_are_forgotten(bug: Bug) -> None:
    """Keeps no plan of any action."""
    bug.edit(archive._Files._plan, "return next((data for name in names", "return None and next((data for name in names")


@planted(breaks="LSM-022")
def rows_as_they_were_listed(bug: Bug) -> None:
    """Writes rows in any order, the newest first."""
    bug.edit(history_writer.rows_of, "action.instant.requested)", "action.instant.requested, reverse=True)")


@planted(breaks="LSM-023")
def merged_into_the_same_level(bug: Bug) -> None:
    """Leaves the merged file on the level of its inputs."""
    bug.edit(history_writer._merge_level, "for file in chosen]), level + 1)", "for file in chosen]), level)")


@planted(breaks="LSM-023")
def merged_at_twice_the_number(bug: Bug) -> None:
    """Merges only when twice as many files have come together."""
    bug.edit(history_writer._merge_level, "if len(files) >= batch_size", "if len(files) >= 2 * batch_size")


@planted(breaks="LSM-024")
def a_merge_loses_plans(bug: Bug) -> None:
    """Copies all columns but the plan."""
    bug.edit(history_writer._merged, "rows = pa.concat_tables(parts)", "rows = pa.concat_tables(parts); "
             "rows = rows.set_column(4, COLUMNS.field(4), pa.nulls(rows.num_rows, pa.binary()))")  # fmt: skip
