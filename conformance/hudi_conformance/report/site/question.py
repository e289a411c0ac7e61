"""Question and right answer of a golden case, as blocks of text, code and rows."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hudi_conformance.cases.case import Case
from hudi_conformance.cases.file_cases import Variant
from hudi_conformance.cases.reads import Read
from hudi_conformance.cases.rows import Rows, format_value
from hudi_conformance.contract.messages import Query

#: Rows of an answer, questions of a case and characters of JSON that a page shows at most.
ROWS, QUESTIONS, CHARACTERS = 40, 60, 6000

#: The default values of a query, which the page does not repeat.
PLAIN = Query().to_json()


@dataclass(frozen=True)
class Block:
    """A part of an answer: a title, then text, code, or rows below columns; `omitted` counts rows that are not shown."""

    title: str
    text: str = ""
    code: str = ""
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    omitted: int = 0


def describe_question(case: Case) -> str:
    """The question of a case in one line."""
    if case.vectors is not None:
        return f"Compute {case.vectors.function} for {_counted(case.vectors.tests, 'argument list')}."
    if case.variants:
        return f"Inspect {_counted(case.variants, 'damaged copy', 'damaged copies')} of the file {case.file}."
    if case.reads:
        return f"Answer {_counted(case.reads, 'query', 'queries')} of the table."
    if case.inspects:
        looked = [f"look up the keys {', '.join(case.keys)}"] if case.keys else []
        looked += [f"list the keys that begin with {case.prefix}"] if case.prefix is not None else []
        return " and ".join([f"Inspect the {'table' if case.table else f'file {case.file}'}", *looked]) + "."
    return f"Read the table: {_query(case.query)}."


def _counted(found: Sequence[Any], one: str, several: str = "") -> str:
    return f"{len(found)} {one if len(found) == 1 else several or one + 's'}"


def _query(query: Query) -> str:
    asked = {name: value for name, value in query.to_json().items() if value != PLAIN.get(name) and name != "kind"}
    more = ", ".join(f"{name} {format_value(value)}" for name, value in asked.items())
    return f"{query.kind} query" + (f" ({more})" if more else "")


def describe_answer(case: Case) -> Iterator[Block]:
    """The right answer of a case, and the answers that are accepted too."""
    expected = case.expected
    if expected.open:
        yield Block("Open", "The specification does not decide; answers are recorded and none is a failure.")
    if expected.refused is not None:
        yield Block("Refusal", f"An engine that does not support this refuses it: {expected.refused}.")
    if expected.error is not None:
        yield Block("Error", f"An error: {expected.error}.")
    if expected.or_error:
        yield Block("Error accepted", "An error or a refusal is accepted too.")
    for number, rows in enumerate(case.rows):
        yield _rows(_title("Right rows", number), rows)
    for number, found in enumerate(case.inspection):
        yield Block(_title("Right inspection", number), code=_json(found, indent=1))
    if case.reads:
        yield from map(_read, case.reads[:QUESTIONS])
    if case.variants:
        yield _variants(case)
    if case.vectors is not None:
        yield _vectors(case)


def _title(title: str, number: int) -> str:
    return title if number == 0 else f"{title}, accepted too ({number})"


def _rows(title: str, rows: Rows, said: str = "") -> Block:
    cells = tuple(tuple(format_value(row[name]) for name in rows.types) for row in rows.rows[:ROWS])
    columns = tuple(rows.types)
    return Block(title, said or ("" if cells else "No rows."), "", columns, cells, max(0, len(rows.rows) - ROWS))


def _read(read: Read) -> Block:
    title, said = f"{read.name}: {_query(read.query)}", read.says
    if read.rows:
        return _rows(title, read.rows[0], f"{said} An error is accepted too." if read.or_error else said)
    return Block(title, f"{said} Right: an error ({read.error}).".strip())


def _variants(case: Case) -> Block:
    cells = tuple((v.name, v.says, _right(v)) for v in case.variants[:QUESTIONS])
    omitted = max(0, len(case.variants) - QUESTIONS)
    return Block("Right answer of each copy", "", "", ("copy", "change", "right"), cells, omitted)


def _right(variant: Variant) -> str:
    if variant.error:
        return f"error: {variant.error}"
    return _cut(_json(variant.inspect), 200) + (" or an error" if variant.or_error else "")


def _vectors(case: Case) -> Block:
    assert case.vectors is not None
    tests = case.vectors.tests
    cells = tuple(
        (str(v.id), v.comment, _cut(_json(v.arguments), 400), v.result if v.result == "invalid" else _cut(_json(v.value), 200))
        for v in tests[:QUESTIONS]
    )
    return Block("Right values", "", "", ("test", "comment", "arguments", "value"), cells, max(0, len(tests) - QUESTIONS))


def _json(value: Any, indent: int | None = None) -> str:
    return _cut(json.dumps(value, ensure_ascii=False, indent=indent, default=str), CHARACTERS)


def _cut(found: str, length: int) -> str:
    return found if len(found) <= length else f"{found[:length]} … ({len(found):,} characters)"
