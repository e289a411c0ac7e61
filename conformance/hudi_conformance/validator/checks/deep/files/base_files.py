"""Base files: their rows against name, folder, footer and timeline.

Number of rows and schema in the footer are compared by the cheap tier.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from hudi_conformance.validator.checks.deep.files.key_generation import are_of_the_fields, computed_keys, strays
from hudi_conformance.validator.checks.finding import STRAYS, Finding, Severity, Tally
from hudi_conformance.validator.stored.opened import Opened
from hudi_reference.caching import cached_property
from hudi_reference.errors import HudiError, MalformedBaseFile
from hudi_reference.files.base.footer import BaseFileFooter
from hudi_reference.files.base_file import read_base_file, read_footer
from hudi_reference.layout.metadata_settings import USABLE
from hudi_reference.layout.names import BaseFileName, parse_data_file_name, split_path
from hudi_reference.metadata.definitions import is_partitioned
from hudi_reference.metadata.partitions import BuiltIn
from hudi_reference.query.file_groups import FileSlice
from hudi_reference.records.changes import KEY
from hudi_reference.schema.avro import META_COLUMNS

COMMIT_TIME, PATH, FILE_NAME = "_hoodie_commit_time", "_hoodie_partition_path", "_hoodie_file_name"
SEQUENCE = "_hoodie_commit_seqno"
#: Operations that store rows without looking their keys up.
INSERTS = ("INSERT", "BULK_INSERT", "INSERT_OVERWRITE", "INSERT_OVERWRITE_TABLE")
NOT_UNIQUE = "Queries of the number return a wrong one, and consumers that identify changes by it take two rows for one."
#: A sequence number: time, task, and number in the task.
_NUMBER, _TIME_AND_TASK = re.compile("[0-9]+_[0-9]+_[0-9]+"), re.compile("[0-9]+_[0-9]+_")
REWRITE = "restore the file from another copy of the table, or restore the table to a savepoint before the file was written"


@dataclass(frozen=True)
class BaseFile:
    """A base file with all its rows. `keys` are the record keys, also those of a table that does not store them."""

    path: str
    instant: str
    rows: pa.Table
    keys: pa.Array
    footer: BaseFileFooter

    @property
    def partition(self) -> str:
        """The partition path of its folder."""
        return split_path(self.path)[0]

    @property
    def name(self) -> str:
        """Its name."""
        return split_path(self.path)[1]

    @cached_property
    def has_unique_keys(self) -> bool:
        """Whether each row has a key, and no two rows have the same."""
        return not self.keys.null_count and len(pc.unique(self.keys)) == len(self.keys)

    def finding(
        self, rule: str, severity: Severity, meaning: str, expected: str, found: str, key: str | None = None
    ) -> Finding:
        """A finding in this file."""
        return Finding(rule, severity, self.path, meaning, expected, found, REWRITE, key)


def load_base_file(opened: Opened, found: FileSlice) -> BaseFile | None:
    """The base file of a slice; None without one, or without a footer, which others report. Raises what reading raises."""
    if found.base_file is None or found.base_file in found.missing:
        return None
    path, storage = found.path(found.base_file), opened.storage
    try:
        footer = read_footer(storage, path)
    except MalformedBaseFile:
        return None
    rows = with_unfilled_nulls(opened, read_base_file(storage, path))
    return BaseFile(path, found.base_file_instant, rows, keys_of_rows(opened, rows), footer)


def with_unfilled_nulls(opened: Opened, rows: pa.Table) -> pa.Table:
    """Nulls for empty texts in meta columns of a table that does not fill them (META-012): deployed writers store either."""
    if opened.properties.populates_meta_fields:
        return rows
    for number, name in enumerate(rows.column_names):
        if name in META_COLUMNS:
            texts = rows.column(name).cast(pa.string())
            rows = rows.set_column(number, name, pc.if_else(pc.equal(texts, ""), pa.scalar(None, pa.string()), texts))
    return rows


def keys_of_rows(opened: Opened, rows: pa.Table) -> pa.Array:
    """The stored record keys, or those that the key fields give in a table without meta columns; null where there is none."""
    if opened.reader.key_fields and KEY in rows.column_names:
        try:
            rows = opened.reader.keyed(rows)
        except HudiError:
            return pa.nulls(rows.num_rows, pa.string())
    if KEY not in rows.column_names:
        return pa.nulls(rows.num_rows, pa.string())
    return pa.concat_arrays(rows.column(KEY).cast(pa.string()).chunks or [pa.array([], pa.string())])


def where(mask: pa.Array | pa.ChunkedArray, *, absent: bool = False) -> list[int]:
    """The rows for which the condition holds; where it is null, `absent` decides."""
    found: list[int] = pc.indices_nonzero(pc.fill_null(mask, absent)).to_pylist()
    return found


def are_between(texts: pa.Array | pa.ChunkedArray, least: str, greatest: str) -> bool:
    """Whether no text is less or greater, which takes half the time of finding the least and the greatest of them."""
    return not pc.any(pc.or_(pc.less(texts, least), pc.greater(texts, greatest)), min_count=0).as_py()


def described(values: pa.Array | pa.ChunkedArray, rows: list[int]) -> str:
    """The first of these values, with the number of the others."""
    first = repr(values[rows[0]].as_py())
    return f"{first} in row {rows[0]}" + (f", and others in {len(rows) - 1} more rows" if len(rows) > 1 else "")


def key_at(file: BaseFile, rows: list[int]) -> str | None:
    """The record key of the first of these rows."""
    found: str | None = file.keys[rows[0]].as_py()
    return found


def meta_columns_exist(opened: Opened, file: BaseFile, tally: Tally) -> Iterator[Finding]:
    """META-001."""
    tally.looked("META-001")
    lacking = [name for name in META_COLUMNS if name not in file.rows.column_names]
    if lacking and opened.properties.populates_meta_fields:
        yield file.finding(
            "META-001", "wrong-answers", "Queries cannot tell the keys and the times of these rows.",
            ", ".join(META_COLUMNS), f"no {', '.join(lacking)}",
        )  # fmt: skip


def rows_have_keys(opened: Opened, file: BaseFile, tally: Tally) -> Iterator[Finding]:
    """META-007: each row has a record key."""
    if KEY not in file.rows.column_names or not (opened.properties.populates_meta_fields or opened.reader.key_fields):
        return
    tally.looked("META-007", at=len(file.keys))
    if rows := where(pc.equal(file.keys, ""), absent=True):
        yield file.finding(
            "META-007", "wrong-answers", "The rows cannot be updated or deleted by their keys.", "a record key in each row",
            described(file.keys, rows),
        )  # fmt: skip


def keys_are_those_of_the_fields(opened: Opened, file: BaseFile, tally: Tally) -> Iterator[Finding]:
    """META-007: the stored key is that of the key fields, where the key generator can be followed."""
    forms = computed_keys(opened, file.rows, file.keys) if opened.properties.populates_meta_fields else ()
    if not forms or file.keys.null_count:
        return
    tally.looked("META-007", at=len(file.keys))
    if rows := where(pc.invert(are_of_the_fields(file.keys, forms))):
        yield file.finding(
            "META-007", "wrong-answers", "A query by the key fields and a write by the record key find different rows.",
            f"the key of the fields, {forms[0][rows[0]].as_py()!r}", described(file.keys, rows), key_at(file, rows),
        )  # fmt: skip


def rows_are_in_their_partition(opened: Opened, file: BaseFile, tally: Tally) -> Iterator[Finding]:
    """META-009 and META-011: all rows have the partition path of the folder."""
    if PATH not in file.rows.column_names:
        return
    tally.looked("META-009", "META-011", at=file.rows.num_rows)
    paths = file.rows.column(PATH).cast(pa.string())
    if rows := where(pc.not_equal(paths, file.partition), absent=opened.properties.populates_meta_fields):
        yield file.finding(
            "META-009", "wrong-answers", "A query of that partition does not return the rows, a query of this one does.",
            repr(file.partition), described(paths, rows), key_at(file, rows),
        )  # fmt: skip


def paths_are_those_of_the_fields(opened: Opened, file: BaseFile, tally: Tally) -> Iterator[Finding]:
    """LAY-018: the folder is the partition of the rows' fields."""
    found = strays(opened, file.rows, file.partition)
    if found is None:
        return
    tally.looked("LAY-018", at=file.rows.num_rows)
    paths, rows = found
    if rows:
        is_filled = opened.properties.populates_meta_fields and COMMIT_TIME in file.rows.column_names
        times = file.rows.column(COMMIT_TIME).to_pylist() if is_filled else ()
        yield file.finding(
            "LAY-018", severity_of_strays(opened, {times[row] for row in rows} if times else None), STRAYS,
            repr(file.partition), described(paths, rows), key_at(file, rows),
        )  # fmt: skip


def severity_of_strays(opened: Opened, times: Iterable[str | None] | None) -> Severity:
    """How bad it is that rows of these writes have the partition fields of another folder; None for unknown writes.

    ER-167: with a global record index an update may leave such values in the fields, and readers do not look for them by the
    folder. An insert does not, nor does an index of a partition. In other tables a filter on the column misses the rows.
    """
    is_global = BuiltIn.RECORD_INDEX in opened.properties.fields(USABLE) and not is_partitioned(
        opened.definitions.get(BuiltIn.RECORD_INDEX)
    )
    may_be_updates = times is not None and not any(opened.operations.get(time or "") in INSERTS for time in times)
    return "cosmetic" if is_global and may_be_updates else "wrong-answers"


def rows_name_their_file(opened: Opened, file: BaseFile, tally: Tally) -> Iterator[Finding]:
    """META-010: the file name is that of the file."""
    if FILE_NAME not in file.rows.column_names:
        return
    tally.looked("META-010", at=file.rows.num_rows)
    names = file.rows.column(FILE_NAME).cast(pa.string())
    if rows := where(pc.not_equal(names, file.name), absent=opened.properties.populates_meta_fields):
        is_filled = opened.properties.populates_meta_fields  # otherwise a clustering copies the names, and readers ignore them
        foreign = [row for row in rows if is_filled and _is_of_another_file(names[row].as_py(), file.name)]
        meaning = "A query that selects the file name returns a wrong one."
        if foreign:
            meaning = "Readers refuse the file: its rows are those of another file group or write."
        yield file.finding(
            "META-010", "wrong-answers" if foreign else "cosmetic", meaning, repr(file.name), described(names, foreign or rows),
            key_at(file, foreign or rows),
        )  # fmt: skip


def _is_of_another_file(name: str | None, own: str) -> bool:
    """Whether a row names a base file of another file group or write; the write token may be that of another attempt."""
    found, known = parse_data_file_name(name or ""), parse_data_file_name(own)
    return (
        isinstance(found, BaseFileName)
        and isinstance(known, BaseFileName)
        and (found.file_id, found.instant) != (known.file_id, known.instant)
    )


def rows_are_of_completed_writes(opened: Opened, file: BaseFile, tally: Tally) -> Iterator[Finding]:
    """META-003: each row is of a write that completed, not of one after the write of the file."""
    if COMMIT_TIME not in file.rows.column_names:
        return
    times = file.rows.column(COMMIT_TIME).cast(pa.string())
    tally.looked("META-003", at=len(times))
    unknown = [time for time in pc.unique(times).drop_null().to_pylist() if not is_write(opened, time, file.instant)]
    absent = opened.properties.populates_meta_fields
    if rows := where(pc.is_in(times, pa.array(unknown, pa.string())) if unknown else pc.and_kleene(times.is_null(), absent)):
        yield file.finding(
            "META-003", "wrong-answers", "Incremental queries miss these rows, or return them at a wrong time.",
            f"the requested time of a completed write, up to {file.instant}", described(times, rows), key_at(file, rows),
        )  # fmt: skip


def sequence_numbers_are_unique(opened: Opened, file: BaseFile, tally: Tally) -> Iterator[Finding]:
    """META-005: no two rows of one write have the same sequence number."""
    if SEQUENCE not in file.rows.column_names or COMMIT_TIME not in file.rows.column_names:
        return
    numbers = file.rows.column(SEQUENCE).cast(pa.string())
    tally.looked("META-005", at=len(numbers))
    if wrong := malformed_numbers(numbers, absent=opened.properties.populates_meta_fields):
        yield file.finding(
            "META-005", "wrong-answers", NOT_UNIQUE, "time_task_number", described(numbers, wrong), key_at(file, wrong)
        )
    if len(pc.unique(numbers).drop_null()) == len(numbers) - numbers.null_count:
        return
    both = pa.table({"time": file.rows.column(COMMIT_TIME).cast(pa.string()), "number": numbers})
    counted = both.filter(numbers.is_valid()).group_by(["time", "number"]).aggregate([([], "count_all")])
    twice = counted.filter(pc.greater(counted.column("count_all"), 1))
    if len(twice):
        number = twice.column("number")[0].as_py()
        rows = where(pc.equal(numbers, number))
        yield file.finding(
            "META-005", "wrong-answers", NOT_UNIQUE,
            "one row for each sequence number", f"{number!r} in rows {rows[0]} and {rows[1]}", key_at(file, rows),
        )  # fmt: skip


def malformed_numbers(numbers: pa.ChunkedArray, *, absent: bool = False) -> list[int]:
    """The rows whose sequence number is not made of three numbers, as all writers make it; `absent` decides about nulls.

    Many rows share time and task, so that few of these are matched.
    """
    heads = pc.ascii_rtrim(numbers, "0123456789")
    wrong = [head for head in pc.unique(heads).drop_null().to_pylist() if not _TIME_AND_TASK.fullmatch(head)]
    lack_digits = pc.equal(pc.binary_length(heads), pc.binary_length(numbers))
    return where(pc.or_(lack_digits, pc.is_in(heads, pa.array(wrong, pa.string()))) if wrong else lack_digits, absent=absent)


def sequence_numbers_have_the_commit_time(opened: Opened, file: BaseFile, tally: Tally) -> Iterator[Finding]:
    """META-003: a sequence number begins with the time of the write that gave it, which is the commit time of the row.

    Writers set or copy both columns together, so that a row in which they differ has lost one of the two values.
    """
    if not {SEQUENCE, COMMIT_TIME} <= set(file.rows.column_names):
        return
    tally.looked("META-003", at=file.rows.num_rows)
    for rule, meaning, expected, found, rows in differing_times(opened, file.rows):
        yield file.finding(rule, "wrong-answers", meaning, expected, found, key_at(file, rows))


def _begin_with(numbers: pa.ChunkedArray, times: pa.ChunkedArray) -> pa.ChunkedArray:
    """Whether each number begins with the time of its row and a low line; null where either is null."""
    lengths = pc.unique(pc.binary_length(times)).drop_null().to_pylist()
    if len(lengths) > 1:  # releases before 0.10 had times of 14 digits
        return pa.chunked_array([pa.array([
            None if number is None or time is None else number.startswith(f"{time}_")
            for number, time in zip(numbers.to_pylist(), times.to_pylist(), strict=True)
        ], pa.bool_())])  # fmt: skip
    end = lengths[0] if lengths else 0
    numbers, times = numbers.cast(pa.binary()), times.cast(pa.binary())  # faster to cut than texts
    return pc.and_(pc.equal(pc.binary_slice(numbers, 0, end), times), pc.equal(pc.binary_slice(numbers, end, end + 1), b"_"))


def _is_of_log_compaction(opened: Opened, time: str) -> bool:
    """ER-198: rows of a log compaction of Apache Hudi 1.2.0 have its time. Of archived actions the operation is not known."""
    is_archived = time in (opened.archived or ()) and time not in opened.operations
    return opened.operations.get(time) == "LOG_COMPACT" or (is_archived and opened.properties.is_merge_on_read)


def differing_times(opened: Opened, rows: pa.Table) -> Iterator[tuple[str, str, str, str, list[int]]]:
    """The rows whose sequence number is of another write than the commit time: rule, meaning, expected, found, and the rows.

    A number of a write that the table does not know is the value that is wrong; otherwise either of the two may be.
    """
    times, numbers = (rows.column(name).cast(pa.string()) for name in (COMMIT_TIME, SEQUENCE))
    unlike = [
        row for row in where(pc.invert(_begin_with(numbers, times)))
        if _NUMBER.fullmatch(numbers[row].as_py()) and not _is_of_log_compaction(opened, times[row].as_py())
    ]  # fmt: skip
    givers = {row: numbers[row].as_py().partition("_")[0] for row in unlike}
    known = [row for row in unlike if opened.has_completed(givers[row])]
    if unknown := sorted(set(unlike) - set(known)):
        yield "META-005", NOT_UNIQUE, f"a number of the write {times[unknown[0]].as_py()}", described(numbers, unknown), unknown
    if known:
        meaning = "Incremental queries miss these rows, or return them at a wrong time."
        expected = f"the write that gave the sequence number, {givers[known[0]]}"
        yield "META-003", meaning, expected, described(times, known), known


def is_write(opened: Opened, time: str, last: str) -> bool:
    """Whether a row that the write of time `last` stored may have that commit time."""
    return time <= last and (time == last or opened.has_completed(time))


def footer_has_the_range(opened: Opened, file: BaseFile, tally: Tally) -> Iterator[Finding]:
    """IDX-004: least and greatest key in the footer contain all keys; writers leave out files by them.

    Java orders texts by UTF-16 units; keys for which that matters are not judged.
    """
    least, greatest = file.footer.min_key, file.footer.max_key
    if least is None or greatest is None or not len(file.keys) or file.keys.null_count:
        return
    tally.looked("IDX-004", at=len(file.keys))
    if are_between(file.keys, least, greatest):
        return
    ends = pc.min_max(file.keys)
    first, last = ends["min"].as_py(), ends["max"].as_py()
    if max(first + last + least + greatest, default="") < "\ud800" and not least <= first <= last <= greatest:
        yield file.finding(
            "IDX-004", "wrong-answers", "An upsert does not find keys outside the range and inserts them again.",
            f"a range that contains {first!r} to {last!r}", f"{least!r} to {greatest!r}",
            first if first < least else last,
        )  # fmt: skip


def footer_filter_has_the_keys(opened: Opened, file: BaseFile, tally: Tally) -> Iterator[Finding]:
    """IDX-004: the bloom filter in the footer holds each key. Raises the errors of a malformed filter."""
    found = file.footer.bloom_filter()
    keys = file.keys.filter(pc.not_equal(file.keys, ""))
    if found is None or not len(keys):
        return
    tally.looked("IDX-004", at=len(keys))
    if rows := where(pc.invert(pa.array(found.may_hold(keys)))):
        yield file.finding(
            "IDX-004", "wrong-answers", "An upsert with a bloom index does not find these keys and inserts them again.",
            "a filter that holds each key of the file", f"no {described(keys, rows)}", keys[rows[0]].as_py(),
        )  # fmt: skip


#: What is checked in each base file.
BASE_FILE_CHECKS: tuple[Callable[[Opened, BaseFile, Tally], Iterator[Finding]], ...] = (
    meta_columns_exist, rows_have_keys, keys_are_those_of_the_fields, rows_are_in_their_partition,
    paths_are_those_of_the_fields, rows_name_their_file, rows_are_of_completed_writes,
    sequence_numbers_are_unique, sequence_numbers_have_the_commit_time, footer_has_the_range,
    footer_filter_has_the_keys,
)  # fmt: skip
RULES = ("META-001", "META-003", "META-005", "META-007", "META-009", "META-010", "META-011", "LAY-018", "IDX-004")
