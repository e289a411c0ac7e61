"""Mutants in schemas that change, in writes of some columns, and in keys and paths of values of every type."""

from hudi_conformance.mutants.harness.mutant import Patch, mutant
from hudi_reference import java_text
from hudi_reference.query import file_groups
from hudi_reference.query.table import Table, View
from hudi_reference.records.keys import joda_format, record_keys, timestamp_keygen
from hudi_reference.records.merging import partial_merge
from hudi_reference.schema import field_ids, promotion, reconcile
from hudi_reference.write import rows, write_context
from hudi_reference.write.writer import Writer


@mutant(breaks="TYP-001")
def every_table_gets_log_files(patch: Patch) -> None:
    """Writes log files whatever the type of the table is."""
    patch.edit(
        Writer.change, "self.append_log_file if self.commit.table.properties.is_merge_on_read else", "self.append_log_file or"
    )


@mutant(breaks="RDR-018")
def listings_are_never_taken_again(patch: Patch) -> None:
    """Keeps the first listing of a table, so that files which came later are not there."""
    patch.edit(
        file_groups.load_file_groups,
        "listed = {info.path for info in storage.list(skip=META_FOLDER)}",
        "cache = load_file_groups.__dict__.setdefault('_cache', {})\n"
        "    key = (getattr(storage, 'root', id(storage)), len({s.partition for c in commits.values() for s in c.stats}))\n"
        "    listed = cache.setdefault(key, {info.path for info in storage.list(skip=META_FOLDER)})",
    )


@mutant(breaks="LF-045")
def every_block_is_partial(patch: Patch) -> None:
    """Says of every data block that it holds some columns only."""
    patch.edit(
        Writer._blocks,
        "writer if partial is None else",
        "replace(writer, partial=True) if partial is None else",
    )


@mutant(breaks="LF-046")
def columns_that_an_update_lacks_are_null(patch: Patch) -> None:
    """Writes the columns that a partial update does not hold as nulls of a whole row."""
    patch.edit(
        write_context.columns_of_update, "frozenset({*META_COLUMNS, *changed})", "frozenset(context.reader.schema.names)"
    )


@mutant(breaks="LF-046")
def updates_of_deleted_records_bring_them_back(patch: Patch) -> None:
    """Counts the keys of deleted records as known to a partial update."""
    from hudi_reference.write import write

    patch.edit(write._locate, "living=is_partial", "living=False")


@mutant(breaks="MRG-028")
def partial_updates_win_whatever_their_ordering(patch: Patch) -> None:
    """Puts the columns of a late partial update over those that are there."""
    patch.edit(partial_merge._fold, "if merge(older.version, entry) is older.version:", "if False:")


@mutant(breaks="LF-038")
def new_fields_of_structs_forgotten(patch: Patch) -> None:
    """Takes over the type of a struct from the table, and the fields that rows add to it are lost."""
    patch.edit(reconcile._type, 'return {**avro, "fields": _fields(fields, list(found), space, f"{path}.")}', "return avro")


@mutant(breaks="LF-038")
def floats_become_doubles_bit_by_bit(patch: Patch) -> None:
    """Widens the floats of base files and logs to doubles, and their integers as texts."""
    patch.edit(promotion._rounded_float, "if pt.is_floating(array.type):", "if False:")
    patch.edit(promotion._text, "texts_of(array).cast(wanted)", "pc.cast(pc.cast(array, pa.float64()), wanted)")


@mutant(breaks="LF-038")
def types_become_narrower(patch: Patch) -> None:
    """Gives a column the type that the latest rows have, whatever it was."""
    patch.edit(reconcile._type, "if promotes(wanted, found):", "if True:")
    patch.edit(rows._check_types, "if not fits(found.type, wanted) or", "if False and")


@mutant(breaks="LF-038")
def missing_columns_are_null_unasked(patch: Patch) -> None:
    """Takes rows without some of the table's columns, as if these had been null."""
    patch.edit(rows._needed, 'if needs == "all":', "if False:")


@mutant(breaks="META-007")
def floats_with_the_digits_of_doubles(patch: Patch) -> None:
    """Prints a float in a record key with the digits of a double."""
    patch.edit(java_text.texts_of, "if pt.is_floating(kind):", "if pt.is_float64(kind):")


@mutant(breaks="META-007")
def numbers_in_keys_as_python_prints_them(patch: Patch) -> None:
    """Prints large and small numbers in keys with Python's exponents."""
    patch.edit(java_text.number_text, "number = float(digits)", "return digits")


@mutant(breaks=("PROP-016", "META-009"))
def times_in_paths_without_their_unit(patch: Patch) -> None:
    """Takes every number of a time-based key generator for milliseconds."""
    patch.edit(timestamp_keygen.TimestampPaths._of_number, "UNITS[self.unit]", '(self.unit and UNITS["MILLISECONDS"])')


@mutant(breaks=("PROP-016", "META-009"))
def null_times_in_the_folder_of_nulls(patch: Patch) -> None:
    """Puts rows without a time into the folder of nulls."""
    patch.edit(
        timestamp_keygen.TimestampPaths.text,
        "moment = _EPOCH if self.unit is None else self._of_number(1)",
        'return "__HIVE_DEFAULT_PARTITION__"',
    )


@mutant(breaks=("PROP-016", "PROP-008"))
def every_field_of_a_custom_generator_is_simple(patch: Patch) -> None:
    """Puts the value itself into the path where a custom key generator makes a date of it."""
    patch.edit(record_keys._part, 'said == "TIMESTAMP" if kind == "CUSTOM" else', 'False if kind == "CUSTOM" else')


@mutant(breaks="PROP-016")
def months_and_minutes_confused(patch: Patch) -> None:
    """Prints minutes where a pattern asks for months."""
    patch.item(joda_format.LETTERS, "M", joda_format.LETTERS["m"])


@mutant(breaks="LF-038")
def the_schema_history_is_not_read(patch: Patch) -> None:
    """Matches columns by name, also where it is asked to go by the ids of the schema history."""
    patch.edit(View.reader, "if table.schema_on_read", "if False")


@mutant(breaks="LF-038")
def the_past_has_no_schema_history(patch: Patch) -> None:
    """Asks the timeline of the past whether the newest file of the schema history counts: it is of a later action."""
    patch.edit(Table.view, "saved_versions(self.storage, whole)", "saved_versions(self.storage, timeline)")


@mutant(breaks="LF-038")
def ids_are_those_of_now(patch: Patch) -> None:
    """Takes the names of a file by the newest version of the schema, and not by that of the time when it was written."""
    patch.edit(field_ids.SchemaHistory.at, "version <= int(instant)", "True")
