"""How a write stores log files: sizes, positions, and the format of data blocks."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from hudi_reference.errors import UnsupportedTableFeature
from hudi_reference.files.base.parquet import codec_of
from hudi_reference.files.log.writer import BlockFormat
from hudi_reference.query.table import Table
from hudi_reference.write.write_context import check_format


@dataclass(frozen=True)
class LogOptions:
    """How log files are written; sizes in bytes, and deployed defaults."""

    #: A file that is larger than this gets no further block; the next one goes to a file of the next version.
    max_file_size: int = 1 << 30
    #: Rows are cut into blocks of about this size in memory.
    max_block_size: int = 256 << 20
    #: Whether blocks name the rows of the base file that their records change.
    positions: bool = True
    #: What data blocks hold.
    block_format: BlockFormat = "avro"

    @classmethod
    def of(cls, properties: Mapping[str, str]) -> Self:
        """The options among settings of a deployed writer, which has them under these names."""
        return cls(
            int(properties.get("hoodie.logfile.max.size", cls.max_file_size)),
            int(properties.get("hoodie.logfile.data.block.max.size", cls.max_block_size)),
            properties.get("hoodie.write.record.positions", "true") == "true",
            _block_format(properties.get("hoodie.logfile.data.block.format", "avro")),
        )


def _block_format(name: str) -> BlockFormat:
    """The format of data blocks that a deployed writer has under this name. Raises UnsupportedTableFeature."""
    known: dict[str, BlockFormat] = {"avro": "avro", "parquet": "parquet", "hfile": "hfile"}
    if name.lower() not in known:
        raise UnsupportedTableFeature("an unknown format of data blocks", rule="LF-008", expected=", ".join(known), found=name)
    return known[name.lower()]


DEFAULTS = LogOptions()


def log_options(table: Table, given: LogOptions = DEFAULTS) -> LogOptions:
    """How a write stores logs: as `given`, otherwise as the settings of the table's writers say.

    Raises UnsupportedTableFeature for a block format or a compression of base files that the table or the writer does not
    support.
    """
    options = LogOptions.of(table.options) if given is DEFAULTS else given
    check_format(options.block_format, table.properties)
    codec_of(table.options)
    return options
