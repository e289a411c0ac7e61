"""Tables without record key fields: each inserted row gets a key of its own, which it keeps.

    <requested time of the write>_<number of the file in the write>_<row in the file>

Rows are inserted as they are, equal rows too. Changes name the records by the column `_hoodie_record_key`, as a query returns
it.
"""

import pyarrow.compute as pc

from hudi_reference.errors import InvalidRows
from hudi_reference.layout.properties import TableProperties
from hudi_reference.records.changes import KEY
from hudi_reference.requirement import implements
from hudi_reference.write.placement.locate import Located
from hudi_reference.write.placement.rows import Incoming
from hudi_reference.write.preconditions import check_populated

#: Operations that add rows only; keys among the rows are ignored.
_ADDING = ("INSERT", "BULK_INSERT", "INSERT_OVERWRITE", "INSERT_OVERWRITE_TABLE")


@implements("META-007", "PROP-007")
def with_generated_keys(properties: TableProperties, operation: str, incoming: Incoming) -> Incoming:
    """The rows of an operation on a table without key fields: without keys if they are added, with keys if they are changes.

    Raises InvalidRows for a change of a row without key, UnsupportedTableFeature for a table that stores no keys.
    """
    check_populated(properties, "generated keys are stored in them")
    rows = incoming.rows
    place = rows.column_names.index(KEY)
    if operation in _ADDING:
        return Incoming(rows.set_column(place, rows.schema.field(KEY), pc.if_else(True, None, rows.column(KEY))))
    if rows.column(KEY).null_count:
        raise InvalidRows(
            "a change of a row without its key, on a table that generates the keys", rule="PROP-007",
            expected=f"the column {KEY} as a query returns it", found="null", remedy="insert new rows",
        )  # fmt: skip
    return incoming


@implements("META-007", "PROP-007")
def check_known(located: Located) -> None:
    """Raises InvalidRows for changes of records that the table does not have: their keys would not be generated ones."""
    for partition, rows in located.new:
        raise InvalidRows(
            "no record has this key, and the table generates its keys", rule="PROP-007", path=partition,
            expected="keys of existing records", found=rows.column(KEY)[0].as_py(), remedy="insert new rows",
        )  # fmt: skip
