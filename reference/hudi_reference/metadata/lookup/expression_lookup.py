"""What an expression index says of a comparison of its column with a constant.

If a value equals the constant, the function has the same result for both. So a file can be skipped if the bounds of its results
exclude the result for the constant. The bounds are those of results, not of values: they decide no other comparison.
"""

import datetime
from collections.abc import Iterable, Iterator
from contextlib import suppress

import pyarrow as pa

from hudi_reference.errors import HudiError
from hudi_reference.metadata.definitions import IndexDefinition
from hudi_reference.metadata.indexes.index_functions import values_of
from hudi_reference.metadata.lookup.index_snapshot import IndexSnapshot
from hudi_reference.metadata.partitions import Kind
from hudi_reference.query.pruning.predicates import Comparison, constants
from hudi_reference.query.pruning.table_indexes import Filter
from hudi_reference.requirement import implements
from hudi_reference.schema.fields import type_at

#: Functions whose results do not depend on the time zone of the writer, which is not stored.
_WITHOUT_ZONE = frozenset({"identity", "lower", "upper", "trim", "ltrim", "rtrim", "length", "substring"})


@implements("IDX-032", "IDX-033", "IDX-035")
def indexes_for_filter(
    known: Iterable[IndexDefinition], snapshot: IndexSnapshot, query: Filter
) -> Iterator[tuple[IndexDefinition, pa.DataType, Comparison]]:
    """The indexes that decide a comparison of the filter: the type of the results, and what the results have to satisfy."""
    for one in known:
        is_expression = one.partition.startswith(f"{Kind.EXPRESSION}_") and one.partition in snapshot.usable
        is_known = is_expression and one.kind == "column_stats" and len(one.columns) == 1
        for column, operator, value in query.where if is_known and one.function in _WITHOUT_ZONE else ():
            if column == one.columns[0] and operator in ("=", "in"):
                with suppress(HudiError):
                    results = _results(one, type_at(query.schema, column), operator, value)
                    if results is not None:
                        yield one, results.type, (column, "in", results.to_pylist())


def _results(one: IndexDefinition, kind: pa.DataType, operator: str, value: object) -> pa.Array | None:
    """The results of the function for the constants; None for texts whose case other languages may change differently."""
    found = [constant for constant in constants(kind, operator, value) if constant is not None]
    if not all(not isinstance(constant, str) or constant.isascii() for constant in found):
        return None
    return values_of(one.function, one.options, pa.array(found, kind), datetime.UTC)
