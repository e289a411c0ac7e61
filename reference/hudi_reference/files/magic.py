"""The formats of data files by their magic bytes, at the beginning or the end, independent of their names."""

from typing import Literal

from hudi_reference.files.hfile.block import BlockType
from hudi_reference.files.hfile.trailer import MAGIC as HFILE_TRAILER
from hudi_reference.files.hfile.trailer import SIZE as TRAILER_SIZE
from hudi_reference.files.log.block import MAGIC as LOG_BLOCK

Format = Literal["log", "hfile", "parquet", "orc"]

#: A file's first bytes by format.
HEADS: dict[bytes, Format] = {
    LOG_BLOCK: "log",
    b"PAR1": "parquet",
    b"ORC": "orc",
    **{kind.value: "hfile" for kind in BlockType},
}
#: Bytes that are needed to recognize a format, at the beginning and at the end of a file.
HEAD, END = 8, TRAILER_SIZE


def format_of(head: bytes, tail: bytes) -> Format | None:
    """The format by the first HEAD bytes of a file, or by the last END bytes if the first are damaged."""
    for magic, found in HEADS.items():
        if head.startswith(magic):
            return found
    if tail.startswith(HFILE_TRAILER) and len(tail) == END:
        return "hfile"
    if tail.endswith(b"PAR1"):
        return "parquet"
    return "orc" if tail[-4:-1] == b"ORC" else None
