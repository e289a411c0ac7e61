"""Record keys and partition paths that the fields of rows give, where the key generator of the table can be followed.

Deployed writers differ in the texts of floating-point numbers, decimals and timestamps, and in the form of the key of a single
field. So only texts, whole numbers, booleans and dates are followed, bytes in keys too, and both forms of a single field are
right.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from hudi_conformance.validator.checks.finding import Check, Finding, Tally
from hudi_conformance.validator.checks.time_zones import ZONES
from hudi_conformance.validator.stored.opened import Opened
from hudi_conformance.validator.stored.table import StoredTable
from hudi_reference.errors import HudiError
from hudi_reference.files.base_file import read_base_file
from hudi_reference.layout.properties import PROPERTIES_PATH
from hudi_reference.query.file_groups import FileSlice
from hudi_reference.query.pruning.partition_columns import DROP_KEY
from hudi_reference.records.changes import KEY
from hudi_reference.records.keys.record_keys import KeyGenerator
from hudi_reference.records.keys.timestamp_keygen import PREFIX

#: Apache Hudi 1.2.0 stores that dates take three folders only by the class that reads the folders.
_EXTRACTOR, _SPLITS = "hoodie.table.partition_extractor_class", "SlashEncodedDay"
_CERTAIN = (pt.is_string, pt.is_large_string, pt.is_integer, pt.is_boolean, pt.is_date32)
_CERTAIN_IN_KEYS = (*_CERTAIN, pt.is_binary)
_CERTAIN_IN_TIMES = (pt.is_string, pt.is_large_string, pt.is_integer)


def computed_keys(opened: Opened, rows: pa.Table, stored: pa.Array) -> tuple[pa.Array, ...]:
    """The keys that the fields of the rows may give, one array for each form; nothing if they cannot be computed.

    A row whose key fields have no value has a null in each form. If all stored keys have the first form, it is the only one.
    """
    made = _generator(opened)
    if made is None or not made.fields or not _are_certain(rows, made.fields, _CERTAIN_IN_KEYS):
        return ()
    try:
        keys = _keys(made, rows)
    except HudiError:
        return ()
    if len(made.fields) > 1 or _has_one_form(opened) or keys.equals(stored):
        return (keys,)
    prefix = f"{made.fields[0]}:"
    other = (
        pc.replace_substring_regex(keys, f"^{prefix}", "") if made.composite else pc.binary_join_element_wise(prefix, keys, "")
    )
    return (keys, other)


def _keys(made: KeyGenerator, rows: pa.Table) -> pa.Array:
    """The record keys; null where no key field has a value, which the generator refuses."""
    have_keys = reduce(pc.or_, (_has_value(rows.column(field)) for field in made.fields))
    if pc.all(have_keys, min_count=0).as_py():
        return made.keys(rows)
    places = pc.subtract(pc.cumulative_sum(have_keys.cast(pa.int64())), 1)
    return made.keys(rows.filter(have_keys)).take(pc.if_else(have_keys, places, None).combine_chunks())


def _has_value(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Whether each value is neither null nor an empty text."""
    has_length = pt.is_string(column.type) or pt.is_large_string(column.type) or pt.is_binary(column.type)
    return pc.fill_null(pc.greater(pc.binary_length(column), 0), False) if has_length else pc.is_valid(column)


def are_of_the_fields(keys: pa.Array, forms: Sequence[pa.Array]) -> pa.Array:
    """Whether each of the keys has one of these forms; false where the fields give none."""
    return reduce(pc.or_, (pc.fill_null(pc.equal(keys, one), False) for one in forms))


def _has_one_form(opened: Opened) -> bool:
    """META-013: whether the generator alone decides the form of the key of a single field; an upgrade leaves the former one."""
    properties = opened.properties
    began_at_9 = properties.version == 9 and properties.get("hoodie.table.initial.version") == "9"
    return began_at_9 and properties.get(_GENERATOR) in ("SIMPLE", "COMPLEX")


def computed_paths(opened: Opened, rows: pa.Table) -> pa.Array | None:
    """The partition paths that the fields of the rows give; None if they cannot be computed."""
    made = _followed(opened, rows)
    if made is None or _has_times(made):
        return None
    try:
        return made.paths(rows)
    except HudiError:
        return None


def _followed(opened: Opened, rows: pa.Table) -> KeyGenerator | None:
    """The key generator, if it can be followed from the partition fields of these rows to their folders."""
    made, properties = _generator(opened), opened.properties
    splits = properties.splits_dates or _SPLITS in (properties.get(_EXTRACTOR) or "") or _splits_named_dates(opened)
    if made is None or not made.parts or properties.is_set(DROP_KEY) or splits:
        return None
    certain = _CERTAIN_IN_TIMES if _has_times(made) else _CERTAIN
    return made if _are_certain(rows, (field for field, _ in made.parts), certain) else None


def _has_times(made: KeyGenerator) -> bool:
    return any(times is not None for _, times in made.parts)


def strays(opened: Opened, rows: pa.Table, partition: str) -> tuple[pa.Array, list[int]] | None:
    """The partition paths that the fields of the rows give, and the rows with another one; None if they cannot be computed.

    Of times it is the first row whose path is another one in each time zone that a writer may have had.
    """
    made = _followed(opened, rows)
    if made is None:
        return None
    try:
        paths = made.paths(rows)
        found = pc.indices_nonzero(pc.not_equal(paths, partition))
        return paths, _first_in_no_zone(made, rows, partition, found) if _has_times(made) else found.to_pylist()
    except HudiError:
        return None


def _first_in_no_zone(made: KeyGenerator, rows: pa.Table, partition: str, numbers: pa.Array) -> list[int]:
    """The first of these rows for which no time zone gives the partition; nothing if each has one. Raises HudiError."""
    while len(numbers):
        first = rows.take(numbers[:1])
        zone = next((one for one in _in_zones(made) if one.paths(first)[0].as_py() == partition), None)
        if zone is None:
            break
        numbers = numbers.filter(pc.not_equal(zone.paths(rows.take(numbers)), partition))
    return numbers[:1].to_pylist()  # type: ignore[no-any-return]


def _splits_named_dates(opened: Opened) -> bool:
    """ER-275: whether folders as p=2026/07/03 show that a writer splits dates, of which then no property tells."""
    if not opened.properties.is_set("hoodie.datasource.write.hive_style_partitioning"):
        return False
    return re.fullmatch(r"[^/=]+=\d{4}/\d{2}/\d{2}", next((one.partition for one in opened.groups), "")) is not None


_GENERATOR = "hoodie.table.keygenerator.type"
_KEY_FIELDS = "hoodie.table.recordkey.fields"
#: The keys that writers make for the rows of a table without key fields: time of the write, task, and number in the task.
_MADE_KEY = r"^\d{14,17}_\d+_\d+$"


def _generator(opened: Opened) -> KeyGenerator | None:
    try:
        return KeyGenerator.from_properties(opened.properties)
    except HudiError:
        return None


def _are_certain(rows: pa.Table, fields: Iterable[str], certain: Sequence[Callable[[pa.DataType], bool]] = _CERTAIN) -> bool:
    kinds = {field.name: field.type for field in rows.schema}
    return all(name in kinds and any(is_kind(kinds[name]) for is_kind in certain) for name in fields)


def examine_partition_fields(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """PROP-008: the folders are those of the partition fields for some row at least.

    With a global index an update may leave other values in the fields (ER-167), though not in all rows of a table. So files
    are read up to the first one in which a row agrees.
    """
    opened = table.opened
    if not opened.properties.fields("hoodie.table.partition.fields"):
        return
    made = _generator(opened)
    columns = () if made is None else [field for field, _ in made.parts]
    compared, agreeing, example = 0, 0, ""
    for one in table.scope.chosen(tuple(opened.groups.latest_slices)):
        if one.base_file is None or one.missing:
            continue
        try:
            rows = read_base_file(table.storage, one.path(one.base_file), columns)
        except HudiError:
            continue  # others report it
        paths = computed_paths(opened, rows)
        if made is not None and paths is not None and len(paths):
            compared, agreeing = compared + 1, agreeing + _in_either_style(made, rows, paths, one.partition)
            example = f"{paths[0].as_py()!r} in a row below {one.partition!r}"
        if agreeing:
            break
    tally.looked("PROP-008", at=compared)
    if compared > 1 and not agreeing:
        yield Finding(
            "PROP-008", "wrong-answers", PROPERTIES_PATH,
            "Queries that filter by the partition compare values of other columns, and leave rows out.",
            f"rows in the folders of {opened.properties.get('hoodie.table.partition.fields')}", f"none; {example}",
            "set hoodie.table.partition.fields to the fields with which the table was created",
            key="hoodie.table.partition.fields",
        )  # fmt: skip


def _in_either_style(made: KeyGenerator, rows: pa.Table, paths: pa.Array, partition: str) -> int:
    """How many rows have this path, with names in folders or without: the cheap tier compares that setting with the folders."""
    try:
        others = replace(made, hive_style=not made.hive_style).paths(rows)
    except HudiError:
        others = paths
    return int(pc.sum(pc.or_(pc.equal(paths, partition), pc.equal(others, partition))).as_py())


def examine_time_formats(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """PROP-001: the folders of a key generator of times are those of some row at least, in some time zone.

    If its settings are not stored, as older releases left them out, a text that is the name of its folder is a time.
    """
    opened, made = table.opened, _generator(table.opened)
    fields = opened.properties.fields("hoodie.table.partition.fields")
    if opened.properties.get(_GENERATOR) != "TIMESTAMP" or len(fields) != 1 or opened.properties.is_set(DROP_KEY):
        return
    wrong = []
    for one in table.scope.chosen(tuple(opened.groups.latest_slices)):
        if one.base_file is None or one.missing:
            continue
        try:
            rows = read_base_file(table.storage, one.path(one.base_file), fields)
        except HudiError:
            continue  # others report it
        tally.looked("PROP-001", at=len(rows))
        values = (
            [str(value) for value in pc.unique(rows.column(fields[0])).to_pylist()] if fields[0] in rows.column_names else []
        )
        if values and (_is_plain(values, one.partition, fields[0]) if made is None else not _makes(made, rows, one.partition)):
            wrong.append(f"{values[0]!r} in the rows below {one.partition!r}")
        elif values:
            return
    if wrong:
        yield Finding(
            "PROP-001", "wrong-answers", PROPERTIES_PATH,
            "Writers refuse the rows, or compute other partition paths than the rest of the table has.",
            f"folders of times, by {_GENERATOR}=TIMESTAMP and its settings", wrong[0],
            f"set {_GENERATOR} and {PREFIX}* to the values with which the table was created", key=_GENERATOR,
        )  # fmt: skip


def _is_plain(values: Sequence[str], partition: str, field: str) -> bool:
    """Whether the folder is the text of its rows, and no time: a time has a year."""
    return set(values) == {partition.removeprefix(f"{field}=")} and re.search(r"\d{4}", partition) is None


def _makes(made: KeyGenerator, rows: pa.Table, partition: str) -> bool:
    """Whether the generator makes this path of one of the rows, in its time zone or in another, which a writer may have had."""
    distinct = rows.group_by(rows.column_names).aggregate([])
    try:
        return any(pc.any(pc.equal(each.paths(distinct), partition)).as_py() for each in _in_zones(made))
    except HudiError:
        return False


def _in_zones(made: KeyGenerator) -> Iterator[KeyGenerator]:
    """The generator in its time zone, and in each other that a writer may have had."""
    yield made
    for zone in ZONES:
        parts = ((name, times if times is None else replace(times, write_zone=zone)) for name, times in made.parts)
        yield replace(made, parts=tuple(parts))


def examine_key_fields(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """PROP-007: a table without key fields has keys that its writers made: a time with two numbers."""
    opened = table.opened
    if not table.entries or opened.properties.fields(_KEY_FIELDS) or not opened.properties.populates_meta_fields:
        return
    for one in table.scope.chosen(tuple(opened.groups.latest_slices)):
        if one.missing or (one.base_file is None and not opened.can_merge):
            continue
        path = one.path(one.base_file or one.log_files[0])
        try:
            keys = _keys_of(table, one)
        except HudiError:
            continue  # others report it
        tally.looked("PROP-007", at=len(keys))
        if given := keys.filter(pc.invert(pc.match_substring_regex(keys, _MADE_KEY))).to_pylist():
            yield Finding(
                "PROP-007", "wrong-answers", PROPERTIES_PATH,
                "Writers that take the key fields from the table refuse upserts, or insert rows again with other keys.",
                f"{_KEY_FIELDS}, because the keys are not those that writers make without it", f"none; {given[0]!r} in {path}",
                f"set {_KEY_FIELDS} to the fields with which the table was created", key=_KEY_FIELDS,
            )  # fmt: skip
            return


def _keys_of(table: StoredTable, one: FileSlice) -> pa.ChunkedArray:
    """The keys in the base file of a slice, or in its log files if it has none. Raises HudiError."""
    if one.base_file is None:
        return table.opened.reader.current_keys(one).cast(pa.string()).drop_null()
    rows = read_base_file(table.storage, one.path(one.base_file), (KEY,))
    found = rows.column(KEY) if KEY in rows.column_names else pa.chunked_array([], pa.string())
    return found.cast(pa.string()).drop_null()


KEY_FIELDS = Check("rows.key-fields", ("PROP-007",), "deep", examine_key_fields, tables="data")
PARTITION_FIELDS = Check("rows.partition-fields", ("PROP-008",), "deep", examine_partition_fields, tables="data")
TIME_FORMATS = Check("rows.time-formats", ("PROP-001",), "deep", examine_time_formats, tables="data")
