"""Golden tables of one table version that serve another: timeline, file names, log blocks and rows are the same in both."""

import re
from pathlib import Path

#: The properties of a data table and of its metadata table, relative to the table.
PROPERTIES = (".hoodie/hoodie.properties", ".hoodie/hoodie.properties.backup", ".hoodie/metadata/.hoodie/hoodie.properties")
_VERSION = re.compile(rb"^hoodie\.table\.version=(\d+)$", re.MULTILINE)
_STANDARD_MODE = re.compile(rb"^hoodie\.record\.merge\.mode=(COMMIT|EVENT)_TIME_ORDERING$", re.MULTILINE)
_INDEXES = re.compile(rb"^hoodie\.table\.metadata\.partitions=(.*)$", re.MULTILINE)


def serves_both_versions(table: Path) -> bool:
    """Return whether a table of version 8 with another number in its properties is a table of version 9 with the same rows.

    This holds for the standard merge modes, which version 9 takes over, and without indexes, which it stores in another form.
    It is what an upgrade by Apache Hudi leaves of such a table, except for settings that no reader needs.
    """
    properties = table / PROPERTIES[0]
    content = properties.read_bytes() if properties.is_file() else b""
    indexes = _INDEXES.search(content)
    return (
        _VERSION.findall(content) == [b"8"]
        and _STANDARD_MODE.search(content) is not None
        and (indexes is None or indexes[1].strip() in (b"", b"files"))
    )


def set_table_version(table: Path, version: int) -> None:
    """Change the version of a copied table and of its metadata table. The checksum in the properties is that of the names."""
    for path in filter(Path.is_file, (table / name for name in PROPERTIES)):
        path.write_bytes(_VERSION.sub(b"hoodie.table.version=%d" % version, path.read_bytes()))
        path.with_name(f".{path.name}.crc").unlink(missing_ok=True)
