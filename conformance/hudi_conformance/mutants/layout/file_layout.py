"""Mutants in where files lie, what is in them alone, and that they stay as they are."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference import tables
from hudi_reference.layout.properties import TableProperties
from hudi_reference.query import partition_columns
from hudi_reference.timeline.transitions import Transitions
from hudi_reference.write import commit


@mutant(breaks="LAY-001")
def record_keys_stay_with_the_writer(patch: Patch) -> None:
    """Keeps the record key fields of a table in the memory of whoever created it, and not in the table."""
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


@mutant(breaks="LAY-004")
def instants_are_published_by_renaming(patch: Patch) -> None:
    """Publishes the files of instants by a step that only a file system has."""
    patch.edit(
        Transitions._create,
        "self.storage.create(path, content)",
        "file = self.storage.root / path\n"
        "        file.parent.mkdir(parents=True, exist_ok=True)\n"
        "        staged = file.with_name(f'.{file.name}')\n"
        "        staged.write_bytes(content)\n"
        "        staged.rename(file)",
    )


@mutant(breaks="LAY-011")
def instants_beside_the_data(patch: Patch) -> None:
    """Keeps the timeline in a folder beside those of the partitions."""
    patch.edit(TableProperties.timeline_folder, 'f"{META_FOLDER}/', 'f"_timeline/')


@mutant(breaks="LAY-008")
def folders_give_the_values(patch: Patch) -> None:
    """Overwrites partition columns with the texts in the names of folders."""
    patch.edit(partition_columns.dropped_columns, "not properties.is_set(KEY)", "not properties.partition_fields")


@mutant(breaks="LAY-024")
def base_files_are_rewritten_in_place(patch: Patch) -> None:
    """Writes the new content of a base file under its old name, too."""
    patch.edit(
        commit.Commit.add_file,
        "self.stats.append(stat)",
        "self.stats.append(stat)\n"
        "    if stat.previous_base_file:\n"
        "        self.table.storage.put(join_path(stat.partition, stat.previous_base_file), data)",
    )
