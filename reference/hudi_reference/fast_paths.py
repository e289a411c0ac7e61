"""Which of two equal implementations runs: the plain one, or the fast one in a package `fast` beside it.

Plain code decides one record at a time, so that it can be read beside the specification. Fast code gives the same answer for
whole columns; tests check that both give the same answers. This table is the only place that says which of them runs. Setting
the environment variable `HUDI_REFERENCE_PLAIN` to `1` forces the plain code everywhere, so that a suite can run with either.
"""

import os
from enum import Enum

#: The environment variable that forces the plain code; empty or `0` is the default.
VARIABLE = "HUDI_REFERENCE_PLAIN"


class FastPath(Enum):
    """Each fast path by the function that chooses it, with the least input for which the fast code is used.

    With less input the plain code is at least as quick.
    """

    #: Base rows and log entries of a slice.
    MERGE = ("records.merging.merge_slice:merge_changes", 10_000)
    #: Records of an Avro log block.
    DECODE_ROWS = ("files.log.content:decode_rows", 50)
    ENCODE_ROWS = ("files.log.content:encode_rows", 1000)
    #: Bytes of a delete block's content.
    DECODE_DELETES = ("files.log.content:decode_deletes", 1000)
    #: Entries of a file or block of the metadata table.
    DECODE_RECORDS = ("metadata.codec:decode_entries", 50)
    #: Record keys that are added to a bloom filter or looked up in one.
    BLOOM_HASHES = ("files.bloom.bloom_hash:bits_of_many", 16)
    #: Rows of a Parquet base file.
    PARQUET_ROWS = ("files.base.parquet:_rows", 1000)

    def __init__(self, function: str, least: int) -> None:
        self.function = function
        #: The least input for which the fast code is used.
        self.least = least


def use_fast(path: FastPath, size: int) -> bool:
    """Whether the fast code runs for an input of this size, in the unit of the path."""
    return size >= path.least and os.environ.get(VARIABLE, "0") in ("", "0")
