"""TODO docstring."""

from typing import Literal

Type = Literal["COPY_ON_WRITE", "MERGE_ON_READ"]


READS = ("read.snapshot", "read.projection", "partition.plain", "delete.flag")
