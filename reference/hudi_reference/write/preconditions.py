"""What is checked before the first byte: whether an action can be completed, spec "Writer Expectations".

Writes, services and their previews call these checks before they write or delete anything. An action that would be refused at
its completion has changed files by then: a rollback or a clean has deleted them.
"""

from collections.abc import Iterable
from dataclasses import replace

from hudi_reference.errors import UnsupportedTableFeature
from hudi_reference.files.base_file import ENCODERS
from hudi_reference.layout.metadata_settings import ENABLE, INFLIGHT, USABLE, partitions_to_drop
from hudi_reference.layout.properties import PROPERTIES_PATH, TableProperties, read_properties
from hudi_reference.layout.properties import check_writable as check_version
from hudi_reference.query.slice_reader import check_whole_rows
from hudi_reference.query.table import Table
from hudi_reference.requirement import implements
from hudi_reference.settings import boolean_setting


@implements("OCC-020", "PROP-001")
def check_writable(table: Table) -> None:
    """Check that a write maintains all that the table requires of its writers.

    Raises:
        UnsupportedTableFeature: the table has an index, change log or format that this writer does not maintain. Other readers
            would miss the write.
        Misuse: a setting of the writer is invalid.
    """
    properties = table.properties
    check_indexes_maintained(table)
    check_columns_stored(table)
    unsupported = {
        "hoodie.datasource.write.drop.partition.columns": properties.is_set("hoodie.datasource.write.drop.partition.columns"),
        "hoodie.table.base.file.format": properties.base_file_extension not in ENCODERS,
    }
    for key in (key for key, is_unsupported in unsupported.items() if is_unsupported):
        raise UnsupportedTableFeature(
            "the table requires more of its writers than this one supports", rule="PROP-001", path=PROPERTIES_PATH,
            found=f"{key}={properties.get(key)}", remedy="write with an engine that maintains it; reading is possible",
        )  # fmt: skip
    if properties.base_file_extension == "hfile":
        check_populated(properties, "rows in HFiles are sorted by their record keys")


@implements("OCC-020", "PROP-001")
def check_indexes_maintained(table: Table) -> None:
    """Check that the hooks of the table keep its metadata table up to date, as the properties of the table are now.

    Args:
        table: the table that a write, a service or its preview is about to change or to read.

    Raises:
        UnsupportedTableVersion: the table can only be read.
        UnsupportedTableFeature: an index would be out of date after the action (PROP-001).
        Misuse: a setting of the metadata table is invalid.
    """
    check_version(table.properties)
    properties = read_properties(table.storage)
    if properties.get(USABLE) or boolean_setting(table.options, ENABLE):
        check_maintained(table, (*properties.fields(USABLE), *properties.fields(INFLIGHT)))
        for check in table.hooks.check_indexes:
            check(replace(table, properties=properties))


@implements("OCC-020", "PROP-001")
def check_maintained(table: Table, partitions: Iterable[str]) -> None:
    """Raises UnsupportedTableFeature for partitions of the metadata table that the hooks neither maintain nor drop."""
    listed = tuple(partitions)
    dropped = partitions_to_drop(table.options, listed) if table.hooks.maintained_indexes else ()
    if others := table.hooks.unmaintained(set(listed) - set(dropped)):
        raise UnsupportedTableFeature(
            "the table has indexes that are not maintained here", rule="PROP-001", path=PROPERTIES_PATH,
            expected=f"{USABLE} of {', '.join(sorted(table.hooks.maintained_indexes))}", found=", ".join(others),
            remedy=f"drop them, or write with {ENABLE}=false, which deletes the metadata table; reading is possible as it is",
        )  # fmt: skip


@implements("LAY-007")
def check_columns_stored(table: Table) -> None:
    """Check that all columns are in data files of the table.

    Raises:
        UnsupportedTableFeature: a file slice of a bootstrapped table has columns in a file outside of the table; a
            bootstrap of whole rows leaves none.
    """
    if table.properties.get("hoodie.bootstrap.base.path") is not None:
        for found in table.file_groups().latest_slices:
            check_whole_rows(found)


@implements("META-012")
def check_format(block_format: str, properties: TableProperties) -> None:
    """Raises UnsupportedTableFeature for data blocks that need record keys in a table that stores none."""
    if block_format == "hfile":
        check_populated(properties, "rows in HFile blocks are sorted by their record keys")


def check_populated(properties: TableProperties, because: str) -> None:
    """Raises UnsupportedTableFeature for a table that leaves its meta columns empty."""
    if not properties.populates_meta_fields:
        raise UnsupportedTableFeature(
            f"the table leaves its meta columns empty: {because}", rule="META-012", path=PROPERTIES_PATH,
            expected="hoodie.populate.meta.fields=true", found="false",
        )  # fmt: skip
