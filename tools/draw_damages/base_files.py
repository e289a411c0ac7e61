"""Damages of base files: rows, columns and entries of the footer."""

import random

import pyarrow as pa
import pyarrow.parquet as pq
from tools.draw_damages.drawn import Drawn, NotPossible, paths_of

from hudi_reference.storage import MemoryStorage


def is_base_file(path: str) -> bool:
    return path.endswith(".parquet") and not path.startswith(".hoodie/") and "/.hoodie" not in path


def changed_rows(draw: random.Random, table: pa.Table) -> tuple[str, pa.Table]:
    """The rows with one row dropped or doubled, or with another value in one column; the description says which."""
    if not table.num_rows:
        raise NotPossible
    row, column = draw.randrange(table.num_rows), draw.choice(table.column_names)
    how = draw.choice(("value", "value", "value", "drop", "twice"))
    if how == "drop":
        return f"drop row {row}", pa.concat_tables([table.slice(0, row), table.slice(row + 1)])
    if how == "twice":
        return f"twice row {row}", pa.concat_tables([table, table.slice(row, 1)])
    number, of_column = table.column_names.index(column), table.schema.field(column)
    values = table.column(column).to_pylist()
    values[row] = draw.choice([*(one for one in values if one != values[row]), None])
    try:
        changed = table.set_column(number, of_column.with_nullable(True), pa.array(values, of_column.type))
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        raise NotPossible from None
    if changed.equals(table):
        raise NotPossible
    return f"value row {row}, {column}", changed


def read_parquet(data: bytes) -> pa.Table:
    """The rows and the footer's entries of a Parquet file; NotPossible if it is no such file, as after a crash."""
    try:
        return pq.read_table(pa.BufferReader(data))
    except pa.ArrowInvalid:
        raise NotPossible from None


def parquet_bytes(table: pa.Table) -> bytes:
    """A Parquet file of the rows."""
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    return bytes(sink.getvalue().to_pybytes())


def change_rows(draw: random.Random, storage: MemoryStorage) -> Drawn:
    path = draw.choice(paths_of(storage, is_base_file))
    what, changed = changed_rows(draw, read_parquet(storage.get(path)))
    storage.put(path, parquet_bytes(changed))
    return Drawn(f"row {what.partition(' ')[0]}", f"{path}: {what.partition(' ')[2]}")


def change_footer(draw: random.Random, storage: MemoryStorage) -> Drawn:
    """Remove an entry of the footer, or give it the value that another base file has."""
    path = draw.choice(paths_of(storage, is_base_file))
    table = read_parquet(storage.get(path))
    entries = dict(table.schema.metadata or {})
    if not entries:
        raise NotPossible
    key, how = draw.choice(sorted(entries)), draw.choice(("remove", "other", "other"))
    if how == "remove":
        del entries[key]
    else:
        files = (read_parquet(storage.get(one)).schema.metadata or {} for one in paths_of(storage, is_base_file))
        others = sorted({one[key] for one in files if key in one} - {entries[key]})
        if key != b"parquet.avro.schema":
            others += [b"other", b""]
        if not others:
            raise NotPossible
        entries[key] = draw.choice(others)
    storage.put(path, parquet_bytes(table.replace_schema_metadata(entries)))
    return Drawn(f"footer {how}", f"{path}: {key.decode()}")


def change_columns(draw: random.Random, storage: MemoryStorage) -> Drawn:
    """Drop, rename, cast or move a column, or exchange the names of two."""
    path = draw.choice(paths_of(storage, is_base_file))
    table = read_parquet(storage.get(path))
    column, how = draw.choice(table.column_names), draw.choice(("drop", "rename", "type", "swap", "order"))
    names, of_type = list(table.column_names), table.schema.field(column).type
    if how == "drop":
        changed = table.drop_columns([column])
    elif how == "rename":
        changed = table.rename_columns([f"{one}_" if one == column else one for one in names])
    elif how == "order":
        changed = table.select(draw.sample(names, len(names)))
    elif how == "swap":
        others = [one for one in names if one != column and table.schema.field(one).type == of_type]
        if not others:
            raise NotPossible
        other = draw.choice(others)
        changed = table.rename_columns([{column: other, other: column}.get(one, one) for one in names])
    else:
        types = (pa.string(), pa.int32(), pa.int64(), pa.float64(), pa.binary())
        try:
            cast = table.column(column).cast(draw.choice([one for one in types if one != of_type]))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise NotPossible from None
        changed = table.set_column(names.index(column), column, cast)
    storage.put(path, parquet_bytes(changed.replace_schema_metadata(table.schema.metadata)))
    return Drawn(f"column {how}", f"{path}: {column}")
