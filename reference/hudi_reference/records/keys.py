"""Record keys and partition paths of rows, spec "Record Keys", "Partitioning"."""

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from hudi_reference.errors import InvalidRows, UnsupportedKeyGenerator
from hudi_reference.java_text import texts_of
from hudi_reference.layout.partitions import partition_path
from hudi_reference.layout.properties import META_FOLDER, TableProperties
from hudi_reference.requirement import implements

#: Key generators whose keys and paths follow from the fields alone.
_PLAIN_GENERATORS = {"SIMPLE", "SIMPLE_AVRO", "COMPLEX", "COMPLEX_AVRO", "NON_PARTITION", "NON_PARTITION_AVRO"}


@implements("PROP-007", "META-007")
def record_keys(rows: pa.Table, fields: Sequence[str]) -> pa.Array:
    """The record key of each row: the value of the one key field, or `field:value` for several, joined by commas.

    Raises InvalidRows for a missing key column and for a null or empty key.
    """
    texts = [_texts(_column(rows, field, "key", "PROP-007")) for field in fields]
    if len(fields) == 1:
        _check_present(texts[0], fields[0])
        return texts[0]
    values = zip(*(text.to_pylist() for text in texts), strict=True)
    return pa.array([composite_key(fields, row) for row in values], pa.string())


@implements("PROP-007", "META-007")
def composite_key(fields: Sequence[str], values: Sequence[str | None]) -> str:
    """The record key of several fields: `field:value` joined by commas, `__null__` and `__empty__` for what has no text.

    Nothing is escaped, so a comma or colon in a value makes the key ambiguous (never two keys from one row). Raises InvalidRows
    where no field has a value.
    """
    if not any(values):
        raise InvalidRows("a row without a key", rule="META-007", expected="a value in one key field at least", found="nulls")
    marks = {None: "__null__", "": "__empty__"}
    return ",".join(f"{field}:{marks.get(value, value)}" for field, value in zip(fields, values, strict=True))


def _check_present(keys: pa.Array, field: str) -> None:
    present = pc.fill_null(pc.not_equal(keys, ""), False)
    if not pc.all(present, min_count=0).as_py():
        row = pc.index(present, False).as_py()
        raise InvalidRows(
            "a row without a key",
            rule="META-007",
            expected=f"a value in {field}",
            found=f"{keys[row].as_py()!r} in row {row}",
        )


@implements("PROP-008", "PROP-016", "META-009")
def partition_paths(rows: pa.Table, properties: TableProperties) -> pa.Array:
    """The partition path of each row; "" everywhere in an unpartitioned table.

    Raises InvalidRows for a missing partition column and for values that cannot be a folder.
    """
    fields = properties.partition_fields
    if not fields:
        return pa.repeat(pa.scalar("", pa.string()), rows.num_rows)
    check_key_generator(properties)
    hive = properties.is_set("hoodie.datasource.write.hive_style_partitioning")
    encode = properties.is_set("hoodie.datasource.write.partitionpath.urlencode")
    texts = pa.table([_texts(_column(rows, field, "partition", "PROP-008")) for field in fields], names=list(fields))
    distinct = texts.group_by(list(fields), use_threads=False).aggregate([])
    known = {row: _folder(partition_path(fields, row, hive_style=hive, url_encode=encode)) for row in _rows(distinct, fields)}
    return pa.array([known[row] for row in _rows(texts, fields)], pa.string())


def _folder(path: str) -> str:
    """The path, if a folder of the table's data can have it; raises InvalidRows."""
    steps = path.split("/")
    if "\0" in path or steps[0] == META_FOLDER or any(step in ("", ".", "..") for step in steps):
        raise InvalidRows(
            "a partition value that cannot be a folder of the table", rule="LAY-005", found=repr(path),
            expected=f"no empty, . or .. step, no NUL, not {META_FOLDER}",
        )  # fmt: skip
    return path


def _rows(table: pa.Table, fields: Sequence[str]) -> list[tuple[object, ...]]:
    return list(zip(*(table.column(field).to_pylist() for field in fields), strict=True))


def check_key_generator(properties: TableProperties) -> None:
    """Raises UnsupportedKeyGenerator where paths follow from more than the values of the fields."""
    generator = properties.get("hoodie.table.keygenerator.type")
    if generator is not None and generator not in _PLAIN_GENERATORS:
        raise UnsupportedKeyGenerator(
            f"the key generator {generator} is not supported for writing", rule="PROP-016",
            expected=", ".join(sorted(_PLAIN_GENERATORS)), found=generator,
        )  # fmt: skip


def _column(rows: pa.Table, field: str, what: str, rule: str) -> pa.ChunkedArray:
    if field not in rows.column_names:
        raise InvalidRows(
            f"the {what} column {field} is missing", rule=rule, expected=field, found=", ".join(rows.column_names)
        )
    return rows.column(field)


def _texts(column: pa.ChunkedArray) -> pa.Array:
    whole = column.combine_chunks()
    whole = pa.concat_arrays(whole.chunks) if isinstance(whole, pa.ChunkedArray) else whole
    return texts_of(whole)
