"""Which indexes are maintained, spec "Metadata": a service that changes data files must bring all indexes up to date.

Services check this before they plan, write or delete anything, because files may be deleted before the completion. The check is
repeated under the lock of the table before each completion.
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
    """Check that the hooks of the table maintain all its indexes, as its properties are now.

    Args:
        table: the table that a service or its preview is about to change or to read.

    Raises:
        UnsupportedTableFeature: an index would be out of date after the service (PROP-001).
    """
    properties = read_properties(table.storage)
    if properties.get(USABLE) or table.options.get(FILES.setting) == "true":
        check_maintained(table, (*properties.fields(USABLE), *properties.fields(INFLIGHT)))


@implements("OCC-020", "PROP-001")
def check_maintained(table: Table, partitions: Iterable[str]) -> None:
    """Raises UnsupportedTableFeature for partitions of the metadata table that the hooks do not maintain."""
    if others := sorted(set(partitions) - table.hooks.maintained_indexes):
        raise UnsupportedTableFeature(
            "the table has indexes that are not maintained here", rule="PROP-001", path=PROPERTIES_PATH,
            expected=f"{USABLE} of {', '.join(sorted(table.hooks.maintained_indexes))}", found=", ".join(others),
            remedy="write with an engine that maintains them; reading is possible",
        )  # fmt: skip
