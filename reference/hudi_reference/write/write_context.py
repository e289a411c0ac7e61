"""The context of a write: the table, its schema after the write, the columns that the rows must have, and the log options."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Self

import pyarrow as pa

from hudi_reference.errors import Misuse, UnsupportedTableFeature
from hudi_reference.files.base.parquet import codec_of
from hudi_reference.files.log.cdc import Mode
from hudi_reference.files.log.writer import BlockFormat
from hudi_reference.layout.properties import TableProperties
from hudi_reference.query.slice_reader import SliceReader
from hudi_reference.query.table import EMPTY_SCHEMA, Table, View
from hudi_reference.records.changes import KEY
from hudi_reference.records.keys.record_keys import KeyGenerator, kind_of_generator, with_settings
from hudi_reference.records.mergers.merger import RecordMerger
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import META_COLUMNS
from hudi_reference.schema.reconcile import reconcile_schema, without_columns
from hudi_reference.settings import boolean_setting, number_setting
from hudi_reference.write.column_ids import view_for_write
from hudi_reference.write.placement.global_index import is_global
from hudi_reference.write.placement.rows import NULL_FOR_MISSING, RECONCILE, Intake, Needs
from hudi_reference.write.preconditions import check_format, check_populated

#: The operation that changes some columns of known records; on the timeline it is an upsert.
PARTIAL_UPDATE = "PARTIAL_UPDATE"
#: The formats of data blocks by their deployed names.
_BLOCK_FORMATS: Mapping[str, BlockFormat] = {"avro": "avro", "parquet": "parquet", "hfile": "hfile"}
_ENABLED, _MODE = "hoodie.table.cdc.enabled", "hoodie.table.cdc.supplemental.logging.mode"


@dataclass(frozen=True)
class WriteContext:
    """The table's view, with the schema that the table has after the write.

    `properties` are the table's properties and the settings of the writer for the key generator; `needs` says which columns
    the rows must have.
    """

    view: View
    reader: SliceReader
    properties: TableProperties
    needs: Needs

    @classmethod
    def for_operation(cls, table: Table, operation: str, rows: pa.Schema) -> Self:
        """The context of an operation with rows of this schema, on a table that was checked. Raises InvalidRows.

        A table that has no schema yet, because it was created without one and no write has completed, gets that of the rows.
        """
        view, options = view_for_write(table), table.options
        is_first = view.schema is EMPTY_SCHEMA and operation not in ("DELETE", PARTIAL_UPDATE)
        if is_first:
            view = replace(view, schema=without_columns(table.properties.name))
        # ER-109: a write extends the schema only with this setting.
        grows = boolean_setting(options, RECONCILE)
        if is_first or (grows and operation != "DELETE"):
            view = replace(view, schema=reconcile_schema(view.schema, rows))
        lenient = grows or boolean_setting(options, NULL_FOR_MISSING) or operation == PARTIAL_UPDATE
        needs: Needs = "ordering" if lenient else "all"
        if operation == "DELETE":
            needs = "key" if is_global(options) else "identity"
        return cls(view, view.reader(table), with_settings(table.properties, options), needs)

    def intake(self, partial_columns: frozenset[str] | None = None, *, has_new: bool = True) -> Intake:
        """The requirements on the rows; `partial_columns` are the columns that the rows of a partial update have.

        Raises UnsupportedKeyGenerator for a table in which these rows would get other keys or partitions than those of its
        writers. Rows that all have a partition path (`has_new` False) get none.
        """
        reader = self.reader
        if has_new:
            self._check_generator()
        return Intake(self.properties, reader.schema, self.view.schema, reader.merging.marker, self.needs, partial_columns)

    def _check_generator(self) -> None:
        properties, generator = self.properties, KeyGenerator.from_properties(self.properties)
        if self.needs != "key":
            generator.check_paths({partition for partition, _ in self.view.groups.groups}, self.reader.schema)
        has_two_forms = kind_of_generator(properties) == "COMPLEX" and len(properties.record_key) == 1
        if has_two_forms and properties.populates_meta_fields and (stored := self._stored_rows()) is not None:
            generator.check_keys(stored, stored.column(KEY))

    def _stored_rows(self) -> pa.Table | None:
        """The keys and key columns in the first slice that has rows, which show how the writers of the table make keys."""
        column = self.properties.record_key[0].partition(".")[0]
        whole = (found for found in self.view.groups.latest_slices if not found.missing)
        parts = (self.reader.read(found, [KEY, column], logs=found.base_file is None) for found in whole)
        return next((rows for rows in parts if rows.num_rows), None)


@implements("LF-045", "LF-046")
def columns_of_update(context: WriteContext, columns: Iterable[str]) -> frozenset[str]:
    """The columns that records of a partial update store: meta columns, and the given columns except key and partition fields.

    Raises Misuse if no column would change, UnsupportedTableFeature for a table whose merger does not support partial records,
    and for a table whose rows have no keys.
    """
    check_populated(context.properties, "records of a partial update are identified by their stored key")
    fixed = {*context.properties.record_key, *context.properties.partition_fields, *META_COLUMNS}
    changed = [name for name in columns if name not in fixed]
    if not changed:
        raise Misuse("a partial update of no column", rule="LF-046", expected="a column beside key and partition fields")
    merger = context.reader.merging.merger
    if merger is not None and type(merger).partial_merge is RecordMerger.partial_merge:
        raise UnsupportedTableFeature(
            "the merger of the table does not support partial records", rule="API-013", remedy="upsert whole rows",
            expected="a merger with partial_merge", found=f"{merger.name}, {merger.strategy_id}",
        )  # fmt: skip
    return frozenset({*META_COLUMNS, *changed})


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
    def from_properties(cls, properties: Mapping[str, str]) -> Self:
        """The options among settings of a deployed writer, which has them under these names.

        Raises UnsupportedTableFeature for an unknown format, Misuse for a size that is not a positive number.
        """
        block_format = properties.get("hoodie.logfile.data.block.format", "avro").lower()
        if block_format not in _BLOCK_FORMATS:
            raise UnsupportedTableFeature(
                "an unknown format of data blocks", rule="LF-008", expected=", ".join(_BLOCK_FORMATS), found=block_format
            )
        return cls(
            number_setting(properties, "hoodie.logfile.max.size", cls.max_file_size, least=1),
            number_setting(properties, "hoodie.logfile.data.block.max.size", cls.max_block_size, least=1),
            boolean_setting(properties, "hoodie.write.record.positions", default=True),
            _BLOCK_FORMATS[block_format],
        )


DEFAULTS = LogOptions()


def log_options(table: Table, given: LogOptions = DEFAULTS) -> LogOptions:
    """How a write stores logs: as `given`, otherwise as the settings of the table's writers say.

    Raises UnsupportedTableFeature for a block format or a compression of base files that the table or the writer does not
    support.
    """
    options = LogOptions.from_properties(table.options) if given is DEFAULTS else given
    check_format(options.block_format, table.properties)
    codec_of(table.options)
    return options


@implements("TYP-004")
def logging_mode(properties: TableProperties) -> Mode | None:
    """What writers of the table log for each change; None without change data capture. Raises InvalidProperty."""
    return Mode(properties.require(_MODE)) if properties.is_set(_ENABLED) else None
