"""Planted bugs in schemas that change, in writes of some columns, and in keys and paths of values of every type."""

from hudi_conformance.mutants.harness.mutant import Bug, planted
from hudi_reference import java_text
from hudi_reference.query import file_groups
from hudi_reference.query.table import Table, View
from hudi_reference.records.keys import joda_format, record_keys, timestamp_keygen
from hudi_reference.records.merging import partial_merge
from hudi_reference.schema import field_ids, promotion, reconcile
from hudi_reference.write import rows, write_context
from hudi_reference.write.write import Writer


@planted(breaks="TYP-001")
def every_table_gets_log_files(bug: Bug) -> None:
    """Writes log files whatever the type of the table is."""
    bug.edit(Writer.change, "self.append_log_file if self.commit.properties.is_merge_on_read else", "self.append_log_file or")


@planted(breaks="RDR-018")
def listings_are_never_taken_again(bug: Bug) -> None:
    """Keeps the first listing of a table, so that files which came later are not there."""
    bug.edit(
        file_groups.load_file_groups,
        "listed = {info.path for info in storage.list(skip=META_FOLDER)}",
        "cache = load_file_groups.__dict__.setdefault('_cache', {})\n"
        "    key = (getattr(storage, 'root', id(storage)), len({s.partition for c in commits.values() for s in c.stats}))\n"
        "    listed = cache.setdefault(key, {info.path for info in storage.list(skip=META_FOLDER)})",
    )


@planted(breaks="LF-045")
def every_block_is_partial(bug: Bug) -> None:
    """Says of every data block that it holds some columns only."""
    bug.edit(Writer._blocks, "writer if self.held is None else", "replace(writer, partial=True) if self.held is None else")


@planted(breaks="LF-046")
def columns_that_an_update_lacks_are_null(bug: Bug) -> None:
    """Writes the columns that a partial update does not hold as nulls of a whole row."""
    bug.edit(write_context.held_by_update, "frozenset({*META_COLUMNS, *changed})", "frozenset(basis.reader.schema.names)")


@planted(breaks="LF-046")
def updates_of_deleted_records_bring_them_back(bug: Bug) -> None:
    """Counts the keys of deleted records as known to a partial update."""
    from hudi_reference.write import write

    bug.edit(write._attempt, "living=held is not None", "living=False")


@planted(breaks="MRG-028")
def partial_updates_win_whatever_their_ordering(bug: Bug) -> None:
    """Puts the columns of a late partial update over those that are there."""
    bug.edit(partial_merge._fold, "if merge(older.version, entry) is older.version:", "if False:")


@planted(breaks="LF-038")
def new_fields_of_structs_forgotten(bug: Bug) -> None:
    """Takes over the type of a struct from the table, and the fields that rows add to it are lost."""
    bug.edit(reconcile._type, 'return {**avro, "fields": _fields(fields, list(found), space, f"{path}.")}', "return avro")


@planted(breaks="LF-038")
def floats_become_doubles_bit_by_bit(bug: Bug) -> None:
    """Widens the floats of base files and logs to doubles, and their integers as texts."""
    bug.edit(promotion._rounded_float, "if pt.is_floating(array.type):", "if False:")
    bug.edit(promotion._text, "texts_of(array).cast(wanted)", "pc.cast(pc.cast(array, pa.float64()), wanted)")


@planted(breaks="LF-038")
def types_become_narrower(bug: Bug) -> None:
    """Gives a column the type that the latest rows have, whatever it was."""
    bug.edit(reconcile._type, "if promotes(wanted, found):", "if True:")
    bug.edit(rows._check_types, "if not fits(found.type, wanted) or", "if False and")


@planted(breaks="LF-038")
def missing_columns_are_null_unasked(bug: Bug) -> None:
    """Takes rows without some of the table's columns, as if these had been null."""
    bug.edit(rows._needed, 'if needs == "all":', "if False:")


@planted(breaks="META-007")
def floats_with_the_digits_of_doubles(bug: Bug) -> None:
    """Prints a float in a record key with the digits of a double."""
    bug.edit(java_text.texts_of, "if pt.is_floating(kind):", "if pt.is_float64(kind):")


@planted(breaks="META-007")
def numbers_in_keys_as_python_prints_them(bug: Bug) -> None:
    """Prints large and small numbers in keys with Python's exponents."""
    bug.edit(java_text.number_text, "number = float(digits)", "return digits")


@planted(breaks=("PROP-016", "META-009"))
def times_in_paths_without_their_unit(bug: Bug) -> None:
    """Takes every number of a time-based key generator for milliseconds."""
    bug.edit(timestamp_keygen.TimestampPaths._of_number, "UNITS[self.unit]", '(self.unit and UNITS["MILLISECONDS"])')


@planted(breaks=("PROP-016", "META-009"))
def null_times_in_the_folder_of_nulls(bug: Bug) -> None:
    """Puts rows without a time into the folder of nulls."""
    bug.edit(
        timestamp_keygen.TimestampPaths.text,
        "moment = _EPOCH if self.unit is None else self._of_number(1)",
        'return "__HIVE_DEFAULT_PARTITION__"',
    )


@planted(breaks=("PROP-016", "PROP-008"))
def every_field_of_a_custom_generator_is_simple(bug: Bug) -> None:
    """Puts the value itself into the path where a custom key generator makes a date of it."""
    bug.edit(record_keys._part, 'said == "TIMESTAMP" if kind == "CUSTOM" else', 'False if kind == "CUSTOM" else')


@planted(breaks="PROP-016")
def months_and_minutes_confused(bug: Bug) -> None:
    """Prints minutes where a pattern asks for months."""
    bug.item(joda_format.LETTERS, "M", joda_format.LETTERS["m"])


@planted(breaks="LF-038")
def the_schema_history_is_not_read(bug: Bug) -> None:
    """Matches columns by name, also where it is asked to go by the ids of the schema history."""
    bug.edit(View.reader, "if table.schema_on_read", "if False")


@planted(breaks="LF-038")
def the_past_has_no_schema_history(bug: Bug) -> None:
    """Asks the timeline of the past whether the newest file of the schema history counts: it is of a later action."""
    bug.edit(Table.view, "saved_versions(self.storage, whole)", "saved_versions(self.storage, timeline)")


@planted(breaks="LF-038")
def ids_are_those_of_now(bug: Bug) -> None:
    """Takes the names of a file by the newest version of the schema, and not by that of the time when it was written."""
    bug.edit(field_ids.SchemaHistory.at, "version <= int(instant)", "True")
