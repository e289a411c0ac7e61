"""The checksums that Hadoop's local file system stores beside each file: `.NAME.crc` for the file `NAME`.

    "crc\\0" | bytes per checksum, N (4, big-endian) | CRC-32 of the first N bytes (4) | CRC-32 of the next N bytes | ...

Engines on Hadoop compare them with each read. A file whose bytes were changed later is refused, and one without checksums read.
"""

import zlib
from collections.abc import Iterator, Sequence

from hudi_conformance.validator.checks.finding import Check, Finding, Tally
from hudi_conformance.validator.stored.table import StoredTable
from hudi_reference.errors import HudiError
from hudi_reference.layout.names import join_path, parse_data_file_name, split_path
from hudi_reference.layout.properties import META_FOLDER
from hudi_reference.storage import Storage, is_below
from hudi_reference.storage.uris import local_path

_MAGIC = b"crc\0"
_HEADER = len(_MAGIC) + 4
#: How many checksums are compared at a time; with the 512 bytes of Hadoop's default, of 8 MB of a file.
_AT_ONCE = 1 << 14
#: Larger files below `.hoodie` are examined with the data files.
_SMALL = 1 << 20


def _files_with_checksums(table: StoredTable) -> Iterator[str]:
    """The files that have checksums. Other file systems and object stores never read those that were copied to them."""
    if local_path(table.uri) is None:
        return
    for path in table.listing.files:
        if not path.endswith(".crc"):
            continue
        folder, name = split_path(path)
        checked = join_path(folder, name[1:].removesuffix(".crc"))
        if name.startswith(".") and checked in table.listing.files:
            yield checked


def _is_small(table: StoredTable, path: str) -> bool:
    return is_below(path, META_FOLDER) and table.listing.files[path].size <= _SMALL


def _small_files(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """S3-001: what was published below `.hoodie` has the bytes that its writer stored."""
    for path in _files_with_checksums(table):
        if _is_small(table, path):
            yield from _examine(table, path, tally)


def _other_files(table: StoredTable) -> Sequence[str]:
    others = (path for path in _files_with_checksums(table) if not _is_small(table, path))
    return [path for path in others if is_below(path, META_FOLDER) or table.scope.wants(split_path(path)[0])]


def _examine(table: StoredTable, path: str, tally: Tally) -> Iterator[Finding]:
    """S3-001, LAY-024: the bytes of a file are those of its checksums."""
    folder, name = split_path(path)
    rule = "S3-001" if parse_data_file_name(name) is None else "LAY-024"
    checksums = join_path(folder, f".{name}.crc")
    tally.looked(rule)
    try:
        offset = _first_difference(table.storage, path, table.listing.files[path].size, checksums)
    except (HudiError, FileNotFoundError):
        return  # a file that cannot be read is a finding of other checks
    if offset is not None:
        yield Finding(
            rule, "wrong-answers", path,
            "Engines on Hadoop refuse the file; other engines read what was changed after it was written.",
            f"the bytes of which {split_path(checksums)[1]} has the checksums", f"other bytes from byte {offset} on",
            f"delete {checksums} if the file was changed on purpose; otherwise restore the file from another copy of the table",
            offset=offset,
        )  # fmt: skip


def _first_difference(storage: Storage, path: str, size: int, checksums: str) -> int | None:
    """Where the first bytes begin whose checksum is another one, or missing; None if there are none.

    Hadoop ignores a file of checksums without the right header, and checksums of bytes after the end of the file.
    """
    header = storage.get(checksums, 0, _HEADER)
    each = int.from_bytes(header[len(_MAGIC) :], "big")
    if len(header) < _HEADER or not header.startswith(_MAGIC) or not 0 < each <= _SMALL:
        return None
    step = each * _AT_ONCE
    for start in range(0, size, step):
        data = storage.get(path, start, step)
        known = storage.get(checksums, _HEADER + start // each * 4, _AT_ONCE * 4)
        for at in range(0, len(data), each):
            if known[at // each * 4 :][:4] != zlib.crc32(data[at : at + each]).to_bytes(4, "big"):
                return start + at
    return None


CHECKSUM_FILES = Check("checksums.small-files", ("S3-001", "LAY-024"), "cheap", _small_files, tables="data")
CHECKSUMS_OF_DATA = Check("checksums.data-files", ("S3-001", "LAY-024"), "deep", _examine, _other_files, tables="data")
