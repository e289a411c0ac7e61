"""Reading a table through the format with the filters that Spark pushes; needs PySpark 4.1."""

from collections.abc import Iterable

from pyspark.sql.datasource import Filter

from hudi_spark.read import make_plan
from hudi_spark.source.batch import PlainReader
from hudi_spark.source.filters import comparison_of


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
