"""Which indexes are maintained here, spec "Metadata": a service that changes data files must bring all indexes up to date.

The check comes first, before a service plans, writes or deletes anything: to find out at the completion is too late, for the
files are deleted by then. It is repeated under the lock of the table before each completion.
"""

from collections.abc import Iterable

from hudi_reference.errors import UnsupportedTableFeature
from hudi_reference.layout.properties import PROPERTIES_PATH, read_properties
from hudi_reference.metadata.availability import INFLIGHT, USABLE
from hudi_reference.metadata.indexes import FILES
from hudi_reference.query.table import Table
from hudi_reference.requirement import implements


@implements("OCC-020", "PROP-001")
def check_indexes_maintained(table: Table) -> None:
    """Check that all indexes of the table, as its properties are now, are maintained here.

    Args:
        table: the table that a service is going to change, or that a preview of the service looks at.

    Raises:
        UnsupportedTableFeature: an index would be out of date after the service (PROP-001).
    """
    properties = read_properties(table.storage)
    if properties.get(USABLE) or table.options.get(FILES.setting) == "true":
        check_maintained(table, (*properties.fields(USABLE), *properties.fields(INFLIGHT)))


@implements("OCC-020", "PROP-001")
def check_maintained(table: Table, partitions: Iterable[str]) -> None:
    """Raises UnsupportedTableFeature for partitions of the metadata table that are not maintained here."""
    if others := sorted(set(partitions) - table.hooks.maintained_indexes):
        raise UnsupportedTableFeature(
            "the table has indexes that are not kept up to date here", rule="PROP-001", path=PROPERTIES_PATH,
            expected=f"{USABLE} of {', '.join(sorted(table.hooks.maintained_indexes))}", found=", ".join(others),
            remedy="write with an engine that maintains them; reading is possible",
        )  # fmt: skip
