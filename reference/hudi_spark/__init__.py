"""The reference on Apache Spark: tables as DataFrames, with one task for each file slice.

The driver makes the plan and the commit, with the code of the reference: timeline, file groups, schema, instants. Rows never
pass through the driver. Executors read, merge and write with the modules of the reference; slices without log files are read
by Spark's own Parquet reader.

* `read`: snapshot, read-optimized and as-of queries as a DataFrame
* `bulk_insert`, `insert`, `upsert`, `partial_update`, `delete`: a DataFrame as one commit
* `validate`: what the conformance suite finds wrong with a table
* `data_source.HudiReference`: the format `hudi-reference` for `spark.read.format(...)` and SQL
* `errors.errors_of_executors`: errors of executors as exceptions of the reference

Executors need this package and access to the table: a shared file system, or S3 with the usual environment variables.

What may be changed here: how work is distributed; never a rule of the format, which belongs in `hudi_reference`. Imports
`hudi_reference` and PySpark.
"""

from hudi_spark.errors import errors_of_executors
from hudi_spark.read import read
from hudi_spark.validation import validate
from hudi_spark.write import bulk_insert, delete, insert, partial_update, upsert

__all__ = ["bulk_insert", "delete", "errors_of_executors", "insert", "partial_update", "read", "upsert", "validate"]
