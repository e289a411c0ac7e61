"""Mutants of schemas that change between the files of a table."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference.query.slice_reader import SliceReader
from hudi_reference.query.table import Table, View
from hudi_reference.schema import field_ids, promotion, reconcile
from hudi_reference.write import rows


@mutant(breaks="LF-038")
def struct_evolution_ignored(patch: Patch) -> None:
    """Takes the type of a struct from the table; fields that rows add to it are lost."""
    patch.edit(reconcile._type, 'return {**avro, "fields": _fields(fields, list(found), space, f"{path}.")}', "return avro")


@mutant(breaks="LF-038")
def float_widening_by_value(patch: Patch) -> None:
    """Widens the floats of base files and logs to doubles by value, and their integers as texts."""
    patch.edit(promotion._rounded_float, "if pt.is_floating(array.type):", "if False:")
    patch.edit(promotion._text, "texts_of(array).cast(wanted)", "pc.cast(pc.cast(array, pa.float64()), wanted)")


@mutant(breaks="LF-038")
def column_types_narrowed(patch: Patch) -> None:
    """Gives a column the type of the latest rows, whatever its type was."""
    patch.edit(reconcile._type, "if promotes(wanted, found):", "if True:")
    patch.edit(rows._check_types, "if not fits(found.type, wanted) or", "if False and")


@mutant(breaks="LF-038")
def missing_columns_accepted_as_null(patch: Patch) -> None:
    """Accepts rows without some columns of the table, and writes nulls."""
    patch.edit(rows._needed, 'if needs == "all":', "if False:")


@mutant(breaks="LF-038")
def schema_history_ignored(patch: Patch) -> None:
    """Matches columns by name, also where the schema history requires matching by id."""
    patch.edit(View.reader, "if table.schema_on_read", "if False")


@mutant(breaks="LF-038")
def schema_history_ignored_in_time_travel(patch: Patch) -> None:
    """Checks the newest file of the schema history against the timeline of the past, where its action is missing."""
    patch.edit(Table.view, "saved_versions(self.storage, whole)", "saved_versions(self.storage, timeline)")


@mutant(breaks="LF-038")
def newest_schema_for_old_files(patch: Patch) -> None:
    """Resolves the column names of a file by the newest schema, and not by that of the time when the file was written."""
    patch.edit(field_ids.SchemaHistory.at, "version <= int(instant)", "True")


@mutant(breaks="LF-038")
def blocks_decoded_with_newest_schema(patch: Patch) -> None:
    """Decodes every block of a slice with the schema of the last one."""
    patch.edit(
        SliceReader._batches,
        "decode_rows(block, self._stored_names(fields, block.instant))",
        "decode_rows(type(block)(block.kind, [b for b in blocks if b.kind == block.kind][-1].header,"
        " block.content, block.path, block.offset, block.size))",
    )
