"""Planted bugs in the layout of a table and its properties."""

from hudi_conformance.mutants.harness.mutant import Bug, planted
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


@planted(breaks="PROP-011")
def checksum_not_compared(bug: Bug) -> None:
    """Reads a properties file whatever its checksum."""
    bug.edit(properties._checked, "stored is not None and stored != expected", "False")


@planted(breaks=("COMPAT-002", "COMPAT-004"))
def every_table_version_accepted(bug: Bug) -> None:
    """Reads tables of versions that it does not know."""
    bug.set(properties, "LAYOUTS", AnyVersion({6: 1, 8: 2}))


@planted(breaks="PROP-010")
def every_timeline_layout_accepted(bug: Bug) -> None:
    """Reads a timeline layout that it does not know as if it were layout 2."""
    bug.edit(properties._check_versions, "layout != LAYOUTS[version]", "False")


@planted(breaks=("MRG-019", "PROP-009"))
def only_the_older_ordering_property(bug: Bug) -> None:
    """Knows hoodie.table.precombine.field and not hoodie.table.ordering.fields, as Apache Hudi 1.0 does."""
    bug.edit(TableProperties.ordering_fields, 'hoodie.table.ordering.fields")', 'hoodie.table.precombine.field")')


@planted(breaks="PROP-009")
def only_the_newer_ordering_property(bug: Bug) -> None:
    """Knows hoodie.table.ordering.fields and not hoodie.table.precombine.field."""
    bug.edit(TableProperties.get, "(key, *known.alternatives)", "(key,)")


@planted(breaks="MRG-019")
def only_the_first_ordering_field(bug: Bug) -> None:
    """Compares only the first of several ordering fields."""
    bug.edit(TableProperties.ordering_fields, "fields(\"hoodie.table.ordering.fields\")",
             "fields(\"hoodie.table.ordering.fields\")[:1]")  # fmt: skip


@planted(breaks="MRG-031")
def custom_merging_taken_for_event_time(bug: Bug) -> None:
    """Merges a table of an unknown merge strategy by event time instead of refusing it."""
    bug.edit(merge_config.mode_of_strategy, 'strategy, "CUSTOM"', 'strategy, "EVENT_TIME_ORDERING"')


@planted(breaks=("MRG-010", "MRG-021", "MRG-025"))
def merge_mode_inferred_anew(bug: Bug) -> None:
    """Ignores the stored merge mode and goes by whether there is an ordering field."""
    bug.edit(
        merge_config.infer,
        "mode_of_strategy(strategy), mode_of_payload(payload)",
        "None, None\n    mode = strategy = payload = None",
    )


@planted(breaks="MRG-020")
def merge_mode_not_stored(bug: Bug) -> None:
    """Stores the merge mode under the name of the write setting."""
    bug.edit(create.create_table, '"hoodie.record.merge.mode": merging', '"hoodie.write.record.merge.mode": merging')


@planted(breaks="LAY-005")
def only_the_first_folder_level(bug: Bug) -> None:
    """Takes only the first folder of a path for the partition."""
    bug.edit(names.split_path, "return partition, name", 'return partition.partition("/")[0], name')


@planted(breaks="LAY-010")
def only_subfolders(bug: Bug) -> None:
    """Looks for data files in folders below the base path only."""
    bug.edit(file_groups.load_file_groups, "if parsed is None or (", "if not partition or parsed is None or (")


@planted(breaks="LAY-019")
def strange_files_are_an_error(bug: Bug) -> None:
    """Fails on a file in a partition folder that is no data file."""
    bug.edit(
        file_groups.load_file_groups,
        "if parsed is None and path in committed:",
        'if parsed is None and not name.startswith(".hoodie"):',
    )


@planted(breaks="LAY-006")
def field_name_left_out_of_folders(bug: Bug) -> None:
    """Names partition folders by the value alone where the table asks for field=value."""
    bug.edit(partitions.partition_path, "if hive_style else", "if False else")


@planted(breaks="PROP-016")
def partition_values_not_escaped(bug: Bug) -> None:
    """Writes partition values as they are where the table asks for escaped ones."""
    bug.edit(partitions.partition_path, "elif url_encode:", "elif False:")
