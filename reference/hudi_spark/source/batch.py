"""Reading a table through the format: columns by `.schema(...)` or the option `columns`, filters by the option `where`, and as
Spark pushes them.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, Filter, InputPartition

from hudi_reference.caching import cached_property
from hudi_reference.query.pruning.predicates import Comparison
from hudi_spark.arrow import batches
from hudi_spark.read import ReadPlan, make_plan
from hudi_spark.source.filters import comparison_of


@dataclass
class PlainReader(DataSourceReader):  # type: ignore[misc]  # pyspark is not checked
    """One partition for each slice; for sessions whose setting allows no pushdown."""

    uri: str
    #: The arguments of the query.
    query: Mapping[str, Any]
    columns: list[str]
    #: The types in which Spark exchanges the columns.
    arrow: pa.Schema
    where: list[Comparison] = field(default_factory=list)

    @cached_property
    def plan(self) -> ReadPlan:
        """The plan of the query, with the filters that were pushed before."""
        where = [*self.query.get("where", ()), *self.where]
        return make_plan(self.uri, **{**self.query, "columns": self.columns, "where": where}, native=False)

    def __getstate__(self) -> dict[str, Any]:
        """Tasks get the plan without the list of slices. Spark pickles this object before it asks for the partitions."""
        return {**vars(self), "plan": replace(self.plan, merged=())}

    def partitions(self) -> list[InputPartition]:
        """One for each slice."""
        return [InputPartition(one) for one in self.plan.merged]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of one slice. If there are no partitions, Spark calls this with None."""
        if partition.value is not None:
            yield from batches(self.plan.query(partition.value), self.arrow)


class PushingReader(PlainReader):
    """A reader to which Spark pushes filters. Spark evaluates again those that it returns."""

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:  # noqa: N802 - PySpark's name
        """Keep the filters that mean the same in the reference; the others, which Spark evaluates."""
        schema = make_plan(self.uri, **{**self.query, "columns": self.columns}, native=False).fields
        for one in filters:
            comparison = comparison_of(one, schema)
            if comparison is None:
                yield one
            else:
                self.where.append(comparison)
