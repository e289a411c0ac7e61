"""Mutants in the layout of a table and its properties."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.layout import merge_config, names, partitions, properties
from hudi_reference.layout.properties import TableProperties
from hudi_reference.query import file_groups
from hudi_reference.write import create


class AnyVersion(dict[int, int]):
    """Takes every number for a version whose timeline has layout 2."""

    def __contains__(self, version: object) -> bool:
        return True

    def __missing__(self, version: int) -> int:
        return 2


@mutant(breaks="PROP-011")
def checksum_not_compared(patch: Patch) -> None:
    """Reads a properties file whatever its checksum."""
    patch.edit(properties._checked, "stored is not None and stored != expected", "False")


@mutant(breaks=("COMPAT-002", "COMPAT-004"))
def every_table_version_accepted(patch: Patch) -> None:
    """Reads tables of versions that it does not know."""
    patch.set(properties, "LAYOUTS", AnyVersion({6: 1, 8: 2}))


@mutant(breaks="PROP-010")
def every_timeline_layout_accepted(patch: Patch) -> None:
    """Reads a timeline layout that it does not know as if it were layout 2."""
    patch.edit(properties._check_versions, "layout != LAYOUTS[version]", "False")


@mutant(breaks=("MRG-019", "PROP-009"))
def only_the_older_ordering_property(patch: Patch) -> None:
    """Knows hoodie.table.precombine.field and not hoodie.table.ordering.fields, as Apache Hudi 1.0 does."""
    patch.edit(TableProperties.ordering_fields, 'hoodie.table.ordering.fields")', 'hoodie.table.precombine.field")')


@mutant(breaks="PROP-009")
def only_the_newer_ordering_property(patch: Patch) -> None:
    """Knows hoodie.table.ordering.fields and not hoodie.table.precombine.field."""
    patch.edit(TableProperties.get, "(key, *known.alternatives)", "(key,)")


@mutant(breaks="MRG-019")
def only_the_first_ordering_field(patch: Patch) -> None:
    """Compares only the first of several ordering fields."""
    patch.edit(TableProperties.ordering_fields, "fields(\"hoodie.table.ordering.fields\")",
             "fields(\"hoodie.table.ordering.fields\")[:1]")  # fmt: skip


@mutant(breaks="MRG-031")
def custom_merging_taken_for_event_time(patch: Patch) -> None:
    """Merges a table of an unknown merge strategy by event time instead of refusing it."""
    patch.edit(merge_config.mode_of_strategy, 'strategy, "CUSTOM"', 'strategy, "EVENT_TIME_ORDERING"')


@mutant(breaks=("MRG-010", "MRG-021", "MRG-025"))
def merge_mode_inferred_anew(patch: Patch) -> None:
    """Ignores the stored merge mode and goes by whether there is an ordering field."""
    patch.edit(
        merge_config.infer,
        "mode_of_strategy(strategy), mode_of_payload(payload)",
        "None, None\n    mode = strategy = payload = None",
    )


@mutant(breaks="MRG-020")
def merge_mode_not_stored(patch: Patch) -> None:
    """Stores the merge mode under the name of the write setting."""
    patch.edit(create.merging_entries, '"hoodie.record.merge.mode": merging', '"hoodie.write.record.merge.mode": merging')


@mutant(breaks="LAY-005")
def only_the_first_folder_level(patch: Patch) -> None:
    """Takes only the first folder of a path for the partition."""
    patch.edit(names.split_path, "return partition, name", 'return partition.partition("/")[0], name')


@mutant(breaks="LAY-010")
def only_subfolders(patch: Patch) -> None:
    """Looks for data files in folders below the base path only."""
    patch.edit(file_groups.load_file_groups, "if parsed is None or (", "if not partition or parsed is None or (")


@mutant(breaks="LAY-019")
def strange_files_are_an_error(patch: Patch) -> None:
    """Fails on a file in a partition folder that is no data file."""
    patch.edit(
        file_groups.load_file_groups,
        "if parsed is None and path in committed:",
        'if parsed is None and not name.startswith(".hoodie"):',
    )


@mutant(breaks="LAY-006")
def field_name_left_out_of_folders(patch: Patch) -> None:
    """Names partition folders by the value alone where the table asks for field=value."""
    patch.edit(partitions.partition_path, "if hive_style else", "if False else")


@mutant(breaks="PROP-016")
def partition_values_not_escaped(patch: Patch) -> None:
    """Writes partition values as they are where the table asks for escaped ones."""
    patch.edit(partitions.partition_path, "elif url_encode:", "elif False:")
