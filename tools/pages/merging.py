"""`docs/merging.md`: how versions of a record are merged, from the decision tables; which properties hold, by enumeration."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from hudi_conformance.requirements import errata
from hudi_reference.layout.merge_config import MergeMode
from hudi_reference.layout.stored_merging import REPLACED_PAYLOADS
from hudi_reference.records.merge import Version, fold, merge
from hudi_reference.records.merge_tables import TABLES, Cell, Decisions, DecisionTable, Fill, Kind, Order, Result, decisions_of
from hudi_reference.records.mergers.standard_mergers import PARTIAL_UPDATE_MODES
from hudi_reference.records.payloads.tables import PAYLOAD_TABLES

_HEAD = """# Merging: which version of a record is right

<!-- Written by `python -m tools.pages` from reference/hudi_reference/records/merge_tables.py and records/payloads/tables.py;
change the tables there. -->

This page defines the result of a merge for each merge mode and payload class.

A record may have many versions: a row in a base file, rows and deletes in log files, rows in the input of a write. One
function merges an **older** and a **newer** version, for queries, writes and services. The tables below define its result.
Each cell of the first two tables is a record of a table in `fixtures/merge/truth-table.*` and a test in
`fixtures/merge/cells.*`.

## The order in which versions are merged

```mermaid
flowchart LR
    base[row of the base file] --> one((merge))
    first[entry of the first log] --> one
    one --> two((merge))
    second[entry of the second log] --> two
    two --> result[result]
```

Versions are merged from the oldest to the newest: the base row, then the log entries in the order of their blocks. Log files
are ordered by the requested time of their writes, then by version and write token (ER-021). A key without a base row starts
with its first log entry. If the result is a delete, the record has no row. The delete still takes part in the merge while its
log file belongs to the file slice: it wins over late rows. A compaction, or a write to a copy-on-write table, keeps the
resulting rows and drops the deletes.

Deployed readers merge all log entries first and then merge the result with the base row. In the two standard modes the results
differ only after a delete by key, and with a partial update mode also after late rows:

```
versions          base row 20     delete by key     row 5

one by one        (20 ⊕ delete) ⊕ 5   =   nothing ⊕ 5   =   5        the reference; a compaction changes nothing
logs first        20 ⊕ (delete ⊕ 5)   =   20 ⊕ 5        =   20       the deleted row is back (ER-051)
```

## Versions

| version | where it comes from | ordering value |
|---|---|---|
| row | base file, data block, input of a write; a row of a partial block has only some columns | its ordering fields |
| delete | delete block with an ordering value; a row with `_hoodie_is_deleted` true, with the table's delete marker, or \
with `D` or `-U` in `_hoodie_operation` | that of the entry or the row |
| delete by key | delete block with Integer 0: the operation `delete`, SQL `DELETE` | none (ER-050) |

A delete marker is defined by two properties, `hoodie.payload.delete.field` and `hoodie.payload.delete.marker`. A table with
only one of them is refused.

**Ordering values** are compared as values of the column's type: numbers numerically, regardless of their width, with NaN
above all others and -0.0 below 0.0; texts by their UTF-8 bytes; dates and timestamps by time; several fields one after the
other. A null or a missing field counts as the number 0, or as less than every text (ER-055). Values that cannot be compared
are an error.
"""

_CELLS = """\
A cell says which version is the result. *lower*, *equal* and *greater* compare the ordering value of the newer version with
that of the older one. *null before*: only the older version has a null, or no column, as ordering value; *null now*: only the
newer one; *both null*: both of them. *deleted (newer)*: the record is deleted, and the newer version is kept as the delete.
Without a condition, the result is the same for all ordering values.
"""

_WORDS = {
    Order.LOWER: "lower",
    Order.EQUAL: "equal",
    Order.GREATER: "greater",
    Order.OLDER_NULL: "null before",
    Order.NEWER_NULL: "null now",
    Order.BOTH_NULL: "both null",
    Order.INCOMPARABLE: "other types",
}
_NEWER = (Kind.ROW, Kind.DELETE, Kind.KEY_DELETE)


def merging_page() -> str:
    """The page, with a line end at its end."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield _HEAD
    yield "## Merge modes\n"
    yield _CELLS
    for name, table in TABLES.items():
        yield from _table(f"`{name}`", table)
    yield from _partial()
    yield from _version_9()
    yield "## Payload classes\n"
    yield "The merge of tables with mode `CUSTOM` and without a custom merger, by `hoodie.compaction.payload.class`."
    yield "*In one input* is the merge of two records of the same write, where it differs.\n"
    for name, table in PAYLOAD_TABLES.items():
        yield from _table(name, table)
    yield from _properties()
    yield from _errata()


def _table(title: str, table: DecisionTable) -> Iterator[str]:
    yield f"### {title}\n"
    yield f"{table.says}\n"
    yield from _matrix(decisions_of(table.stored))
    if table.batch is not None and table.batch != table.stored:
        yield "In one input:\n"
        yield from _matrix(decisions_of(table.batch))


def _matrix(decisions: Decisions) -> Iterator[str]:
    """Older versions down, newer versions across."""
    yield "| older ↓ newer → | " + " | ".join(kind.value for kind in _NEWER) + " |"
    yield "|---" * (len(_NEWER) + 1) + "|"
    for older in Kind:
        cells = [decisions.get((older, newer)) for newer in _NEWER]
        if any(cells):
            yield f"| {older.value} | " + " | ".join(_cells(found or {}) for found in cells) + " |"
    yield ""


def _cells(found: Mapping[Order | None, Cell]) -> str:
    """The outcomes of one pair of kinds, grouped by outcome; outcomes of nulls that hold everywhere are not repeated."""
    orders: dict[str, list[str]] = {}
    for order in (None, *_WORDS):
        if order in found and not _is_default(found[order], found):
            orders.setdefault(_outcome(found[order]), []).append(_WORDS.get(order, "") if order else "")
    parts = [f"{', '.join(told)}: {outcome}" if all(told) else outcome for outcome, told in orders.items()]
    notes = sorted({text for cell in found.values() for text in (cell.note, cell.erratum or "") if text})
    return "<br>".join(parts) + (f"<br>*{'; '.join(notes)}*" if notes else "")


def _is_default(cell: Cell, found: Mapping[Order | None, Cell]) -> bool:
    """Whether the cell follows the general rule: a null counts as the default value, values of other types are refused."""
    if cell.order is Order.BOTH_NULL and Order.EQUAL in found:
        return _outcome(cell) == _outcome(found[Order.EQUAL])
    return cell.result is Result.BY_DEFAULT or (cell.order is Order.INCOMPARABLE and cell.result is Result.REFUSED)


def _outcome(cell: Cell) -> str:
    if cell.result in (Result.MERGER, Result.REFUSED, Result.NOTHING):
        return str(cell.result.value)
    stays = cell.newer if cell.result is Result.NEWER else cell.older
    word = "newer" if cell.result is Result.NEWER else "older"
    fill = "" if cell.fill is Fill.NOTHING else f"; columns taken from the other version: {cell.fill.value}"
    return f"**{word}**{fill}" if stays is Kind.ROW else f"deleted ({word})"


def _partial() -> Iterator[str]:
    yield "## Partial rows\n"
    yield "A row of a partial block (header `IS_PARTIAL`) is compared with others like a whole row. If it wins, the columns"
    yield "that it lacks come from the other version, nested columns as a whole. If it loses, no column is taken from it"
    yield "(ER-067). A null in a column that it has is a value. After a delete, or without an older row, a column that no"
    yield "version has is null (ER-068, ER-069).\n"
    yield "| column in the newer row, which wins | in the older row | result |"
    yield "|---|---|---|"
    yield "| present, with any value | any | the newer value |"
    yield "| absent | present | the older value |"
    yield "| absent | absent, or there is no older row | null |"
    yield ""
    yield "Event time, base row `(ts 5, a=A, b=B)`:\n"
    yield "| log entries | result |"
    yield "|---|---|"
    for entries, left in (
        ("`(6, a=A2)`", "`(6, A2, B)`"),
        ("`(4, a=A2)`", "`(5, A, B)`"),
        ("`(6, a=A2)`, `(7, b=null)`", "`(7, A2, null)`"),
        ("`(7, a=A2)`, `(6, b=B3)`", "`(7, A2, B)`; 1.0.2 and 1.2.0: `(7, A2, B3)` (ER-067)"),
        ("delete by key, `(6, a=A2)`", "`(6, A2, null)`; deployed: `(6, A2, B)` (ER-068)"),
    ):
        yield f"| {entries} | {left} |"
    yield ""


def _version_9() -> Iterator[str]:
    """What tables of version 9 add, from the tables of the reference."""
    yield "## Tables of version 9\n"
    yield "The merge mode is mandatory and decides alone. With a partial update mode (`hoodie.table.partial.update.mode`) the"
    yield "columns of the row that wins are filled from the row that loses, whichever of the two is the newer. It does not"
    yield "apply if one of them is a delete or a partial row.\n"
    yield "| partial update mode | columns taken from the other row |"
    yield "|---|---|"
    for name, fill in PARTIAL_UPDATE_MODES.items():
        yield f"| `{name}` | {fill.value} |"
    yield "\nProperties for merging are stored with the prefix `hoodie.record.merge.property.`, such as the delete marker and"
    yield "the unavailable value. A new table stores the following instead of a payload class; other classes stay, with"
    yield "`CUSTOM`.\n"
    yield "| payload class | merge mode | partial update mode | ordering fields | merge properties |"
    yield "|---|---|---|---|---|"
    for name, stored in REPLACED_PAYLOADS.items():
        entries = "<br>".join(f"`{key}` = `{value}`" for key, value in stored.properties.items())
        cells = (name.rpartition(".")[2], f"`{stored.mode}`", stored.partial_update or "", ", ".join(stored.ordering), entries)
        yield f"| {' | '.join(cells)} |"
    yield ""


#: The versions on which the properties are checked: `d2` is a row with ordering value 2, `x2` a delete, `x0` a delete by key.
_DOMAINS = {
    "rows": ("d1", "d2", "d3"),
    "rows, deletes": ("d1", "d2", "d3", "x1", "x2", "x3"),
    "rows, deletes, deletes by key": ("d1", "d2", "x1", "x2", "x0"),
}
_MODES: tuple[tuple[MergeMode, str], ...] = (
    ("COMMIT_TIME_ORDERING", "commit time"),
    ("EVENT_TIME_ORDERING", "event time"),
)


def _properties() -> Iterator[str]:
    yield "## Properties\n"
    yield "Checked on all versions with two or three ordering values, when this page is written. `d2` is a row with ordering"
    yield "value 2, `x2` a delete with that value, `x0` a delete by key. A counter-example shows both results.\n"
    properties = "grouping", "writing the last version again", "order (different ordering values)", "a compaction in between"
    yield f"| mode | versions | {' | '.join(f'{one} changes nothing' for one in properties)} |"
    yield "|---|---|---|---|---|---|"
    for mode, name in _MODES:
        for holds, domain in _DOMAINS.items():
            tried = [check(mode, domain) for check in (_grouping, _again, _order, _compaction)]
            yield f"| {name} | {holds} | " + " | ".join(found or "yes" for found in tried) + " |"
    yield ""
    yield "Payloads that fill columns are not associative either: `(ts 1, a=p)`, `(ts 2, a=null)`, `(ts 1, a=q)` under"
    yield "PartialUpdateAvroPayload gives `p` from the left and `q` from the right, so that a compaction changes the result.\n"


def merged_result(mode: MergeMode, names: Sequence[str]) -> str:
    """The result of merging these versions, oldest first: the name of a row, or nothing."""
    found = fold(_versions(names), mode)
    return names[found.position] if found is not None and found.kind is Kind.ROW else "nothing"


def _versions(names: Sequence[str]) -> list[Version]:
    return [_version(name, place) for place, name in enumerate(names)]


def _version(name: str, place: int) -> Version:
    if name == "x0":
        return Version(Kind.KEY_DELETE, None, place)
    return Version(Kind.ROW if name[0] == "d" else Kind.DELETE, int(name[1:]), place)


def _outcome_of(found: Version, names: Sequence[str]) -> tuple[str, int]:
    """The result of a merge; rows are distinguished by their position."""
    return (names[found.position], found.position) if found.kind is Kind.ROW else ("nothing", -1)


def _grouping(mode: MergeMode, domain: Sequence[str]) -> str | None:
    for names in product(domain, repeat=3):
        a, b, c = _versions(names)
        one, other = (
            _outcome_of(merge(merge(a, b, mode), c, mode), names),
            _outcome_of(merge(a, merge(b, c, mode), mode), names),
        )
        if one != other:
            return (
                f"no: ({names[0]} ⊕ {names[1]}) ⊕ {names[2]} is {one[0]}, {names[0]} ⊕ ({names[1]} ⊕ {names[2]}) is {other[0]}"
            )
    return None


def _again(mode: MergeMode, domain: Sequence[str]) -> str | None:
    for names in product(domain, repeat=2):
        if merged_result(mode, names) != merged_result(mode, (*names, names[-1])):
            return f"no: {', '.join(names)}"
    return None


def _order(mode: MergeMode, domain: Sequence[str]) -> str | None:
    for one, other in product(domain, repeat=2):
        there, back = merged_result(mode, (one, other)), merged_result(mode, (other, one))
        if one[1:] != other[1:] and there != back:
            return f"no: {one} ⊕ {other} is {there}, {other} ⊕ {one} is {back}"
    return None


def _compaction(mode: MergeMode, domain: Sequence[str]) -> str | None:
    """Merge a base row and two log entries: all at once, and with a compaction between the two entries, which drops deletes."""
    for names in product([name for name in domain if name[0] == "d"], domain, domain):
        kept = merged_result(mode, names[:2])
        compacted = merged_result(mode, (*(() if kept == "nothing" else (kept,)), names[2]))
        if merged_result(mode, names) != compacted:
            return f"no: {', '.join(names)} is {merged_result(mode, names)}, with a compaction before the last one {compacted}"
    return None


#: Prefixes of the rules of merging.
_AREAS = ("MRG-", "PAY-", "API-", "BLK-012", "LF-046")


def _errata() -> Iterator[str]:
    yield "## Differences between text and releases\n"
    yield "| | text | releases | reference |"
    yield "|---|---|---|---|"
    for found in errata.errata():
        if any(rule.startswith(_AREAS) for rule in found.requirements):
            cells = (found.text, found.deployed, found.reference)
            yield f"| {found.id} | " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
