"""Mutants of the folders and files of a table."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference import tables
from hudi_reference.layout import names, partitions, properties
from hudi_reference.layout.properties import TableProperties
from hudi_reference.metadata import availability
from hudi_reference.query import file_groups
from hudi_reference.query.file_groups import FileGroups
from hudi_reference.query.partition_columns import Folders
from hudi_reference.query.table import View
from hudi_reference.timeline.contents import metadata
from hudi_reference.timeline.transitions import Transitions
from hudi_reference.write import rows
from hudi_reference.write.commit import Commit


@mutant(breaks="LAY-001")
def record_key_fields_not_stored(patch: Patch) -> None:
    """Keeps the record key fields of a table in the memory of the process that created it, and not in the table."""
    patch.edit(
        tables.create_table,
        "    merging_of(",
        "    vars(create_table).update({uri: entries.pop('hoodie.table.recordkey.fields')})\n    merging_of(",
    )
    patch.edit(
        tables.open_table,
        "= read_properties(store)",
        "= TableProperties({**(p := read_properties(store)).entries,"
        ' "hoodie.table.recordkey.fields": vars(create_table).get(uri, p.get("hoodie.table.recordkey.fields"))})',
    )


@mutant(breaks="LAY-002")
def schema_missing_in_metadata(patch: Patch) -> None:
    """Omits the schema of the table from the completion metadata."""
    patch.edit(metadata.commit_record, "{} if schema is None else", "{} if True else")


@mutant(breaks="LAY-003")
def only_the_first_partition(patch: Patch) -> None:
    """Reads only the first partition of a table."""
    patch.edit(
        FileGroups.latest_slices,
        "is not None)",
        "is not None and latest.partition == next(iter(self.groups.values())).partition)",
    )


@mutant(breaks="LAY-004")
def instants_published_by_rename(patch: Patch) -> None:
    """Publishes instant files by a rename, which only a file system has."""
    patch.edit(
        Transitions._create,
        "self.storage.create(path, content)",
        "file = self.storage.root / path\n"
        "        file.parent.mkdir(parents=True, exist_ok=True)\n"
        "        staged = file.with_name(f'.{file.name}')\n"
        "        staged.write_bytes(content)\n"
        "        staged.rename(file)",
    )


@mutant(breaks="LAY-005")
def partition_path_of_one_level(patch: Patch) -> None:
    """Takes only the first folder of a path for the partition."""
    patch.edit(names.split_path, "return partition, name", 'return partition.partition("/")[0], name')


@mutant(breaks="LAY-006")
def hive_style_partitioning_ignored(patch: Patch) -> None:
    """Names partition folders by the value alone if the table asks for field=value."""
    patch.edit(partitions.partition_path, "if hive_style else", "if False else")


@mutant(breaks=("LAY-006", "LAY-008"))
def partition_pruning_compares_escaped_names(patch: Patch) -> None:
    """Prunes partitions by the names of their folders without decoding escapes."""
    patch.edit(Folders._text, "unescape(text) if self.url_encode else text", "text")


@mutant(breaks="LAY-007")
def partition_columns_written_as_null(patch: Patch) -> None:
    """Writes nulls into the partition columns of the files, since the folder contains the value."""
    patch.edit(
        rows.prepare,
        "columns = [*meta.values(), *data.columns]",
        "columns = [*meta.values(), *(pa.nulls(rows.num_rows, f.type) if f.name in properties.partition_fields"
        " else data.column(f.name) for f in data.schema)]",
    )


@mutant(breaks="LAY-008")
def partition_values_from_folder_names(patch: Patch) -> None:
    """Overwrites partition columns with the texts in the names of folders."""
    patch.edit(View.reader, "if properties.is_set(DROP_KEY) else", "if properties.partition_fields else")


@mutant(breaks="LAY-009")
def partition_depth_from_fields(patch: Patch) -> None:
    """Expects one folder for each partition field and skips deeper ones."""
    patch.edit(
        file_groups.load_file_groups,
        "    for identity, found in files.items():\n",
        "    for identity, found in files.items():\n"
        "        if len(identity[0].split('/')) > max(1, len(properties.partition_fields)):\n            continue\n",
    )


@mutant(breaks="LAY-010")
def base_path_files_ignored(patch: Patch) -> None:
    """Lists data files in folders below the base path only."""
    patch.edit(file_groups._data_files, "if parsed is None or (", "if not partition or parsed is None or (")


@mutant(breaks="LAY-011")
def timeline_beside_partitions(patch: Patch) -> None:
    """Stores the timeline in a folder beside those of the partitions."""
    patch.edit(TableProperties.__post_init__, 'f"{META_FOLDER}/', 'f"_timeline/')


@mutant(breaks="LAY-012")
def metadata_folder_read_as_partition(patch: Patch) -> None:
    """Reads data files below .hoodie as rows of the table."""
    patch.edit(file_groups.load_file_groups, "storage.list(skip=META_FOLDER)", "storage.list()")


@mutant(breaks="LAY-013")
def properties_file_in_base_path(patch: Patch) -> None:
    """Stores the properties file directly in the base path."""
    patch.edit(properties.write_properties, "storage.create(PROPERTIES_PATH,", 'storage.create("hoodie.properties",')


@mutant(breaks="LAY-014")
def file_listing_without_folder(patch: Patch) -> None:
    """Stores the data of every partition of the metadata table directly in .hoodie/metadata."""
    patch.edit(availability.partition_files, 'f"{METADATA_FOLDER}/{partition}/"', 'f"{METADATA_FOLDER}/"')


@mutant(breaks="LAY-015")
def column_stats_folder_renamed(patch: Patch) -> None:
    """Names the folder of the column statistics differently from the properties."""
    patch.edit(
        availability.partition_files,
        'f"{METADATA_FOLDER}/{partition}/"',
        'f"{METADATA_FOLDER}/{partition}/".replace("column_stats", "col_stats")',
    )


@mutant(breaks="LAY-016")
def index_definitions_in_memory_only(patch: Patch) -> None:
    """Uses only the index definitions of its own process."""
    patch.edit(availability.read_definitions, "return parse_definitions(storage.get(path), path)", "return ()")


@mutant(breaks="LAY-017")
def timeline_files_in_hoodie_folder(patch: Patch) -> None:
    """Stores instant files directly in .hoodie, as releases before 1.0 did."""
    patch.edit(TableProperties.__post_init__, "META_FOLDER if is_legacy else", "META_FOLDER if True else")


@mutant(breaks="LAY-018")
def data_files_in_group_folders(patch: Patch) -> None:
    """Puts data files into a folder of their file group."""
    patch.edit(
        Commit.add_file,
        "storage.create(join_path(stat.partition, name), data)",
        "storage.create(join_path(stat.partition, stat.file_id + '/' + name), data)",
    )


@mutant(breaks="LAY-019")
def unknown_files_in_partition_rejected(patch: Patch) -> None:
    """Fails on a file in a partition folder that is not a data file."""
    patch.edit(
        file_groups._data_files,
        "if parsed is None and path in committed:",
        'if parsed is None and not name.startswith(".hoodie"):',
    )
