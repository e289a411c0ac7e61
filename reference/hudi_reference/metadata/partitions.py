"""The partitions of the metadata table and the file groups in them, spec "Indexes > Naming".

The partition of a built-in index has a fixed name; that of an index that a user creates is named by its kind, `_` and its name.
File groups are numbered from 0; their number is fixed when the partition is created.

A record index may be partitioned: each partition of the table has file groups of its own, which are created when the partition
gets its first records. Then a record key may be in several partitions. In memory its key in the index is

    partition path, NUL, record key

so that keys are unique. In storage it is the record key.

    record-index-0003-0                    the whole table
    record-index-city%3Doslo-0000-0        the partition city=oslo
    record-index--0000-0                   a table without partitions
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from hudi_reference.errors import InvalidQuery, MalformedMetadata
from hudi_reference.layout.partitions import escape, unescape
from hudi_reference.layout.properties import META_FOLDER
from hudi_reference.metadata.keys import file_group_of
from hudi_reference.requirement import implements


@implements("IDX-002", "IDX-009")
class BuiltIn(StrEnum):
    """Partitions that every metadata table may have, by the names of their folders."""

    FILES = "files"
    COLUMN_STATS = "column_stats"
    PARTITION_STATS = "partition_stats"
    BLOOM_FILTERS = "bloom_filters"
    RECORD_INDEX = "record_index"


class Kind(StrEnum):
    """Kinds of indexes that users create, by the prefixes of the names of their folders."""

    SECONDARY = "secondary_index"
    EXPRESSION = "expr_index"


#: The prefix of file ids is the name of their folder, with one exception.
_OTHER_NAMES = {BuiltIn.COLUMN_STATS.value: "col-stats"}


@implements("IDX-001", "IDX-023", "IDX-033")
def index_partition(kind: Kind, name: str) -> str:
    """The folder of an index that was created under this name."""
    return f"{kind}_{name}"


@implements("IDX-047")
def file_id(partition: str, group: int, part: str | None = None) -> str:
    """The id of a partition's file group of this number; in a partitioned index, of those of one partition of the table.

    Raises InvalidQuery unless the number has up to four digits.
    """
    if not 0 <= group <= 9999:
        raise InvalidQuery("no file group has this number", rule="IDX-001", expected="0 to 9999", found=str(group))
    prefix = _OTHER_NAMES.get(partition) or partition.replace("_", "-")
    return f"{prefix}-{group:04}-0" if part is None else f"{prefix}-{_escape_part(part)}-{group:04}-0"


def _escape_part(part: str) -> str:
    """A partition path without characters that are reserved in file names or separate the parts of a file id."""
    return escape(part).replace("_", "%5F").replace("-", "%2D") if part else ""


#: The file id of a file group of a partitioned record index.
_OF_PART = re.compile(r"record-index-([^-]*)-\d{4}-0")
_SEPARATOR = "\0"


@implements("IDX-047")
def part_of(file_id: str) -> str | None:
    """The partition of the table to which a file group belongs; None for a file group of the whole table."""
    match = _OF_PART.fullmatch(file_id)
    return None if match is None else unescape(match[1])


def key_in_part(part: str | None, key: str) -> str:
    """The key, in memory, of an entry of a partition of the table; of an index of the whole table the key as it is."""
    return key if part is None else f"{part}{_SEPARATOR}{key}"


def split_key(key: str) -> tuple[str, str]:
    """The partition of the table, and the stored key, of a key of a partitioned index."""
    part, _, stored = key.partition(_SEPARATOR)
    return part, stored


def whole_key(key: str) -> str:
    """The part of a key whose hash selects the file group, in most indexes: the key."""
    return key


#: The number of a file group, at the end of its id.
_NUMBER = re.compile(r"-(\d{4})-0$")


def _check_numbers(ids: Sequence[str]) -> None:
    """Raise MalformedMetadata unless these sorted ids of one index have the numbers from 0 on, by the rest of the id."""
    last: tuple[str, int] = ("", -1)
    for one in ids:
        match = _NUMBER.search(one)
        if match is None:
            continue
        name, number = one[: match.start()], int(match[1])
        expected = last[1] + 1 if name == last[0] else 0
        if number != expected:
            raise MalformedMetadata(
                "a file group of an index is missing", rule="IDX-010", path=f"{META_FOLDER}/metadata",
                expected=f"a file group {name}-{expected:04}-0", found=", ".join(ids)[:200],
                remedy="drop the index and create it again",
            )  # fmt: skip
        last = name, number


@dataclass(frozen=True)
class IndexGroups:
    """The file groups of an index, in order of their numbers, by the partition of the table to which they belong."""

    by_part: Mapping[str | None, tuple[str, ...]]
    #: The part of a key whose hash selects the file group.
    hashed: Callable[[str], str] = whole_key

    @classmethod
    @implements("IDX-010", "IDX-011")
    def from_ids(cls, ids: Iterable[str], hashed: Callable[[str], str] = whole_key) -> Self:
        """Those with these file ids.

        Other ids than those with a number, which a clean of Apache Hudi 1.0.2 adds, are left out, unless there are no others:
        writers did not count them.

        Raises MalformedMetadata if a number is left out: the hash of a key would select another file group than when the entry
        was stored, and the key would not be found.
        """
        found: dict[str | None, list[str]] = {}
        listed = sorted(ids)
        for one in [one for one in listed if _NUMBER.search(one)] or listed:
            found.setdefault(part_of(one), []).append(one)
        for groups in found.values():
            _check_numbers(groups)
        return cls({part: tuple(ids) for part, ids in found.items()}, hashed)

    @property
    def is_partitioned(self) -> bool:
        """Whether each partition of the table has its own."""
        return any(part is not None for part in self.by_part)

    @implements("IDX-011", "IDX-045", "IDX-047", "IDX-048")
    def locate(self, key: str) -> tuple[str, str]:
        """The file group of a key, and the key as it is stored. Raises InvalidQuery if its partition has no file groups."""
        part, stored = split_key(key) if self.is_partitioned else (None, key)
        ids = self.by_part.get(part, ())
        return ids[file_group_of(self.hashed(stored), len(ids))], stored
