"""The deep checks on the golden tables: no finding but those that are true.

The tables of Apache Hudi and of the reference that a reader must answer are sound, except for the states below.
"""

import json
from pathlib import Path

import pytest

from hudi_conformance.validator.all_checks import DEEP
from hudi_conformance.validator.checks.finding import UNSOUND
from hudi_conformance.validator.stored.table import load_table
from hudi_conformance.validator.validation import Validation, validate

pytestmark = pytest.mark.long

FIXTURES = Path(__file__).parents[3] / "fixtures"
#: The states of golden tables that make queries wrong, by the beginning of the case's id: the rules, and why it is true.
TRUE_FINDINGS = {
    "log.blocks.of-a-pending-instant-in-a-committed-file": ("LF-035", "a block of a write that has not completed"),
    "log.blocks.of-an-unknown-instant-in-a-committed-file": ("LF-035", "a block of a write that never was"),
    "log.joined": ("LCP-005", "compacted blocks have other rows than their inputs, to show which of them are read"),
    "log.partial.joined": ("LCP-005", "compacted blocks have other rows than their inputs, to show which of them are read"),
    "log.slices.keys-as-stored": ("META-007", "the key column is written differently"),
    "log.left-over.cut-block-before-a-whole-one": ("BLK-015", "open whether readers skip a cut block of a completed write"),
    "merge.open.ordering-values-of-two-types": ("MRG-028", "open how they are merged; the reference refuses them"),
    "log.positions.behind-the-last-row": ("LF-042", "a position after the last row"),
    "log.positions.fewer-than-records": ("LF-042", "fewer positions than records"),
    "log.positions.more-than-records": ("LF-042", "more positions than records"),
    "log.rollback-command": ("BLK-004", "a rollback of a write that completed"),
    "log.slices.a-delete-completed-before-a-compaction": (
        "CMP-006",
        "merged in the order of completion times; the readers here follow the order of requested times, as deployed",
    ),
    "log.appended.by-two-archived-actions": (
        "LF-035",
        "the history lacks the metadata of the second write, so that only the file name says which one wrote the block",
    ),
    "queries.version-9.two-secondary-indexes.mor": (
        "IDX-024",
        "updates reached the first of two indexes only, as deployed (ER-182)",
    ),
    "queries.version-9.key-written-again": ("IDX-010", "no entry of a key that was deleted and written again (ER-202)"),
    "queries.skipping.late-delete-of-a-key": ("IDX-010", "no entry of a key that a late delete left (ER-207)"),
    "queries.version-9.secondary-index-by-the": ("IDX-024", "no entries of the write that created the index (ER-208)"),
    "queries.version-9.statistics-of-other-columns": (
        "MDT-001 MDT-010",
        "statistics of a file and its partition without some columns (ER-209)",
    ),
    "queries.skipping.values-without-bounds": ("MDT-010", "bounds 0.0 to 0.0 of a column with a NaN, as deployed (ER-164)"),
}


def golden_tables() -> list[Path]:
    """The tables of all cases with an answer in rows."""
    tables = sorted(FIXTURES.glob("*/*/table"))
    return [one for one in tables if "rows" in json.loads((one.parent / "case.json").read_text())["expected"]]


def examined(table: Path) -> Validation:
    """The result of the deep checks, none of which may break."""
    found = validate(load_table(str(table)), DEEP)
    assert not found.broken, found.broken
    return found


@pytest.mark.slow
@pytest.mark.parametrize("chapter", sorted({one.parts[-3] for one in golden_tables()}))
def test_golden_tables_have_only_true_findings(chapter: str) -> None:
    """A finding of wrong answers or lost data exists exactly in the tables whose state makes it true."""
    for table in (one for one in golden_tables() if one.parts[-3] == chapter):
        case = json.loads((table.parent / "case.json").read_text())["id"]
        expected = next((rules.split() for start, (rules, _) in TRUE_FINDINGS.items() if case.startswith(start)), [])
        found = {one.rule for one in examined(table).findings if one.severity in UNSOUND}
        assert found <= {*expected}, (case, found)


@pytest.mark.parametrize("start", TRUE_FINDINGS)
def test_true_findings_are_found(start: str) -> None:
    """The states that make queries wrong are found with their rules."""
    tables = [one for one in golden_tables() if f"{one.parts[-3]}.{one.parts[-2]}".startswith(start)]
    rules = {one.rule for table in tables for one in examined(table).findings if one.severity in UNSOUND}
    assert rules == {*TRUE_FINDINGS[start][0].split()}
