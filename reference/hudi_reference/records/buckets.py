"""The bucket of a record in a table with a bucket index: its file group follows from the key, no index is stored."""

from collections.abc import Sequence

from hudi_reference.errors import InvalidQuery
from hudi_reference.layout.java_hash import list_hash
from hudi_reference.requirement import implements


@implements("LAY-021")
def bucket_of(values: Sequence[str | None], buckets: int) -> int:
    """The bucket, from 0, of a row with these values of the index fields, in the order of the fields.

    The hash is that of the list of texts with its sign bit cleared: not its absolute value, so -1 is 2147483647. Raises
    InvalidQuery without values or buckets.
    """
    if buckets < 1 or not values:
        raise InvalidQuery("no buckets, or nothing to hash", expected="1 or more of each", found=f"{buckets}, {len(values)}")
    return (list_hash(values) & 0x7FFFFFFF) % buckets
