"""Limits of what a table may ask a reader to hold in memory, whatever its size on storage. docs/limits.md lists them.

A limit is far above what deployed writers store. It is raised by an environment variable.
"""

import os
from collections.abc import Collection
from dataclasses import dataclass

from hudi_reference.errors import UnsupportedFeature

#: The first part of the names of all variables.
PREFIX = "HUDI_REFERENCE_LIMIT_"
_MIB = 1 << 20


class LimitExceeded(UnsupportedFeature):
    """A stored object is larger than a limit of this implementation. `remedy` names the variable that raises the limit."""

    feature = "limit"


@dataclass(frozen=True)
class Limit:
    """One limit: the last part of its variable, what it counts, its default, and the rule of what it counts."""

    name: str
    counts: str
    default: int
    rule: str | None = None

    @property
    def variable(self) -> str:
        """The environment variable that replaces the default."""
        return PREFIX + self.name

    @property
    def value(self) -> int:
        """The limit now: the variable, if it is a number, else the default."""
        return number_in(self.variable, self.default)

    @property
    def remedy(self) -> str:
        """How the limit is raised."""
        return f"if the object is intact, set {self.variable} to a greater number"

    def check(self, found: int, path: str | None = None, offset: int | None = None, rule: str | None = None) -> None:
        """Raises LimitExceeded if `found` is more than the limit.

        Args:
            found: the number that was found or declared.
            path: the object that is read.
            offset: the place in it, in bytes.
            rule: the rule of the object, if it is another one than that of the limit.
        """
        if found > self.value:
            raise LimitExceeded(
                f"too many {self.counts}", rule=rule or self.rule, path=path, offset=offset, expected=f"at most {self.value}",
                found=str(found) if found < 10**18 else "more than 10^18",
                remedy=self.remedy,
            )  # fmt: skip


def number_in(variable: str, default: int) -> int:
    """The number in an environment variable, or the default if it has none."""
    text = os.environ.get(variable, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else default


#: The variable with the bytes that a command on a table may take; without it, as many as the machine has free.
MEMORY_VARIABLE = f"{PREFIX}MEMORY"
#: How a process that used up its memory gets more, for remedies.
MORE_MEMORY = f"ulimit -v, {MEMORY_VARIABLE}"
#: Types of a schema after every reference to a named type is replaced by the type.
SCHEMA_NODES = Limit("SCHEMA_NODES", "types in a schema, with each named type counted at every reference", 200_000, "LF-038")
COLUMNS = Limit("COLUMNS", "columns of a table or fields of a record", 50_000, "LF-038")
NESTING = Limit("NESTING", "levels of types in a schema", 100, "LF-038")
OBJECT_BYTES = Limit("OBJECT_BYTES", "bytes in an object, or part of one, that is read at once", 2048 * _MIB - 1, "S3-004")
PART_BYTES = Limit("PART_BYTES", "bytes in a part of a file after decompression: a file of an action, a block of an HFile",
                   256 * _MIB, "BF-002")  # fmt: skip
#: Parts up to this size are not bombs, and sound ones shrink by more than 500 times: blocks of bloom filters with few keys.
_SMALL_PART = 16 * _MIB
RATIO = Limit("RATIO", "bytes after decompression for each stored byte, in a part of more than 16 MiB", 200, "BF-002")
ACTION_VALUES = Limit("ACTION_VALUES", "values in the file of an action", 50_000_000, "TL-002")
STATS = Limit("STATS", "data files in the metadata of a write", 1_000_000, "TL-007")
INSTANTS = Limit("INSTANTS", "files in the timeline folder, or actions in the timeline history", 5_000_000, "TL-055")
LEVEL_FILES = Limit("LEVEL_FILES", "files of the timeline history in a manifest", 100_000, "LSM-010")
BLOCKS = Limit("BLOCKS", "blocks of a log file", 100_000, "LF-009")
FILE_VALUES = Limit("FILE_VALUES", "values in the columns that are read from a base file", 500_000_000, "BF-002")
PROPERTY_LINE = Limit("PROPERTY_LINE", "characters in a line of properties", 16 * _MIB, "PROP-011")

#: All limits of what a table may hold.
LIMITS: Collection[Limit] = (
    SCHEMA_NODES, COLUMNS, NESTING, OBJECT_BYTES, PART_BYTES, RATIO, ACTION_VALUES, STATS, INSTANTS, LEVEL_FILES, BLOCKS,
    FILE_VALUES, PROPERTY_LINE,
)  # fmt: skip


def check_decompressed(decompressed: int, stored: int, path: str, offset: int, rule: str) -> None:
    """Check the sizes in bytes of a compressed part of a file before it is decompressed. Raises LimitExceeded."""
    PART_BYTES.check(decompressed, path, offset, rule)
    if decompressed > _SMALL_PART:
        RATIO.check(decompressed // max(1, stored), path, offset, rule)
