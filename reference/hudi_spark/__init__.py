"""The reference on Apache Spark: tables as DataFrames, the work spread over file slices.

The driver makes the plan and the commit, with the reference's own code: timeline, file groups, schema, instants. Rows never
pass through it. Executors read, merge and write with the same modules that the reference uses in one process; what needs no
merging is left to Spark's own Parquet reader.

* `read`: snapshot, read-optimized and as-of queries as a DataFrame
* `bulk_insert`, `insert`, `upsert`, `partial_update`, `delete`: a DataFrame as one commit
* `data_source.HudiReference`: the format `hudi-reference` for `spark.read.format(...)` and SQL
* `errors.errors_of_executors`: what an executor raised, as the reference's exception

Executors need this package and the way to the table: a shared file system, or S3 with the usual environment variables.
"""

from hudi_spark.errors import errors_of_executors
from hudi_spark.read import read
from hudi_spark.write import bulk_insert, delete, insert, partial_update, upsert

__all__ = ["bulk_insert", "delete", "errors_of_executors", "insert", "partial_update", "read", "upsert"]
