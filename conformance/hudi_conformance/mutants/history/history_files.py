"""Mutants of the files of the archived timeline: manifests, names, rows, and merges of levels."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.services.archive import archive
from hudi_reference.timeline import active
from hudi_reference.timeline.history import history, history_writer, manifest
from hudi_reference.timeline.history.manifest import LevelFile


@mutant(breaks="LSM-001")
def history_read_from_old_folder(patch: Patch) -> None:
    """Reads the history from .hoodie/archived."""
    patch.edit(active.load_timeline, "properties.history_folder", "'.hoodie/archived'")


@mutant(breaks="LSM-002")
def archive_without_metadata_and_plan(patch: Patch) -> None:
    """Stores neither metadata nor plan of an archived action."""
    patch.edit(archive._Files.action, "ArchivedAction(self.instant, metadata or None, self._plan(storage))",
             "ArchivedAction(self.instant)")  # fmt: skip


@mutant(breaks="LSM-003")
def history_file_as_avro(patch: Patch) -> None:
    """Writes a history file as an Avro container under a Parquet name."""
    patch.edit(
        history_writer.encode_level_file,
        "return out.getvalue()",
        "import fastavro; data = io.BytesIO(); fastavro.writer(data, AVRO_SCHEMA, rows.to_pylist()); return data.getvalue()",
    )


@mutant(breaks="LSM-004")
def manifest_changed_in_place(patch: Patch) -> None:
    """Changes the existing manifest instead of creating a new one."""
    patch.edit(
        history_writer._publish,
        "    number = max([seen.manifest.number, *taken]) + 1\n"
        '    path, version = f"{folder}/manifest_{number}", f"{folder}/{VERSION_FILE}"\n'
        "    try:\n        storage.create(path, encode_manifest(files))\n",
        "    number = 1\n"
        '    path, version = f"{folder}/manifest_{number}", f"{folder}/{VERSION_FILE}"\n'
        "    try:\n        storage.put(path, encode_manifest(files))\n",
    )


@mutant(breaks="LSM-005")
def greatest_manifest_read(patch: Patch) -> None:
    """Reads the manifest with the greatest number, whatever the version file says."""
    patch.edit(manifest.current_version, "storage.get(path)", "storage.get(path + 'none')")


@mutant(breaks="LSM-005")
def manifest_numbers_compared_as_text(patch: Patch) -> None:
    """Takes manifest 9 for later than manifest 10 if there is no version file."""
    patch.edit(manifest._greatest_manifest, "default=0)", "default=0, key=str)")


@mutant(breaks="LSM-006")
def superseded_history_files_deleted_at_once(patch: Patch) -> None:
    """Deletes the inputs of a merge in the step that publishes its output."""
    patch.set(history_writer, "KEPT_MANIFESTS", 1)
    patch.edit(history_writer.retire, "KEPT_MANIFESTS + merged", "KEPT_MANIFESTS")


@mutant(breaks="LSM-007")
def history_version_of_one_digit(patch: Patch) -> None:
    """Reads only the first digit of the version file."""
    patch.edit(manifest.current_version, "return int(text)", "return int(text[0])")


@mutant(breaks="LSM-008")
def history_version_file_recreated(patch: Patch) -> None:
    """Replaces the version file in two steps, with no version file in between."""
    patch.edit(
        history_writer._publish,
        "storage.replace(version, str(number).encode(), seen.version_file.version)",
        "storage.delete(version); storage.create(version, str(number).encode())",
    )


@mutant(breaks="LSM-009")
def history_version_before_manifest(patch: Patch) -> None:
    """Names a manifest in the version file before the manifest is written."""
    patch.edit(
        history_writer._publish,
        "        storage.create(path, encode_manifest(files))\n",
        "        if seen.version_file: storage.put(version, str(number).encode())\n"
        "        storage.create(path, encode_manifest(files))\n"
        "        if seen.version_file: return\n",
    )


@mutant(breaks="LSM-010")
def manifest_lists_new_files_only(patch: Patch) -> None:
    """Lists only the files that the last step added."""
    patch.edit(history_writer.flush, "[*seen.manifest.files, file]", "[file]")


@mutant(breaks="LSM-010")
def only_the_first_file_of_a_manifest(patch: Patch) -> None:
    """Reads the first of the files that a manifest lists."""
    patch.edit(manifest.read_manifest, "for entry in listed)", "for entry in listed[:1])")


@mutant(breaks="LSM-011")
def manifest_stores_row_count_as_length(patch: Patch) -> None:
    """Stores the number of rows in place of the length in bytes."""
    patch.edit(history_writer._store, "len(data), minimum", "rows.num_rows, minimum")


@mutant(breaks=("LSM-011", "LSM-012"))
def history_file_length_not_compared(patch: Patch) -> None:
    """Reads the file under the name of a history file, also if it is not the published one."""
    patch.edit(history._check_length, "if size != file.length:", "if size < 0:")


@mutant(breaks="LSM-012")
def unlisted_history_files_read(patch: Patch) -> None:
    """Reads every file of the history folder, listed or not."""
    patch.edit(
        manifest.read_manifest,
        'json.loads(text)["files"]',
        "[{'fileName': n, 'fileLen': storage.head(f'{folder}/{n}').size}"
        " for n in storage.names(folder) if n.endswith('.parquet')]",
    )


@mutant(breaks="LSM-013")
def history_levels_of_one_digit(patch: Patch) -> None:
    """Recognizes only names whose level has one digit."""
    patch.edit(manifest.parse_level_file_name, "len(match[3]) > 9", "len(match[3]) > 1")


@mutant(breaks="LSM-014")
def history_file_named_by_least_completion_time(patch: Patch) -> None:
    """Starts the name of a history file with the smallest completion time in it."""
    patch.edit(
        history_writer._store,
        "    data = encode",
        '    minimum = min(rows.column("completionTime").to_pylist())\n    data = encode',
    )


@mutant(breaks="LSM-015")
def history_file_named_by_greatest_completion_time(patch: Patch) -> None:
    """Ends the name of a history file with the largest completion time in it, as the text says and no deployed reader
    expects (ER-039).
    """
    patch.edit(
        history_writer._store,
        "    data = encode",
        '    maximum = max(rows.column("completionTime").to_pylist())\n    data = encode',
    )


@mutant(breaks="LSM-016")
def history_flushed_to_level_one(patch: Patch) -> None:
    """Starts counting levels at 1."""
    patch.edit(history_writer.flush, "level=0", "level=1")


@mutant(breaks="LSM-017")
def history_begin_time_is_completion_time(patch: Patch) -> None:
    """Returns the completion time of an archived action as its requested time."""
    patch.edit(history.instants_of, "Instant(r, a", "Instant(c, a")


@mutant(breaks="LSM-018")
def history_without_completion_times(patch: Patch) -> None:
    """Omits the completion times of the history."""
    patch.edit(history.instants_of, "_COMPLETED, c)", "_COMPLETED, None)")


@mutant(breaks="LSM-019")
def archived_actions_read_as_commits(patch: Patch) -> None:
    """Reads every archived action as a commit."""
    patch.edit(history.instants_of, "Instant(r, a", 'Instant(r, "commit"')


@mutant(breaks="LSM-020")
def archived_metadata_as_json(patch: Patch) -> None:
    """Stores completion metadata as JSON, as the text says and no deployed reader expects (ER-038)."""
    patch.edit(history_writer.rows_of, '"metadata": action.metadata or None', '"metadata": b"{}"')


@mutant(breaks="LSM-021")
def missing_plan_archived_as_empty(patch: Patch) -> None:
    """Stores an empty value where there is no plan."""
    patch.edit(history_writer.rows_of, '"plan": action.plan or None', '"plan": action.plan or b""')


@mutant(breaks="LSM-021")
def archive_without_plans(patch: Patch) -> None:
    """Stores no plan of any action."""
    patch.edit(archive._Files._plan, "return next((data for name in names", "return None and next((data for name in names")


@mutant(breaks="LSM-022")
def history_rows_unsorted(patch: Patch) -> None:
    """Writes the rows of a history file unsorted, the newest first."""
    patch.edit(history_writer.rows_of, "action.instant.requested)", "action.instant.requested, reverse=True)")


@mutant(breaks="LSM-023")
def history_merged_into_same_level(patch: Patch) -> None:
    """Leaves the merged file on the level of its inputs."""
    patch.edit(history_writer._merge_level, "for file in chosen]), level + 1)", "for file in chosen]), level)")


@mutant(breaks="LSM-023")
def history_merged_at_twice_the_batch(patch: Patch) -> None:
    """Merges only when twice as many files exist as the batch size says."""
    patch.edit(history_writer._merge_level, "if len(files) >= batch_size", "if len(files) >= 2 * batch_size")


@mutant(breaks="LSM-024")
def history_merge_loses_plans(patch: Patch) -> None:
    """Copies all columns except the plan when files of the history are merged."""
    patch.edit(history_writer._merged, "rows = pa.concat_tables(parts)", "rows = pa.concat_tables(parts); "
             "rows = rows.set_column(4, COLUMNS.field(4), pa.nulls(rows.num_rows, pa.binary()))")  # fmt: skip


@mutant(breaks="LSM-025")
def history_range_excludes_overlapping_files(patch: Patch) -> None:
    """Reads only those files of the history that end after the requested range."""
    patch.edit(LevelFile.may_hold, "begin <= self.maximum", "end <= self.maximum")


@mutant(breaks="LSM-025")
def reversed_history_file_names_trusted(patch: Patch) -> None:
    """Filters by the name of a history file whose times are in reverse order."""
    patch.edit(LevelFile.may_hold, "self.minimum > self.maximum or ", "")
