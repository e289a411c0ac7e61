"""Several queries of one table, each with its right answer: windows, points in time, choices of columns.

All of them together are one case, whose result names the first queries that failed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hudi_conformance.cases.rows import InvalidRow, Rows, parse_rows
from hudi_conformance.contract.messages import Query


@dataclass(frozen=True)
class Read:
    """One query and its expected answer: one of `rows`, any `error`, or either with `or_error`."""

    name: str
    query: Query
    says: str = ""
    rows: tuple[Rows, ...] = ()
    error: str | None = None
    or_error: bool = False


def parse_reads(raw: Mapping[str, Any]) -> tuple[Read, ...]:
    """The queries in `reads.json`. Raises ValueError for rows that do not have their columns."""
    declared = {column["name"]: column["type"] for column in raw["columns"]}
    return tuple(_read(entry, declared, raw.get("key", ())) for entry in raw["reads"])


def _read(entry: Mapping[str, Any], declared: Mapping[str, Any], key: Any) -> Read:
    query = Query.from_json(entry["query"])
    names = declared if query.columns is None else query.columns
    unknown = [name for name in names if name not in declared]
    if unknown and "rows" in entry:
        raise ValueError(f"{entry['name']}: no type is declared for {', '.join(unknown)}")
    types = {name: declared[name] for name in names if name in declared}
    answers = [entry["rows"], *entry.get("accept", ())] if "rows" in entry else []
    try:
        rows = tuple(parse_rows(answer, types, [name for name in key if name in types]) for answer in answers)
    except InvalidRow as error:
        raise ValueError(f"{entry['name']}: {error}") from None
    return Read(entry["name"], query, entry.get("says", ""), rows, entry.get("error"), entry.get("or_error", False))
