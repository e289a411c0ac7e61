"""A result as text: rule, expected and found values, hint, and the command that repeats it."""

from collections.abc import Iterator, Sequence

from hudi_conformance.cases.rows import Row, format_value
from hudi_conformance.cases.verdict import Result
from hudi_conformance.requirements import errata
from hudi_conformance.requirements.requirement import UnknownRequirement, requirement

#: Rows shown of a difference; the report page shows all.
SHOWN = 6


def format_failure(result: Result) -> str:
    """Several lines about a result that is not the expected one."""
    flags = f"   {', '.join(result.danger).upper()}" if result.danger else ""
    lines = [f"{result.case}   {result.engine}   {result.outcome.label}{flags}"]
    lines += [f"  {name:<10}{value}" for name, value in failure_facts(result)]
    return "\n".join(lines)


def failure_facts(result: Result) -> Iterator[tuple[str, str]]:
    """The lines of the block as pairs of label and text."""
    yield from (("rule", rule_text(r)) for r in result.requirements)
    if result.description:
        yield "case", result.description
    yield from align_rows(result.pairs)
    if result.message:
        yield "message" if not result.pairs else "summary", result.message
    yield from (("detail", line) for line in result.detail.splitlines()[1 : SHOWN + 1])
    if result.cause:
        yield "hint", result.cause
    yield from (("erratum", erratum_text(e)) for e in result.errata)
    if result.surprise is not None:
        yield "list", result.surprise
    yield "repeat", result.rerun_command


def rule_text(id_: str) -> str:
    """The id and text of a requirement."""
    try:
        return f"{id_}  {requirement(id_).text}"
    except UnknownRequirement:
        return id_


def erratum_text(id_: str) -> str:
    """The id of an erratum and what deployed engines do."""
    known = {e.id: e for e in errata.errata()}.get(id_)
    return id_ if known is None else f"{id_}  {known.deployed}"


def align_rows(pairs: Sequence[tuple[Row | None, Row | None]]) -> Iterator[tuple[str, str]]:
    """Expected and found rows one below the other, values in columns of one width."""
    shown = pairs[:SHOWN]
    columns = list(dict.fromkeys(n for pair in shown for row in pair if row is not None for n in row))
    grid = [[_cells(row, columns) for row in pair] for pair in shown]
    widths = [max(len(cells[i]) for pair in grid for cells in pair if cells) for i in range(len(columns))]
    if shown:
        yield "", "  ".join(n.ljust(w) for n, w in zip(columns, _at_least(widths, columns), strict=True)).rstrip()
    for expected, found in grid:
        yield "expected", _line(expected, _at_least(widths, columns), "no such row")
        yield "found", _line(found, _at_least(widths, columns), "nothing")
    if len(pairs) > SHOWN:
        yield "", f"... and {len(pairs) - SHOWN} more"


def _cells(row: Row | None, columns: Sequence[str]) -> list[str] | None:
    return None if row is None else [format_value(row.get(n)) for n in columns]


def _at_least(widths: Sequence[int], columns: Sequence[str]) -> list[int]:
    return [max(w, len(n)) for w, n in zip(widths, columns, strict=True)]


def _line(cells: Sequence[str] | None, widths: Sequence[int], absent: str) -> str:
    if cells is None:
        return f"({absent})"
    return "  ".join(c.ljust(w) for c, w in zip(cells, widths, strict=True)).rstrip()
