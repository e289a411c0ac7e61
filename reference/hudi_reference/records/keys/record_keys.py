"""Record keys and partition paths of rows, spec "Record Keys", "Partitioning"."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from hudi_reference.errors import InvalidRows, UnsupportedKeyGenerator
from hudi_reference.java_text import texts_of
from hudi_reference.layout.partitions import NULL_PARTITION, partition_path
from hudi_reference.layout.properties import META_FOLDER, TableProperties
from hudi_reference.layout.property_table import KEY_GENERATORS
from hudi_reference.records.keys.timestamp_keygen import OLD_PREFIX, PREFIX, TimestampPaths
from hudi_reference.requirement import implements
from hudi_reference.schema.fields import column_at

#: Types of key generators whose keys and paths follow from the fields of a row; each also exists with the suffix `_AVRO`.
GENERATORS = ("SIMPLE", "COMPLEX", "NON_PARTITION", "TIMESTAMP", "CUSTOM", "GLOBAL_DELETE")
_TYPE_OF_CLASS = {name: kind for kind, name in KEY_GENERATORS.items()}
#: From this table version on, the keys of a complex key generator always name their fields, also a single one.
COMPOSITE_VERSION = 9
#: The setting with which keys and paths have local times in the place of numbers for timestamps. No table stores it.
LOCAL_TIMES = "hoodie.datasource.write.keygenerator.consistent.logical.timestamp.enabled"
#: Folders of timestamps that a writer makes without that setting, and with it.
_NUMBER, _LOCAL_TIME = re.compile(r"-?\d+"), re.compile(r"\d+-\d\d-\d\d \d\d(?::|%3A)\d\d(?::|%3A)\d\d\.\d+")
#: The partition fields of a writer, with the types that a custom key generator gives them. A table of version 6 stores the
#: names without types, and an upgrade may leave it so.
TYPED_FIELDS = "hoodie.datasource.write.partitionpath.field"
#: Whether the key of a single field of a complex key generator is the bare value, at version 8.
NEW_ENCODING = "hoodie.write.complex.keygen.new.encoding"
#: Settings of key generators that a writer may have to be given.
_SETTINGS = (PREFIX, OLD_PREFIX, NEW_ENCODING, LOCAL_TIMES, TYPED_FIELDS)


@implements("PROP-007", "META-007")
def record_keys(rows: pa.Table, fields: Sequence[str], *, local_times: bool = False) -> pa.Array:
    """The record key of each row: the value of the one key field, or `field:value` for several, joined by commas.

    With `local_times`, timestamps have the text of their local time. Raises InvalidRows for a missing key column and for a null
    or empty key.
    """
    if len(fields) > 1:
        return _composite_keys(rows, fields, local_times=local_times)
    keys = _texts(rows, fields[0], "key", local_times=local_times)
    present = pc.fill_null(pc.not_equal(keys, ""), False)
    if not pc.all(present, min_count=0).as_py():
        row = pc.index(present, False).as_py()
        raise InvalidRows(
            "a row without a key", rule="META-007", expected=f"a value in {fields[0]}",
            found=f"{keys[row].as_py()!r} in row {row}",
        )  # fmt: skip
    return keys


def _composite_keys(rows: pa.Table, fields: Sequence[str], *, local_times: bool) -> pa.Array:
    texts = [_texts(rows, field, "key", local_times=local_times) for field in fields]
    values = zip(*(text.to_pylist() for text in texts), strict=True)
    return pa.array([composite_key(fields, row) for row in values], pa.string())


#: The values that marks in a composite key stand for.
VALUE_OF_MARK = {"__null__": None, "__empty__": ""}


@implements("PROP-007", "META-007")
def composite_key(fields: Sequence[str], values: Sequence[str | None]) -> str:
    """The record key of several fields: `field:value` joined by commas, with `__null__` and `__empty__` for values without
    text.

    Nothing is escaped, so a comma or colon in a value makes the key ambiguous. Raises InvalidRows if no field has a value.
    """
    if not any(values):
        raise InvalidRows("a row without a key", rule="META-007", expected="a value in at least one key field", found="nulls")
    marks = {None: "__null__", "": "__empty__"}
    return ",".join(f"{field}:{marks.get(value, value)}" for field, value in zip(fields, values, strict=True))


@implements("PROP-007", "PROP-008", "PROP-016")
@dataclass(frozen=True)
class KeyGenerator:
    """The key generator of a table: makes record keys and partition paths of rows.

    `parts` are the partition fields; time-based fields have the format of their paths, others None. With `composite`, the key
    of a single field has the form of a composite key.
    """

    fields: tuple[str, ...]
    parts: tuple[tuple[str, TimestampPaths | None], ...]
    composite: bool
    hive_style: bool
    url_encode: bool
    split_dates: bool
    #: Whether timestamps have the text of their local time.
    local_times: bool = False

    @classmethod
    def from_properties(cls, properties: TableProperties) -> Self:
        """The generator that a table's properties name, or the one that deployed writers choose for its fields.

        Raises UnsupportedKeyGenerator for generators whose keys do not follow from the values of the fields only.
        """
        fields, partition = properties.record_key, typed_fields(properties)
        kind = kind_of_generator(properties)
        if kind not in GENERATORS:
            raise UnsupportedKeyGenerator(
                f"the key generator {kind} is not supported for writing", rule="PROP-016",
                expected=", ".join(GENERATORS), found=kind,
            )  # fmt: skip
        return cls(
            fields,
            ()
            if kind in ("NON_PARTITION", "GLOBAL_DELETE")
            else tuple(_parse_field(*part, kind, properties) for part in partition),
            composite=len(fields) > 1 or kind == "GLOBAL_DELETE" or (kind == "COMPLEX" and _names_single_field(properties)),
            hive_style=properties.is_set("hoodie.datasource.write.hive_style_partitioning"),
            url_encode=properties.is_set("hoodie.datasource.write.partitionpath.urlencode"),
            split_dates=properties.splits_dates,
            local_times=properties.is_set(LOCAL_TIMES),  # ER-227: only a setting of the writer says so
        )

    @implements("META-007")
    def keys(self, rows: pa.Table) -> pa.Array:
        """The record key of each row. Raises InvalidRows for a missing key column and for a null or empty key."""
        make = _composite_keys if self.composite else record_keys
        return make(rows, self.fields, local_times=self.local_times)

    @implements("META-009")
    def paths(self, rows: pa.Table) -> pa.Array:
        """The partition path of each row; "" in an unpartitioned table.

        Raises InvalidRows for a missing partition column and for values that cannot be the name of a folder.
        """
        if not self.parts:
            return pa.repeat(pa.scalar("", pa.string()), rows.num_rows)
        fields = [field for field, _ in self.parts]
        texts = pa.table([self._folder_names(rows, field, times) for field, times in self.parts], names=fields)
        numbers, distinct = _number_distinct_values(texts)
        known = [_folder(self._path(fields, row)) for row in _rows(distinct, fields)]
        return pa.array(known, pa.string()).take(numbers)

    @implements("META-009")
    def check_paths(self, paths: Iterable[str], columns: pa.Schema) -> None:
        """Check that the partitions of the table have the form that this generator gives the values of timestamp columns.

        A row would be stored a second time in another folder. Raises UnsupportedKeyGenerator.
        """
        # ER-231: Spark SQL stores local times without fractions, in a zone that no table stores.
        empty = columns.empty_table()
        levels = [(place, field) for place, (field, times) in enumerate(self.parts) if times is None]
        moments = [place for place, field in levels if pt.is_timestamp(_column(empty, field, "partition").type)]
        form = _LOCAL_TIME if self.local_times else _NUMBER
        for path in paths if moments else ():
            names = [level.partition("=")[2] if self.hive_style else level for level in path.split("/")]
            for name in (names[place] for place in moments if len(names) == len(self.parts)):
                if name != NULL_PARTITION and not form.fullmatch(name):
                    raise UnsupportedKeyGenerator(
                        "other writers of the table have another text for timestamps in partition paths", rule="META-009",
                        path=path, found=name, expected="a local time with a fraction" if self.local_times else "a number",
                        remedy=f"write with the engine of the others, such as Spark SQL, or set {LOCAL_TIMES} as they do",
                    )  # fmt: skip

    @implements("META-007", "PROP-017")
    def check_keys(self, rows: pa.Table, stored: pa.ChunkedArray) -> None:
        """Check that the stored keys of rows with one key field do not have the other form of a single field.

        A row would be stored a second time under its other key. Raises UnsupportedKeyGenerator.
        """
        # ER-276: at version 8 a setting of the writer decides, whose default differs between releases.
        made = self.keys(rows)
        others = replace(self, composite=not self.composite).keys(rows)
        differs = pc.and_(pc.equal(stored, others), pc.not_equal(stored, made))
        if pc.any(differs).as_py():
            place = pc.index(differs, True).as_py()
            raise UnsupportedKeyGenerator(
                "other writers of the table make keys of another form", rule="META-007",
                expected=made[place].as_py(), found=stored[place].as_py(),
                remedy=f"set {NEW_ENCODING} as the other writers do, or write the rows to a new table",
            )  # fmt: skip

    def _folder_names(self, rows: pa.Table, field: str, times: TimestampPaths | None) -> pa.Array:
        if times is None:
            return _texts(rows, field, "partition", local_times=self.local_times)
        return times.texts(_column(rows, field, "partition"), as_moments=self.local_times)

    def _path(self, fields: Sequence[str], row: tuple[object, ...]) -> str:
        return partition_path(fields, row, hive_style=self.hive_style, url_encode=self.url_encode, split_dates=self.split_dates)


@implements("META-013")
def _names_single_field(properties: TableProperties) -> bool:
    """Whether a complex key generator with one key field makes keys as of several: at version 8 a setting says so."""
    option = properties.entries.get(NEW_ENCODING)
    return properties.version >= COMPOSITE_VERSION or option == "false"


@implements("PROP-016")
def kind_of_generator(properties: TableProperties) -> str:
    """The type of the table's key generator; without one, the type that deployed writers choose for its fields."""
    class_name = properties.get("hoodie.table.keygenerator.class")
    kind = _TYPE_OF_CLASS.get(class_name, class_name) if class_name else properties.get("hoodie.table.keygenerator.type")
    if kind is not None:
        return kind.removesuffix("_AVRO")
    partition = typed_fields(properties)
    if not partition:
        return "NON_PARTITION"
    if partition[0][1]:
        return "CUSTOM"
    return "SIMPLE" if len(partition) == 1 and len(properties.record_key) < 2 else "COMPLEX"


def typed_fields(properties: TableProperties) -> tuple[tuple[str, str], ...]:
    """The partition fields with the types that a custom key generator gives them, in capitals; "" without a type.

    If the table stores no types, those of the writer count, provided that it names the same fields.
    """
    stored, given = (_split_types(properties.get(name) or "") for name in ("hoodie.table.partition.fields", TYPED_FIELDS))
    has_types = any(kind for _, kind in stored)
    return stored if has_types or [field for field, _ in stored] != [field for field, _ in given] else given


def _split_types(listed: str) -> tuple[tuple[str, str], ...]:
    split = (part.strip().partition(":") for part in listed.split(",") if part.strip())
    return tuple((field, kind.upper()) for field, _, kind in split)


def with_settings(properties: TableProperties, options: Mapping[str, str]) -> TableProperties:
    """The properties, with those settings of the writer that configure key generators and are not table properties.

    A table with a custom key generator does not store the format of its time-based paths, and one of version 6 not the types of
    its fields, so each writer has to be given them.
    """
    mine = {key: value for key, value in options.items() if key.startswith(_SETTINGS)}
    return TableProperties({**mine, **properties.entries}) if mine else properties


def _parse_field(field: str, said: str, kind: str, properties: TableProperties) -> tuple[str, TimestampPaths | None]:
    if kind == "CUSTOM" and said not in ("SIMPLE", "TIMESTAMP"):
        raise UnsupportedKeyGenerator(
            "a partition field of a custom key generator without its type", rule="PROP-008", found=f"{field}:{said}",
            expected=f"{field}:SIMPLE or {field}:TIMESTAMP", path="hoodie.table.partition.fields",
            remedy=f"set {TYPED_FIELDS} as the other writers of the table do, with a type for each field",
        )  # fmt: skip
    is_time = said == "TIMESTAMP" if kind == "CUSTOM" else kind == "TIMESTAMP"
    return field, TimestampPaths.from_settings(properties.entries) if is_time else None


def _folder(path: str) -> str:
    """The path, if it can be a folder of the table. Raises InvalidRows."""
    steps = path.split("/")
    if "\0" in path or steps[0] == META_FOLDER or any(step in ("", ".", "..") for step in steps):
        raise InvalidRows(
            "a partition value that cannot be a folder of the table", rule="LAY-005", found=repr(path),
            expected=f"no empty, . or .. step, no NUL, not {META_FOLDER}",
        )  # fmt: skip
    return path


def _number_distinct_values(texts: pa.Table) -> tuple[pa.Array, pa.Table]:
    """For each row the number of its value, and the distinct values."""
    code = np.zeros(texts.num_rows, np.int64)
    for column in texts.columns:
        values = column.combine_chunks().dictionary_encode(null_encoding="encode")
        pairs = pa.array(code * len(values.dictionary) + values.indices.to_numpy())
        code = pairs.dictionary_encode().indices.to_numpy()
    first = np.empty(code.max(initial=-1) + 1, np.int64)
    first[code[::-1]] = np.arange(len(code))[::-1]  # of equal indexes the last one counts
    return pa.array(code), texts.take(first)


def _rows(table: pa.Table, fields: Sequence[str]) -> list[tuple[object, ...]]:
    return list(zip(*(table.column(field).to_pylist() for field in fields), strict=True))


#: The rules of the columns of keys and partitions.
_RULES = {"key": "PROP-007", "partition": "PROP-008"}


def _texts(rows: pa.Table, field: str, what: Literal["key", "partition"], *, local_times: bool) -> pa.Array:
    """The texts of a column. Raises InvalidRows."""
    try:
        return texts_of(_column(rows, field, what), local_times=local_times)
    except ValueError as error:
        raise InvalidRows(f"a time in the {what} column {field}", rule=_RULES[what], found=str(error),
                          expected="a time that Java and the Gregorian calendar give one text") from error  # fmt: skip


def _column(rows: pa.Table, field: str, what: Literal["key", "partition"]) -> pa.Array:
    """A column in one chunk; `a.b` is field b of struct a. Raises InvalidRows."""
    column, rule = column_at(rows, field), _RULES[what]  # ER-146: a key or ordering field may be inside of a struct.
    if column is None:
        raise InvalidRows(
            f"the {what} column {field} is missing", rule=rule, expected=field, found=", ".join(rows.column_names)
        )
    whole = column.combine_chunks()
    return pa.concat_arrays(whole.chunks) if isinstance(whole, pa.ChunkedArray) else whole
