"""A validation of a table by the conformance suite, from a session that the user has."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import LongType, StringType, StructField, StructType

#: One row for each finding; the columns are the fields of a finding in `hudi-conformance validate --json`.
FINDINGS = StructType(
    [
        *(StructField(name, StringType(), nullable=False) for name in ("rule", "severity", "path")),
        StructField("key", StringType()),
        StructField("offset", LongType()),
        *(StructField(name, StringType(), nullable=False) for name in ("expected", "found", "meaning", "remedy")),
    ]
)


def validate(
    spark: SparkSession,
    uri: str,
    *,
    deep: bool = True,
    partitions: Sequence[str] = (),
    rules: Sequence[str] = (),
    sample: int | None = None,
) -> DataFrame:
    """The findings of `hudi-conformance validate` in a table, the worst first; no rows if the table is sound.

    Files and rows are examined by the executors. The validation runs now, and the DataFrame has its result.

    Args:
        spark: a session whose executors have this package and access to the table.
        uri: folder or URI of the table.
        deep: whether every row is read and the metadata table is recomputed.
        partitions: the partition paths; empty for all.
        rules: the ids of the rules that are examined; empty for all.
        sample: the most files or file groups that one check opens; None for all.

    Raises:
        TableNotFound: there is no table.
        RuntimeError: a check failed itself, so that the result is not complete.
    """
    from hudi_conformance.validator.all_checks import ALL
    from hudi_conformance.validator.on_spark import validate_on_spark
    from hudi_conformance.validator.stored.scope import Scope
    from hudi_conformance.validator.stored.table import load_table
    from hudi_conformance.validator.validation import chosen

    is_path = "://" not in uri and not uri.startswith("file:/")
    scope = Scope(tuple(partitions), sample, frozenset(rules))
    table = load_table(str(Path(uri).absolute()) if is_path else uri, scope=scope)
    result = validate_on_spark(spark, table, chosen(ALL, deep=deep, rules=rules))
    if result.broken:
        raise RuntimeError("checks failed themselves:\n" + "\n".join(result.broken))
    rows = [tuple(asdict(finding)[name] for name in FINDINGS.names) for finding in result.findings]
    return spark.createDataFrame(rows, FINDINGS)
