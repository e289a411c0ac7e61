"""Mutants of meta columns and record keys."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference import java_text
from hudi_reference.files.log.writer import BlockWriter
from hudi_reference.query.slice_reader import SliceReader
from hudi_reference.records.keys import record_keys
from hudi_reference.write import rows
from hudi_reference.write.writer import Writer


@mutant(breaks="META-001")
def log_schema_without_commit_time(patch: Patch) -> None:
    """Omits the meta column of the commit time in the schema of log blocks."""
    patch.edit(
        BlockWriter._header,
        'json.dumps(self.schema, separators=(",", ":"))',
        'json.dumps(self.schema, separators=(",", ":")).replace("_hoodie_commit_time", "commit_time")',
    )


@mutant(breaks="META-002")
def file_name_column_computed_when_read(patch: Patch) -> None:
    """Returns the name of the file in which a row is stored, and not the stored value."""
    patch.edit(
        SliceReader._batches,
        "yield self.keyed(conform(rows, fields, block.path))",
        "rows = self.keyed(conform(rows, fields, block.path))\n            "
        "yield rows if '_hoodie_file_name' not in fields.names else rows.set_column("
        "fields.names.index('_hoodie_file_name'), fields.field('_hoodie_file_name'), pa.array([block.path] * len(rows)))",
    )


@mutant(breaks=("META-003", "META-004"))
def copied_rows_get_new_commit_time(patch: Patch) -> None:
    """Stamps all rows of a rewritten base file with the commit that rewrote it."""
    patch.edit(Writer.rewrite_base_file, "in_file(merged, str(name))", "stamp(merged, self.commit.requested, 0, str(name))")


@mutant(breaks="META-003")
def commit_time_column_empty(patch: Patch) -> None:
    """Leaves the commit time of stored rows empty."""
    patch.edit(rows.stamp, "pa.repeat(pa.scalar(instant), count)", "pa.repeat(pa.scalar(''), count)")


@mutant(breaks="META-005")
def same_sequence_number_for_all_rows(patch: Patch) -> None:
    """Gives all rows of a file the same sequence number."""
    patch.edit(rows.stamp, "np.arange(count)", "np.zeros(count, int)")


@mutant(breaks="META-006")
def copied_rows_get_new_sequence_numbers(patch: Patch) -> None:
    """Assigns new sequence numbers to the rows of a rewritten base file."""
    patch.edit(
        Writer.rewrite_base_file,
        "rows = in_file(merged, str(name))",
        "rows = in_file(merged, str(name))\n    "
        "numbers = pa.array([f'{self.commit.requested}_0_{number}' for number in range(len(rows))])\n    "
        "rows = rows.set_column(1, rows.schema.field(1), numbers)",
    )


@mutant(breaks="META-007")
def empty_key_value_as_null(patch: Patch) -> None:
    """Writes the mark of null for an empty text in a key of several fields."""
    patch.edit(record_keys.composite_key, '"": "__empty__"', '"": "__null__"')


@mutant(breaks="META-007")
def null_record_key_accepted(patch: Patch) -> None:
    """Accepts a row whose key fields are null."""
    patch.edit(record_keys.composite_key, "if not any(values):", "if False:")


@mutant(breaks="META-007")
def float_keys_printed_as_doubles(patch: Patch) -> None:
    """Prints a float in a record key with the digits of a double."""
    patch.edit(java_text.texts_of, "if pt.is_floating(kind):", "if pt.is_float64(kind):")


@mutant(breaks="META-007")
def number_keys_in_python_notation(patch: Patch) -> None:
    """Prints large and small numbers in keys with Python's exponents."""
    patch.edit(java_text.number_text, "number = float(digits)", "return digits")


@mutant(breaks="META-007")
def record_key_column_empty(patch: Patch) -> None:
    """Leaves the record key of stored rows empty if they have a partition."""
    patch.edit(
        Writer._blocks,
        "of_rows.rows(self.logs.block_format, kept,",
        "writer.rows(self.logs.block_format, part.set_column(2, KEY, pa.array([''] * part.num_rows)),",
    )


@mutant(breaks="META-008")
def record_keys_recomputed_when_read(patch: Patch) -> None:
    """Computes the keys of stored rows again from their key column."""
    patch.edit(
        SliceReader.keyed,
        "if not self.key_fields:\n        return rows\n",
        'if not self.key_fields and "id" not in rows.column_names:\n        return rows\n'
        '    if not self.key_fields:\n        return rows.set_column(rows.column_names.index(KEY), KEY, rows.column("id"))\n',
    )


@mutant(breaks="META-009")
def partition_path_column_empty(patch: Patch) -> None:
    """Leaves the partition path of logged rows empty."""
    patch.edit(
        Writer._blocks,
        "of_rows.rows(self.logs.block_format, kept,",
        "writer.rows(self.logs.block_format, part.set_column(3, PARTITION, pa.array([''] * part.num_rows)),",
    )


@mutant(breaks=("META-010", "META-011"))
def copied_rows_keep_old_file_name(patch: Patch) -> None:
    """Copies rows into a new base file with the name of the previous one."""
    patch.edit(Writer.rewrite_base_file, "in_file(merged, str(name))", "merged")


@mutant(breaks="META-012")
def virtual_keys_not_computed(patch: Patch) -> None:
    """Merges by the stored key column where the table leaves it empty, and so takes all rows for one."""
    patch.edit(SliceReader.keyed, "if not self.key_fields:", "if True:")


@mutant(breaks="META-012")
def meta_columns_filled_although_disabled(patch: Patch) -> None:
    """Stores keys and times in a table whose meta columns are disabled."""
    patch.edit(rows.stored, "if properties.populates_meta_fields:", "if True:")
