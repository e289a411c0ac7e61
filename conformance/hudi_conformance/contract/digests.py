"""Digests: the number and the sum of hashes of the rows of a query, for each value of a column.

A sum does not depend on the order of the rows, and is added up over the parts of a table. So two engines are compared on tables
whose rows fit into no single process. The hash of a row:

1. The text of each value: strings as they are, integers and decimals without exponent, `true` or `false`, dates as ISO text. A
   null is the text `\\N`. Other types have no text here.
2. The texts of all columns in their order, joined by the character U+001F.
3. The first 15 hexadecimal digits of the MD5 of its UTF-8 bytes, as a number. It shows differences; no security rests on it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import md5
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

SEPARATOR = "\x1f"
NULL = "\\N"
#: Hexadecimal digits of the MD5 that count: their numbers fit into a signed integer of 64 bits.
DIGITS = 15


@dataclass(frozen=True, order=True)
class Digest:
    """Number of rows and sum of their hashes, of the rows with one value of a column; `group` None is the null."""

    group: str | None
    rows: int
    sum: int

    @classmethod
    def from_json(cls, entry: dict[str, Any]) -> "Digest":
        """The digest in an entry of an answer."""
        return cls(entry["group"], entry["rows"], int(entry["sum"]))

    def to_json(self) -> dict[str, Any]:
        """The entry of an answer; the sum is text, because JSON readers may keep 53 bits only."""
        return {"group": self.group, "rows": self.rows, "sum": str(self.sum)}


def hash_of_row(texts: Iterable[str]) -> int:
    """The hash of a row from the texts of its values."""
    return int(md5(SEPARATOR.join(texts).encode(), usedforsecurity=False).hexdigest()[:DIGITS], 16)


def digests_of(rows: pa.Table, group_by: str) -> list[Digest]:
    """The digests of rows, sorted by group, nulls first.

    Args:
        rows: columns of strings, integers, decimals, booleans and dates.
        group_by: a column of strings.

    Raises:
        ValueError: the type of a column has no text in digests.
    """
    found: dict[str | None, tuple[int, int]] = {}
    groups = rows.column(group_by).to_pylist()
    for group, texts in zip(groups, _texts_of_rows(rows), strict=True):
        count, total = found.get(group, (0, 0))
        found[group] = count + 1, total + hash_of_row(texts)
    return sorted((Digest(group, *counted) for group, counted in found.items()), key=lambda one: (one.group or "", one.rows))


def _texts_of_rows(rows: pa.Table) -> Iterator[tuple[str, ...]]:
    """The texts of the values of each row."""
    for batch in rows.to_batches(max_chunksize=65_536):
        columns = [_texts(column, name) for name, column in zip(batch.schema.names, batch.columns, strict=True)]
        yield from zip(*columns, strict=True)


def _texts(column: pa.Array, name: str) -> list[str]:
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _texts(column.dictionary_decode(), name)
    if not (_is_text(kind) or any(test(kind) for test in _NUMBERS)):
        raise ValueError(f"column {name}: type {kind} has no text in digests")
    texts = column if _is_text(kind) else pc.cast(column, pa.string())
    return [NULL if text is None else text for text in texts.to_pylist()]


def _is_text(kind: pa.DataType) -> bool:
    return kind in (pa.string(), pa.large_string(), pa.string_view())


#: Types whose cast to text is the text of digests.
_NUMBERS = (pa.types.is_integer, pa.types.is_boolean, pa.types.is_date32, pa.types.is_decimal)
