"""The bucket of a record in a table with a bucket index: the file group follows from the key, so no index is stored."""

import re
from collections.abc import Sequence

from hudi_reference.errors import InvalidQuery
from hudi_reference.layout.java_hash import list_hash
from hudi_reference.records.keys.record_keys import VALUE_OF_MARK
from hudi_reference.requirement import implements

#: Begins the next field of a key: the last comma before a colon. Earlier commas belong to the value.
_NEXT_FIELD = re.compile(",(?=[^,:]*:)")


@implements("LAY-021")
def bucket_of(values: Sequence[str | None], buckets: int) -> int:
    """The bucket, from 0, of a row with these values of the index fields, in the order of the fields.

    The hash is that of the list of texts with its sign bit cleared, not its absolute value: -1 becomes 2147483647. Raises
    InvalidQuery without values or buckets.
    """
    if buckets < 1 or not values:
        raise InvalidQuery("no buckets, or no values to hash", expected="1 or more of each", found=f"{buckets}, {len(values)}")
    return (list_hash(values) & 0x7FFFFFFF) % buckets


@implements("LAY-021")
def bucket_of_key(key: str, fields: Sequence[str], buckets: int) -> int:
    """The bucket of a record key, by those of its fields that are index fields; by the whole key if there are none."""
    return bucket_of(values_of_key(key, fields), buckets)


@implements("LAY-021")
def values_of_key(key: str, fields: Sequence[str]) -> list[str | None]:
    """The values of those index fields that a record key has, in the order of the key; the whole key if it has none of them.

    A key of several fields is `field:value` joined by commas. A key without a comma is hashed whole, also if it names its
    field. Fields that the key does not have are ignored, as deployed.
    """
    first, colon, rest = key.partition(":")
    if "," not in key or not colon:
        return [key]
    value, *others = _NEXT_FIELD.split(rest)
    parts = [(first, value), *(other.partition(":")[::2] for other in others)]
    return [VALUE_OF_MARK.get(value, value) for name, value in parts if name in fields] or [key]


@implements("NBC-004")
def bucket_file_id(bucket: int, random: str | None = None, *, number: int = 0) -> str:
    """The file id of a bucket: the same for all writers, or with the end of a `random` id.

    `number` is greater than 0 if file groups of the bucket were replaced.
    """
    # ER-122: non-blocking writers derive the id from the bucket alone, so that all use the same id.
    return f"{bucket:08d}{f'-0000-0000-0000-{number:012d}' if random is None else random[8:]}"


def bucket_prefix(file_id: str) -> str:
    """The common beginning of all file ids of a bucket."""
    return file_id[:8]
