"""The reference on Apache Spark: tables as DataFrames, with one task for each file slice.

The driver makes the plan and the commit, with the code of the reference: timeline, file groups, schema, instants. Rows never
pass through the driver. Executors read, merge and write with the modules of the reference; slices without log files are read
by Spark's own Parquet reader.

* `read`: snapshot, read-optimized and as-of queries as a DataFrame
* `bulk_insert`, `insert`, `upsert`, `partial_update`, `delete`, `insert_overwrite`, `insert_overwrite_table`,
  `delete_partition`: a DataFrame as one commit; `save` with Hudi's options and Spark's modes
* `merge_into`, `update`, `delete_where`: changes by conditions, each as one commit
* `services`: plan and execute compaction, clustering, clean and indexing
* `validate`: what the conformance suite finds wrong with a table
* `register`: the format `hudi-reference` for `spark.read.format(...)` and SQL, and the table function `hudi_read`
* `create_view`: a query as a view for SQL
* `explain`: which columns, partitions and file slices a query reads
* `errors.errors_of_executors`: errors of executors as exceptions of the reference

Executors need this package and access to the table: a shared file system, or S3 with the usual environment variables.

What may be changed here: how work is distributed; never a rule of the format, which belongs in `hudi_reference`. Imports
`hudi_reference` and PySpark.
"""

try:
    import pyspark.sql.datasource  # noqa: F401 - the newest module that is needed
except ModuleNotFoundError as error:
    raise ImportError(
        "hudi_spark needs PySpark 4.0 or newer, which has data sources in Python; on PySpark 3.5 use hudi_reference, whose "
        "tables are Arrow, or Apache Hudi's bundle"
    ) from error

from hudi_spark import services
from hudi_spark.data_source import register
from hudi_spark.dml import delete_where, merge_into, update
from hudi_spark.errors import errors_of_executors
from hudi_spark.read import create_view, explain, read
from hudi_spark.save import save
from hudi_spark.validation import validate
from hudi_spark.write import (
    bulk_insert,
    delete,
    delete_partition,
    insert,
    insert_overwrite,
    insert_overwrite_table,
    partial_update,
    upsert,
)

__all__ = [
    "bulk_insert", "create_view", "delete", "delete_partition", "delete_where", "errors_of_executors", "explain", "insert",
    "insert_overwrite", "insert_overwrite_table", "merge_into", "partial_update", "read", "register", "save", "services",
    "update", "upsert", "validate",
]  # fmt: skip
