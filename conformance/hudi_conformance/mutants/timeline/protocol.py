"""Mutants in what a write says about itself: states, metadata, properties, meta columns."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.layout import merge_config, merge_settings, properties
from hudi_reference.timeline import instant_generator
from hudi_reference.timeline.contents import metadata
from hudi_reference.timeline.contents.metadata import WriteStat
from hudi_reference.timeline.instant_generator import TimeGenerator
from hudi_reference.timeline.transitions import Transitions
from hudi_reference.write import commit, create, rows, write
from hudi_reference.write.commit import Commit
from hudi_reference.write.writer import Writer


@mutant(breaks=("TT-002", "TT-009", "TT-004"))
def times_of_the_clock_alone(patch: Patch) -> None:
    """Takes the clock's time whatever the timeline holds already."""
    patch.edit(TimeGenerator._read_later_than, "<= latest:", '<= "":')


@mutant(breaks=("TT-009", "TT-004"))
def completion_times_are_not_looked_at(patch: Patch) -> None:
    """Takes a time that is later than every requested time, and not than every completion time."""
    patch.edit(instant_generator.latest_time, 'max(i.requested, i.completion or "")', "i.requested")


@mutant(breaks=("TL-005", "TL-007"))
def metadata_names_one_file_only(patch: Patch) -> None:
    """Leaves all but the first file out of the completion metadata."""
    patch.edit(Commit.complete, "self.operation, self.stats, schema", "self.operation, self.stats[:1], schema")


@mutant(breaks="TL-002")
def metadata_as_json(patch: Patch) -> None:
    """Stores completion metadata as JSON text, as before version 8."""
    patch.edit(
        metadata.write_commit_metadata,
        "return write_record(COMMIT_METADATA_SCHEMA if replaced is None else REPLACE_METADATA_SCHEMA, record, sync_marker)",
        "return json.dumps(record).encode()",
    )


@mutant(breaks=("TL-007", "TL-009"))
def metadata_of_another_type(patch: Patch) -> None:
    """Stores every completion as replace metadata."""
    patch.set(metadata, "COMMIT_METADATA_SCHEMA", {**metadata.COMMIT_METADATA_SCHEMA, "name": "HoodieReplaceCommitMetadata"})


@mutant(breaks="TL-005")
def file_sizes_left_out(patch: Patch) -> None:
    """Writes 0 as the size of every file."""
    patch.edit(WriteStat.to_record, '"fileSizeInBytes": self.size', '"fileSizeInBytes": 0')


@mutant(breaks="LAY-002")
def schema_left_out_of_the_metadata(patch: Patch) -> None:
    """Leaves the table's schema out of the completion metadata."""
    patch.edit(metadata.commit_record, "{} if schema is None else", "{} if True else")


@mutant(breaks=("TL-046", "TL-048"))
def nothing_is_requested(patch: Patch) -> None:
    """Begins actions as inflight."""
    patch.edit(Transitions.request, "return self._create(Instant(time, action, State.REQUESTED), content, owner)",
             "return Instant(time, action, State.REQUESTED)")  # fmt: skip
    patch.edit(Transitions.start, "self._check_exists(instant)", "pass")


@mutant(breaks="LAY-018")
def a_folder_for_each_group(patch: Patch) -> None:
    """Puts data files into a folder of their file group."""
    patch.edit(
        Commit.add_file,
        "storage.create(join_path(stat.partition, name), data)",
        "storage.create(join_path(stat.partition, stat.file_id + '/' + name), data)",
    )


@mutant(breaks="PROP-006")
def version_of_the_software(patch: Patch) -> None:
    """Stores the release as table version."""
    patch.item(create._FIXED, "hoodie.table.version", "1")


@mutant(breaks="PROP-007")
def key_fields_as_json(patch: Patch) -> None:
    """Stores the record key fields as a JSON list."""
    patch.edit(create.key_entries, '",".join(record_key)', "__import__('json').dumps(list(record_key))")


@mutant(breaks="PROP-008")
def partition_fields_not_stored(patch: Patch) -> None:
    """Leaves the partition fields out of the properties."""
    patch.edit(create.key_entries, '{"hoodie.table.partition.fields": ",".join(partition)} if partition else {}', "{}")


@mutant(breaks="PROP-004")
def table_name_not_stored(patch: Patch) -> None:
    """Stores a fixed name for the table."""
    patch.edit(create.identity_entries, '"hoodie.table.name": name', '"hoodie.table.name": "table"')


@mutant(breaks="PROP-005")
def types_abbreviated(patch: Patch) -> None:
    """Stores every table as copy-on-write."""
    patch.edit(create.identity_entries, '"hoodie.table.type": table_type', '"hoodie.table.type": "COPY_ON_WRITE"')


@mutant(breaks="PROP-011")
def checksum_of_the_name_alone(patch: Patch) -> None:
    """Computes the checksum from the table's name without its database."""
    patch.edit(properties.checksum, 'f"{database}.{table}"', "table")


@mutant(breaks=("MRG-017", "MRG-033"))
def event_time_is_the_default(patch: Patch) -> None:
    """Gives a table without ordering fields event-time mode."""
    patch.edit(merge_config.infer, '"EVENT_TIME_ORDERING" if is_ordered else "COMMIT_TIME_ORDERING"', '"EVENT_TIME_ORDERING"')
    patch.edit(merge_settings.configured, "and not ordering", "and False")


@mutant(breaks=("MRG-018", "MRG-033"))
def commit_time_is_the_default(patch: Patch) -> None:
    """Gives a table with ordering fields commit-time mode."""
    patch.edit(merge_settings.configured, "is_ordered=bool(ordering)", "is_ordered=False")


@mutant(breaks="MRG-034")
def event_time_without_ordering(patch: Patch) -> None:
    """Creates tables in event-time mode without an ordering field."""
    patch.edit(merge_settings.configured, "and not ordering", "and False")


@mutant(breaks="META-007")
def keys_missing_in_the_rows(patch: Patch) -> None:
    """Leaves the record key of stored rows empty if they have a partition."""
    patch.edit(
        Writer._blocks,
        "of_rows.rows(self.logs.block_format, kept,",
        "writer.rows(self.logs.block_format, part.set_column(2, KEY, pa.array([''] * part.num_rows)),",
    )


@mutant(breaks="META-009")
def partition_values_instead_of_paths(patch: Patch) -> None:
    """Leaves the partition path of logged rows empty."""
    patch.edit(
        Writer._blocks,
        "of_rows.rows(self.logs.block_format, kept,",
        "writer.rows(self.logs.block_format, part.set_column(3, PARTITION, pa.array([''] * part.num_rows)),",
    )


@mutant(breaks="META-003")
def logged_rows_without_commit_time(patch: Patch) -> None:
    """Leaves the commit time of stored rows empty."""
    patch.edit(rows.stamp, "pa.repeat(pa.scalar(instant), count)", "pa.repeat(pa.scalar(''), count)")


@mutant(breaks=("BF-004", "LAY-020"))
def a_new_group_at_each_rewrite(patch: Patch) -> None:
    """Gives a rewritten base file a new file id."""
    patch.edit(
        Writer.rewrite_base_file, "_base_file_name(file_slice.file_id)", "_base_file_name(self.commit.table.ids.file_id())"
    )


@mutant(breaks="BF-009")
def base_files_named_by_another_instant(patch: Patch) -> None:
    """Names a new base file by an instant that is not its action's."""
    patch.edit(Writer._base_file_name, "self.commit.requested, extension", "str(int(self.commit.requested) - 1), extension")


@mutant(breaks="TYP-002")
def copy_on_write_writes_logs(patch: Patch) -> None:
    """Writes log files whatever the table's type."""
    patch.edit(Writer.change, "if self.commit.table.properties.is_merge_on_read", "if True")


@mutant(breaks="TL-008")
def merge_on_read_inserts_are_commits(patch: Patch) -> None:
    """Records writes to a merge-on-read table as commits."""
    patch.edit(commit._action_of, '"deltacommit" if table.properties.is_merge_on_read else "commit"', '"commit"')


@mutant(breaks="MRG-006")
def new_rows_are_written_twice(patch: Patch) -> None:
    """Sends a new key to a second group too."""
    patch.edit(
        write._write_once,
        "writer.add(partition, new, in_logs=new_keys_in_logs)",
        "[writer.add(partition, new) for _ in (0, 1)]",
    )


@mutant(breaks="RDR-001")
def readers_repair_the_timeline(patch: Patch) -> None:
    """Removes what is pending on the timeline when a table is read."""
    from hudi_reference.query.table import Table

    patch.edit(
        Table._read,
        "check_readable(self.properties)\n",
        "check_readable(self.properties)\n"
        "    for i in view.timeline.pending:\n"
        "        self.storage.create(f'{self.properties.timeline_folder}/{i.requested}.rollback.requested', b'')\n",
    )


@mutant(breaks=("S3-002", "TL-034"))
def instants_of_others_are_taken_over(patch: Patch) -> None:
    """Goes on with an instant that another writer has created in the same millisecond."""
    patch.edit(
        Transitions._create,
        "    except ObjectExists as error:\n",
        "    except ObjectExists as error:\n        return instant\n",
    )
