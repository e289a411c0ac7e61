"""Locations in the record index: a file id in parts, spec "Indexes > Record index".

    encoding 0    <uuid>-<index>: the UUID as two longs with sign, and the index; -1 for an id without one
    encoding 1    any other id, as text

An id is stored in parts only if the parts reproduce it exactly, because a changed id would be that of another file group.
"""

import re
import struct
from dataclasses import dataclass
from uuid import UUID

from hudi_reference.errors import MalformedIndexEntry
from hudi_reference.requirement import implements

UUID_PARTS, TEXT = 0, 1
#: The value of the members that an entry of the other encoding does not use.
NONE = -1
_LONG = range(-(2**63), 2**63)
_GREATEST_INDEX = 2**31 - 1
#: File ids that UUID and number reproduce exactly: in lower case, without leading zeros of the index.
_UUID_FILE_ID = re.compile(r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:-(0|[1-9][0-9]{0,9}))?")


@implements("IDX-014", "IDX-016", "IDX-017", "IDX-018", "IDX-019")
@dataclass(frozen=True)
class Location:
    """A file id in an entry of the record index. The defaults are the values in entries of the other encoding."""

    high: int = NONE
    low: int = NONE
    index: int = NONE
    encoding: int = UUID_PARTS
    text: str = ""

    @property
    def file_id(self) -> str:
        """The file id; raises MalformedIndexEntry if the parts are not valid."""
        return file_id_of(self)


@implements("IDX-014", "IDX-015", "IDX-016", "IDX-017", "IDX-018", "IDX-019")
def location_of(file_id: str) -> Location:
    """The parts of a file id; as text if UUID and number would not reproduce it exactly."""
    match = _UUID_FILE_ID.fullmatch(file_id)
    if match is None or int(match[2] or 0) > _GREATEST_INDEX:
        return Location(encoding=TEXT, text=file_id)
    high, low = struct.unpack(">qq", UUID(match[1]).bytes)
    return Location(high, low, NONE if match[2] is None else int(match[2]))


@implements("IDX-014", "IDX-015", "IDX-016", "IDX-017", "IDX-018", "IDX-019")
def file_id_of(location: Location) -> str:
    """The file id of a location; raises MalformedIndexEntry for an unknown encoding and for invalid parts."""
    if location.encoding == TEXT:
        return location.text
    if location.encoding != UUID_PARTS or not (location.high in _LONG and location.low in _LONG):
        raise MalformedIndexEntry(
            "a location that is not a file id",
            rule="IDX-018",
            expected="0, a UUID in two longs; 1, a text",
            found=str(location),
        )
    uuid = UUID(bytes=struct.pack(">qq", location.high, location.low))
    return str(uuid) if location.index == NONE else f"{uuid}-{location.index}"
