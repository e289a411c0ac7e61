"""How to build the metadata table, or a part of it, anew."""

from hudi_reference.metadata.partitions import BuiltIn

REBUILD = "in Spark SQL: call delete_metadata_table(table => '...'); the next write builds it again"


def rebuild(partition: str) -> str:
    """How to make a partition of the metadata table anew. The listing of files is built only with all of it."""
    if partition == BuiltIn.FILES:
        return REBUILD
    first = "drop the secondary indexes; then " if partition == BuiltIn.RECORD_INDEX else ""
    return f"{first}hudi-conformance service TABLE drop-index --index {partition}, then index with the index enabled"
