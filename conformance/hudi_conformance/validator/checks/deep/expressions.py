"""Values of the functions of expression indexes, for the comparison with stored entries."""

import datetime

import pyarrow as pa
import pyarrow.types as pt

from hudi_conformance.validator.checks.deep.bounds import Deviation, deviation
from hudi_conformance.validator.checks.time_zones import ZONES
from hudi_reference.errors import HudiError
from hudi_reference.metadata.definitions import IndexDefinition
from hudi_reference.metadata.indexes.index_functions import values_of
from hudi_reference.metadata.records import Statistics
from hudi_reference.schema.fields import column_at


def column_of(rows: pa.Table, name: str) -> pa.ChunkedArray | None:
    """A column of single values, or such a field of a struct column; None if the rows have none of that name."""
    values = column_at(rows, name)
    return None if values is None or pt.is_nested(values.type) else values


def deviation_of_function(definition: IndexDefinition, entry: Statistics, column: pa.ChunkedArray) -> Deviation | None:
    """The deviation of statistics of an expression, at the zone with which they agree best."""
    first: Deviation | None = None
    for zone in ZONES:
        values = evaluated(definition, column, zone)
        found = None if values is None else deviation(entry, pa.chunked_array([values]), counts_nulls=False)
        if found is None or not found.is_narrow:
            return None
        first = first or found
        if not _depends_on_zone(definition):
            break
    return first


def _depends_on_zone(definition: IndexDefinition) -> bool:
    return definition.function not in ("identity", "lower", "upper", "trim", "ltrim", "rtrim", "length", "substring")


def evaluated(definition: IndexDefinition, column: pa.ChunkedArray, zone: datetime.tzinfo) -> pa.Array | None:
    """The values of the function; None if the reference cannot compute them."""
    try:
        return values_of(
            definition.function, definition.options, pa.concat_arrays(column.chunks or [pa.array([], column.type)]), zone
        )
    except HudiError:
        return None
