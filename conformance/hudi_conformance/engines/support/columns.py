"""The columns of an answer."""

from collections.abc import Sequence

from hudi_conformance.contract import Query

#: The type of a null in Avro: its name, or an object with it.
NULLS: tuple[object, ...] = ("null", {"type": "null"})
META_COLUMNS = (
    "_hoodie_commit_time",
    "_hoodie_commit_seqno",
    "_hoodie_record_key",
    "_hoodie_partition_path",
    "_hoodie_file_name",
)


def requested(query: Query, stored: Sequence[str]) -> list[str]:
    """The columns that a query names; without such, the stored columns that are not meta columns."""
    return list(query.columns or [name for name in stored if name not in META_COLUMNS])
