"""Comparing rows: canonical values as a multiset. Encodings and the order of rows do not matter."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from hudi_conformance.cases.schema import CaseError, check_schema, read_json
from hudi_conformance.cases.values import Type, canonical_from_arrow, canonical_from_json
from hudi_conformance.contract.text import escape_controls

Row = Mapping[str, Any]

#: Keys of rows named in a one-line summary.
NAMED = 3


@dataclass(frozen=True)
class Rows:
    """Expected rows: declared types by column in order, canonical rows, the columns that identify a row."""

    types: Mapping[str, Type]
    rows: tuple[Row, ...]
    key: tuple[str, ...] = ()

    def compare(self, found: pa.Table) -> "Differences":
        """How a table that an engine answered differs from these rows."""
        names = found.column_names
        strange = tuple(dict.fromkeys(n for n in names if n not in self.types or names.count(n) > 1))
        absent = tuple(n for n in self.types if n not in names)
        common = {n: t for n, t in self.types.items() if n not in (*absent, *strange)}
        expected = [{n: row[n] for n in common} for row in self.rows]
        key = tuple(n for n in self.key if n in common)
        return compare_rows(expected, canonical_rows(found, common), key, absent=absent, strange=strange)


def load_rows(path: Path) -> Rows:
    """The expected rows in a file of a case; raises `CaseError` naming file, row and column."""
    raw = read_json(path)
    check_schema(path, raw, "rows.json")
    types = {c["name"]: c["type"] for c in raw["columns"]}
    try:
        return parse_rows(raw["rows"], types, raw.get("key", ()))
    except InvalidRow as error:
        raise CaseError(path, f"rows.{error.number}", error.message) from None


class InvalidRow(ValueError):
    """Row `number` of a file does not have the declared columns, or a value is not of its type."""

    def __init__(self, number: int, message: str) -> None:
        super().__init__(f"row {number}: {message}")
        self.number, self.message = number, message


def parse_rows(raw: Sequence[Row], types: Mapping[str, Type], key: Sequence[str] = ()) -> Rows:
    """The rows in a file of a case. Raises NoRow."""
    rows = []
    for number, row in enumerate(raw):
        if row.keys() != types.keys():
            raise InvalidRow(number, f"has the columns {sorted(row)}, declared are {sorted(types)}")
        try:
            rows.append({n: canonical_from_json(row[n], t) for n, t in types.items()})
        except ValueError as error:
            raise InvalidRow(number, str(error)) from None
    return Rows(types, tuple(rows), tuple(key))


def canonical_rows(table: pa.Table, types: Mapping[str, Type]) -> list[dict[str, Any]]:
    """The rows of `table` with the columns of `types`, each found once, as canonical values (see `values`)."""
    columns = {n: [canonical_from_arrow(v, t) for v in table.column(n)] for n, t in types.items()}
    return [{n: columns[n][i] for n in types} for i in range(table.num_rows)]


@dataclass(frozen=True)
class Differences:
    """The differences between found and expected rows; false if there are none.

    `changed` are pairs (expected, found) of rows with one key; `missing` and `unexpected` have no partner. `absent` are
    columns that the answer lacks, `strange` are columns that were not requested, or that are there twice.
    """

    changed: tuple[tuple[Row, Row], ...] = ()
    missing: tuple[Row, ...] = ()
    unexpected: tuple[Row, ...] = ()
    absent: tuple[str, ...] = ()
    strange: tuple[str, ...] = ()
    key: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether anything differs."""
        return any((self.changed, self.missing, self.unexpected, self.absent, self.strange))

    def pairs(self) -> Iterator[tuple[Row | None, Row | None]]:
        """Expected and found rows side by side, None where there is no partner."""
        yield from self.changed
        yield from ((row, None) for row in self.missing)
        yield from ((None, row) for row in self.unexpected)

    def summary(self) -> str:
        """One line that is the same on every run: the number of each kind of difference, and the first keys."""
        parts = [
            *self._counted("changed", [e for e, _ in self.changed]),
            *self._counted("missing", self.missing),
            *self._counted("unexpected", self.unexpected),
            *([f"no column {', '.join(self.absent)}"] if self.absent else []),
            *([f"columns that were not requested: {', '.join(self.strange)}"] if self.strange else []),
        ]
        return "; ".join(parts)

    def _counted(self, word: str, rows: Sequence[Row]) -> list[str]:
        if not rows:
            return []
        named = sorted(self._name(row) for row in rows)
        more = ", ..." if len(named) > NAMED else ""
        return [f"{len(rows)} {word} ({', '.join(named[:NAMED])}{more})"]

    def _name(self, row: Row) -> str:
        return " ".join(f"{n}={format_value(row[n])}" for n in self.key or row)


def compare_rows(
    expected: Sequence[Row],
    found: Sequence[Row],
    key: Sequence[str] = (),
    *,
    absent: tuple[str, ...] = (),
    strange: tuple[str, ...] = (),
) -> Differences:
    """Compare canonical rows as multisets; rows that remain on both sides are paired by `key`.

    Without a key, the first column with distinct values in the expected rows is used, if there is one.
    """
    counted = Counter(map(_frozen, expected)), Counter(map(_frozen, found))
    missing = _thaw(counted[0] - counted[1])
    unexpected = _thaw(counted[1] - counted[0])
    key = tuple(key) or _guess_key(expected)
    changed: list[tuple[Row, Row]] = []
    if key:
        missing, unexpected, changed = _pair(missing, unexpected, key)
    return Differences(tuple(changed), tuple(missing), tuple(unexpected), absent, strange, key)


def _frozen(row: Row) -> str:
    return json.dumps(row, sort_keys=False, ensure_ascii=False)


def _thaw(rows: Counter[str]) -> list[Row]:
    return [json.loads(row) for row in rows.elements()]


def _guess_key(rows: Sequence[Row]) -> tuple[str, ...]:
    for name in rows[0] if rows else ():
        if len({format_value(row[name]) for row in rows}) == len(rows):
            return (name,)
    return ()


def _pair(
    missing: Iterable[Row], unexpected: Sequence[Row], key: tuple[str, ...]
) -> tuple[list[Row], list[Row], list[tuple[Row, Row]]]:
    """Partners by key, one to one; a second row with a key stays alone."""
    waiting: dict[str, list[Row]] = {}
    for row in unexpected:
        waiting.setdefault(_key(row, key), []).append(row)
    alone, changed = [], []
    for row in missing:
        partners = waiting.get(_key(row, key))
        if partners:
            changed.append((row, partners.pop(0)))
        else:
            alone.append(row)
    return alone, [row for rows in waiting.values() for row in rows], changed


def _key(row: Row, key: tuple[str, ...]) -> str:
    return _frozen({n: row[n] for n in key})


def format_value(value: Any) -> str:
    """A canonical value as text: null, text with control characters escaped, everything else as JSON."""
    if value is None:
        return "null"
    return escape_controls(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
