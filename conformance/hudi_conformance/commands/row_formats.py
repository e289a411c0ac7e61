"""Output formats of rows: table, jsonl, csv, arrow, parquet.

In jsonl each row is an object: columns by name, 64-bit integers as numbers, decimals, dates and timestamps as ISO text
(UTC with Z, local ones without), binary as hex, nulls explicit, NaN and the infinities as text.

Control characters are escaped in table and csv, which are for people: `\\x1b` there may stand for either. In jsonl they are
escapes of JSON, and jsonl, arrow and parquet keep every value. This does not depend on where the output goes.
"""

import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator
from datetime import time
from itertools import chain
from typing import Any, BinaryIO, Literal

import numpy as np
import pyarrow as pa
import pyarrow.types as pt
from rich.table import Table
from rich.text import Text

from hudi_conformance.cases.values import format_timestamp
from hudi_conformance.console import SafeConsole
from hudi_conformance.contract.text import make_printable

Format = Literal["table", "jsonl", "csv", "arrow", "parquet"]

#: Number of rows that are converted at a time.
BATCH = 65_536


def write_rows(parts: Iterable[pa.Table], kind: Format, into: BinaryIO) -> None:
    """Write rows to a binary stream. `parts` is at least one table of one schema; each is freed before the next is read.

    The format `table` keeps all rows in memory, because a column is as wide as its widest value.
    """
    rest = iter(parts)
    first = next(rest)
    every = chain([first], rest)
    if kind == "arrow":
        with pa.ipc.new_file(into, first.schema) as file:
            for part in every:
                file.write_table(part)
    elif kind == "parquet":
        from pyarrow import parquet

        with parquet.ParquetWriter(into, first.schema) as file:
            for part in every:
                file.write_table(part)
    elif kind == "table":
        _write_lines(_table(pa.concat_tables(every)), into)
    else:
        _write_lines(_header(first.schema) if kind == "csv" else (), into)
        for part in every:
            _write_lines(_csv(part) if kind == "csv" else _jsonl(part), into)


def _write_lines(lines: Iterable[str], into: BinaryIO) -> None:
    for line in lines:
        into.write(line.encode() + b"\n")


def _jsonl(rows: pa.Table) -> Iterator[str]:
    for row in _plain_rows(rows):
        yield make_printable(json.dumps(dict(zip(rows.column_names, row, strict=True)), ensure_ascii=False))


def _header(schema: pa.Schema) -> Iterator[str]:
    yield ",".join(map(_quoted, schema.names))


def _csv(rows: pa.Table) -> Iterator[str]:
    """CSV by RFC 4180; null is empty, an empty string is a pair of quotes, nested values are JSON."""
    for row in _plain_rows(rows):
        yield ",".join("" if v is None else _quoted(_text(v)) for v in row)


def _quoted(text: str) -> str:
    text = make_printable(text)
    if text and not any(c in text for c in ',"\n'):
        return text
    return '"' + text.replace('"', '""') + '"'


def _table(rows: pa.Table) -> Iterator[str]:
    """Columns of fixed width; numbers are right-aligned. Control characters in values are escaped."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for field in rows.schema:
        right = pt.is_integer(field.type) or pt.is_floating(field.type) or pt.is_decimal(field.type)
        table.add_column(Text(make_printable(field.name)), justify="right" if right else "left", overflow="fold")
    for row in _plain_rows(rows):
        table.add_row(*(Text("null", style="dim") if v is None else Text(make_printable(_text(v))) for v in row))
    console = SafeConsole() if sys.stdout.isatty() else SafeConsole(width=10_000)
    with console.capture() as captured:
        console.print(table)
    yield from (line.rstrip() for line in captured.get().splitlines())
    yield f"({rows.num_rows} row{'' if rows.num_rows == 1 else 's'})"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _plain_rows(rows: pa.Table) -> Iterator[tuple[Any, ...]]:
    for batch in rows.to_batches(BATCH):
        if batch.num_columns == 0:
            yield from (() for _ in range(batch.num_rows))
        yield from zip(*(_plain_column(column) for column in batch.columns), strict=True)


def _plain_column(column: pa.Array) -> list[Any]:
    kind = column.type
    if pt.is_integer(kind) or pt.is_string(kind) or pt.is_large_string(kind) or pt.is_boolean(kind):
        found: list[Any] = column.to_pylist()
        return found
    return [json_value(value) for value in column]


def json_value(value: pa.Scalar) -> Any:
    """The JSON value of an Arrow scalar, by the rules of jsonl."""
    if pt.is_dictionary(value.type):
        value = value.value
    if not value.is_valid:
        return None
    for is_kind, convert in _CONVERSIONS:
        if is_kind(value.type):
            return convert(value)
    return value.as_py()


def _float(value: pa.Scalar) -> float | str:
    """A float of 32 bits is written with its own shortest digits, not with those of the 64-bit float."""
    number = value.as_py()
    if math.isfinite(number):
        return float(str(np.float32(number))) if pt.is_float32(value.type) else number
    return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"


def _time(value: pa.Scalar) -> str:
    found: time = value.as_py()
    return found.isoformat()


def _date(value: pa.Scalar) -> str:
    return str(np.datetime64(value.value if pt.is_date32(value.type) else value.value // 86_400_000, "D"))


def _struct(value: pa.Scalar) -> dict[str, Any]:
    return {value.type.field(i).name: json_value(value[i]) for i in range(value.type.num_fields)}


def _map(value: pa.Scalar) -> Any:
    """An object if the keys are strings, as in Avro; otherwise a list of pairs."""
    entries = [(json_value(e[0]), json_value(e[1])) for e in value.values]
    return dict(entries) if all(isinstance(k, str) for k, _ in entries) else [list(e) for e in entries]


_CONVERSIONS: tuple[tuple[Callable[[pa.DataType], bool], Callable[[pa.Scalar], Any]], ...] = (
    (pt.is_floating, _float),
    (pt.is_decimal, lambda v: format(v.as_py(), "f")),
    (pt.is_timestamp, lambda v: format_timestamp(v, "" if v.type.tz is None else "Z")),
    (pt.is_date, _date),
    (pt.is_time, _time),
    (pt.is_fixed_size_binary, lambda v: v.as_py().hex()),
    (lambda t: pt.is_binary(t) or pt.is_large_binary(t) or pt.is_binary_view(t), lambda v: v.as_py().hex()),
    (pt.is_struct, _struct),
    (pt.is_map, _map),
    (lambda t: pt.is_list(t) or pt.is_large_list(t) or pt.is_fixed_size_list(t), lambda v: [json_value(i) for i in v]),
)
