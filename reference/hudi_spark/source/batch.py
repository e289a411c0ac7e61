"""Reading a table through the format: columns by `.schema(...)` or the option `columns`, filters by the option `where`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition

from hudi_reference.caching import cached_property
from hudi_reference.query.pruning.predicates import Comparison
from hudi_spark.arrow import batches
from hudi_spark.read import ReadPlan, make_plan


@dataclass
class PlainReader(DataSourceReader):  # type: ignore[misc]  # pyspark is not checked
    """One partition for each slice; with no filter from Spark."""

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

    def read(self, partition: InputPartition | None) -> Iterator[pa.RecordBatch]:
        """The rows of one slice. If there are no partitions, Spark calls this with None, or with a partition of None."""
        if partition is not None and partition.value is not None:
            yield from batches(self.plan.query(partition.value), self.arrow)
