"""The time zones of the writers of an ORC file, which the ORC library does not return.

A timestamp of ORC is the local time of its writer. Deployed writers store instants as their local time, and the time zone in
the footer of each stripe. Without the zone such an instant would be read with an offset of some hours.

    stripes, each with a footer after its data | statistics | footer | postscript | its length (1)
"""

import pyarrow as pa
import pyarrow.types as pt

from hudi_reference.files.base.orc_footer import STRIPES, messages, number, read_footer, read_part, uncompressed
from hudi_reference.files.hfile.varint import protobuf_fields

#: Names of UTC, in which local time and instant are equal; the first is that of a writer that stores none.
UTC = frozenset({"", "UTC", "GMT", "Z", "Zulu", "Universal", "Etc/UTC", "Etc/GMT", "Etc/Universal", "Etc/Zulu"})
#: The field of a stripe's footer with the zone.
_ZONE = 3


def zones_of(source: pa.NativeFile) -> frozenset[str]:
    """The names of the zones of all stripes. Raises ValueError if the file cannot be parsed."""
    footer, compression = read_footer(source)
    stripes = [dict(protobuf_fields(value)) for value in messages(footer, STRIPES)]
    return frozenset(_zone(source, stripe, compression) for stripe in stripes)


def _zone(source: pa.NativeFile, stripe: dict[int, int | bytes], compression: int) -> str:
    start, index, data, size = (number(stripe.get(tag)) for tag in (1, 2, 3, 4))
    footer = uncompressed(read_part(source, start + index + data, size), compression)
    return next(messages(footer, _ZONE), b"").decode()


def has_clock_times(kind: pa.DataType) -> bool:
    """Whether the type contains timestamps without a zone, which are local times of the writer."""
    if pt.is_timestamp(kind):
        return kind.tz is None
    return any(has_clock_times(kind.field(i).type) for i in range(kind.num_fields))
