"""Planted bugs in what the properties of a table decide, for writers and for the use of its metadata table."""

from hudi_conformance.mutants.harness.mutant import Bug, planted
from hudi_reference.layout import properties, properties_update
from hudi_reference.metadata import availability
from hudi_reference.query.table import Table
from hudi_reference.records.keys import record_keys
from hudi_reference.write import create


@planted(breaks="LAY-013")
def settings_in_the_base_path(bug: Bug) -> None:
    """Stores the settings file directly in the base path."""
    bug.edit(properties.write_properties, "storage.create(PROPERTIES_PATH,", 'storage.create("hoodie.properties",')


@planted(breaks="PROP-001")
def writers_have_defaults_of_their_own(bug: Bug) -> None:
    """Names folders as the writer is used to, whatever the table's settings say."""
    making = vars(record_keys.KeyGenerator)["of"].__func__
    bug.edit(making, 'properties.is_set("hoodie.datasource.write.hive_style_partitioning")', "False")


@planted(breaks="PROP-002")
def missing_settings_stay_empty(bug: Bug) -> None:
    """Makes a table without a name, a type or a version."""
    bug.edit(properties.check_entries, "if not entries.get(key):", "if False:")


@planted(breaks="PROP-003")
def the_database_before_the_name(bug: Bug) -> None:
    """Puts the database before the name of the table."""
    bug.edit(create.create_table, '"hoodie.table.name": name', '"hoodie.table.name": f"{database}.{name}"')


@planted(breaks="PROP-005")
def unknown_values_are_stored(bug: Bug) -> None:
    """Stores whatever type or mode it is told."""
    bug.edit(properties.check_entries, "value not in known.values", "False")


@planted(breaks="PROP-015")
def no_table_without_record_key(bug: Bug) -> None:
    """Reads no table that has no record key fields."""
    bug.edit(
        Table._read,
        "check_readable(self.properties)\n",
        "check_readable(self.properties)\n    assert self.properties.record_key, 'no record key'\n",
    )


@planted(breaks="PROP-012")
def indexes_are_listed_when_they_are_begun(bug: Bug) -> None:
    """Lists a partition as usable as soon as its build begins."""
    bug.edit(availability.after, "building.add(partition)", "ready.add(partition)")


@planted(breaks="PROP-013")
def folders_are_probed_for(bug: Bug) -> None:
    """Uses every folder of the metadata table, listed or not."""
    bug.edit(
        availability.inspect_metadata_table,
        "usable = usable_partitions(table.properties)",
        "usable = sorted({i.path.split('/')[2] for i in table.storage.list(METADATA_FOLDER) if i.path.count('/') > 2})",
    )


@planted(breaks="PROP-014")
def paths_of_definitions_are_taken_as_they_are(bug: Bug) -> None:
    """Takes an absolute path of the definitions for one below the base path."""
    bug.edit(availability.definitions_path, 'return f"{META_FOLDER}/{rest}"', "return text")


@planted(breaks="LAY-014")
def no_folder_for_the_listing(bug: Bug) -> None:
    """Keeps the data of every partition straight in .hoodie/metadata."""
    bug.edit(availability.partition_files, 'f"{METADATA_FOLDER}/{partition}/"', 'f"{METADATA_FOLDER}/"')


@planted(breaks="LAY-015")
def another_folder_for_column_statistics(bug: Bug) -> None:
    """Calls the folder of the column statistics otherwise than the properties do."""
    bug.edit(
        availability.partition_files,
        'f"{METADATA_FOLDER}/{partition}/"',
        'f"{METADATA_FOLDER}/{partition}/".replace("column_stats", "col_stats")',
    )


@planted(breaks="LAY-016")
def definitions_in_memory_only(bug: Bug) -> None:
    """Knows of no definitions but those of its own process."""
    bug.edit(availability.read_definitions, "return parse_definitions(storage.get(path), path)", "return ()")


@planted(breaks="S3-005")
def properties_are_read_before_the_lock(bug: Bug) -> None:
    """Reads the properties, then takes the lock to change them: what somebody else has changed meanwhile is undone."""
    bug.edit(
        properties_update.update_properties,
        "    with held(lock, holder):\n        recover(storage)\n        now = dict(read_properties(storage).entries)\n",
        "    recover(storage)\n    now = dict(read_properties(storage).entries)\n    with held(lock, holder):\n",
    )
