"""Partition paths and partition metafiles, spec "Storage Layout"."""

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

from hudi_reference.java_text import value_text
from hudi_reference.layout.java_properties import dump
from hudi_reference.layout.names import PARTITION_METAFILE, join_path
from hudi_reference.requirement import implements
from hudi_reference.storage import ObjectExists, Storage

#: The folder of rows whose partition value is null or empty.
NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"

#: The characters that URL encoding escapes: control characters and those with a meaning in paths.
_ESCAPED = re.compile(r"""[\x00-\x1f\x7f"#%'*/:=?\\{\[\]^]""")
_ESCAPE = re.compile("%([0-9A-Fa-f]{2})")


@implements("PROP-016", "LAY-006")
def partition_path(
    fields: Sequence[str], values: Iterable[Any], *, hive_style: bool, url_encode: bool, split_dates: bool = False
) -> str:
    """The folder of a row below the base path, one level for each partition field; "" without partition fields.

    A `/` in a value separates levels, unless values are URL encoded. With `split_dates`, so does a `-`.
    """
    levels = []
    for field, value in zip(fields, values, strict=True):
        text = value_text(value)
        if text == "":
            text = NULL_PARTITION
        elif url_encode:
            text = escape(text)
        if split_dates:
            text = text.replace("-", "/")
        levels.append(f"{field}={text}" if hive_style else text)
    return "/".join(levels)


@implements("PROP-016")
def escape(text: str) -> str:
    """`text` with reserved characters as `%XX`; the folder of nulls for an empty text.

    Unlike in URLs, characters that are not ASCII, blanks and dots are not escaped.
    """
    return _ESCAPED.sub(lambda match: f"%{ord(match[0]):02X}", text) or NULL_PARTITION


@implements("PROP-016")
def unescape(text: str) -> str:
    """The inverse of `escape`, except that the folder of nulls is returned unchanged.

    `%XX` is the character with that number, not a byte of UTF-8; a `%` without two hexadecimal digits is literal.
    """
    return _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)


@implements("LAY-003", "LAY-018")
def mark_partition(storage: Storage, partition: str, instant: str) -> None:
    """Create the metafile of a partition unless it exists. Readers that list folders use it to discover partitions."""
    path = join_path(partition, PARTITION_METAFILE)
    if storage.head(path) is not None:
        return
    depth = len(partition.split("/")) if partition else 0
    with suppress(ObjectExists):  # another writer may create it at the same time
        storage.create(path, dump({"commitTime": instant, "partitionDepth": str(depth)}, "partition metadata"))
