"""Each damage is found in tables of Apache Hudi and of the reference, of versions 6, 8 and 9, wherever they have a place for it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import islice

import clauses_samples as c
import deep_damage_samples as d
import pytest
import validated_tables_samples as t
from clauses_samples import TOPICS, Clause, NotPossible

from hudi_conformance.cases.schema import fixtures_root
from hudi_conformance.validator.all_checks import ALL, CHEAP
from hudi_conformance.validator.checks.finding import Check, Finding
from hudi_conformance.validator.validation import validate
from hudi_reference.storage import Storage

pytestmark = pytest.mark.long

Make = Callable[[], Storage]


def golden(*names: str) -> Sequence[Make]:
    """The tables of golden cases."""
    return [partial(c.copied, fixtures_root() / name / "table") for name in names]


#: Tables by their writers and versions; of each list a damage is made to the first table that has a place for it.
ORIGINS: Mapping[str, Sequence[Make]] = {
    "1.0.2, version 8": golden(
        "queries/skipping.after-a-rollback.cow.all-rows", "queries/skipping.after-compaction.mor.all-rows",
        "queries/skipping.record-keys.mor.moved", "queries/skipping.after-an-overwrite.cow.all-rows", "timeline/history.cow",
        "queries/skipping.after-clustering.cow.all-rows", "timeline/delete-partition", "timeline/compaction.pending",
        "timeline/clean.mor", "timeline/insert-overwrite", "timeline/clean.keeps-a-savepoint", "queries/changes.both.mor",
    ),
    "1.2.0, version 9": golden(
        "queries/skipping.values-that-moved.cow.version-9.new-value", "queries/skipping.record-keys.mor.version-9.moved",
        "queries/version-9.secondary-index.mor.moved-away", "timeline/history.mor.version-9", "timeline/compaction.pending.version-9",
        "timeline/clean.mor.version-9", "timeline/delete-partition.version-9", "timeline/insert-overwrite.version-9",
        "timeline/clean.keeps-a-savepoint.version-9", "queries/changes.both.mor.version-9",
    ),
    "reference": (d.indexed, d.indexed_merge_on_read, t.archived, t.clustered, d.compacted, d.copy_on_write, t.cleaned,
                  t.deleted_partition),
    "1.0.2, version 6": golden("compatibility/v6.cow", "compatibility/v6.mor", "compatibility/v6.cow.archived"),
}  # fmt: skip
#: Topics whose damages the cheap tier finds.
CHEAPLY = ("properties", "layout", "timeline", "history", "files", "comparisons", "contradictions")
CASES = [(topic, clause) for topic, clauses in TOPICS.items() for clause in clauses]


def damaged(clause: Clause) -> Iterator[tuple[str, Make, Storage]]:
    """For each origin the maker of a table and the damaged table, if one of its tables has a place for the damage."""
    for origin, tables in ORIGINS.items():
        for make in tables:
            after = make()
            try:
                clause.edit(after)
            except NotPossible:
                continue
            yield origin, make, after
            break


@cache
def findings_of(make: Make, checks: tuple[Check, ...]) -> frozenset[Finding]:
    """The findings before the damage."""
    return frozenset(validate(c.stored(make()), checks).findings)


def check_found(topic: str, clause: Clause, origin: str, make: Make, after: Storage) -> None:
    """A rule of the damage is found with its severity, where it was not found before, and no check breaks."""
    checks = CHEAP if topic in CHEAPLY else ALL
    found = validate(c.stored(after), checks)
    new = [one for one in found.findings if one not in findings_of(make, checks)]
    assert not found.broken, (origin, found.broken)
    assert any(one.rule in clause.rules and one.severity == clause.severity for one in new), (origin, described(new))


#: Damages for which only one table here has a place: none of Apache Hudi has two slices with arrays, one has a base file of the
#: record index, and one a rollback.
ONE_TABLE = (
    "arrays turned null", "damaged base file of the record index", "damaged base file of an index with checksums",
    "a rollback of another write",
)  # fmt: skip
IDS = [f"{topic}: {clause}" for topic, clause in CASES]


@pytest.mark.parametrize(("topic", "clause"), CASES, ids=IDS)
def test_a_damage_is_found_in_tables_of_two_writers(topic: str, clause: Clause) -> None:
    """Each damage is found in two tables, one of them made by Apache Hudi."""
    seen = []
    for origin, make, after in islice(damaged(clause), 2):
        check_found(topic, clause, origin, make, after)
        seen.append(origin)
    assert len(seen) == 2 or (seen and clause.name in ONE_TABLE), seen


@pytest.mark.slow
@pytest.mark.parametrize(("topic", "clause"), CASES, ids=IDS)
def test_a_damage_is_found_in_tables_of_every_writer(topic: str, clause: Clause) -> None:
    """Each damage is found in tables of both versions of Apache Hudi, of the reference, and of version 6, where it is possible."""
    for origin, make, after in damaged(clause):
        check_found(topic, clause, origin, make, after)


def described(findings: Sequence[Finding]) -> list[tuple[str, str, str]]:
    """Rules, severities and paths."""
    return [(one.rule, one.severity, one.path) for one in findings]


@pytest.mark.parametrize("make", ORIGINS["1.0.2, version 8"][:2], ids=("copy-on-write", "merge-on-read"))
def test_damages_do_not_hide_each_other(make: Make) -> None:
    """A table with one damage of each topic that leaves the others their places has the findings of all of them."""
    names = ("wrong checksum", "wrong depth", "markers of a completed write", "base file of another attempt",
             "a row twice", "a location of no row", "statistics too narrow", "lost older base file")  # fmt: skip
    storage, wanted = make(), []
    for clause in (one for _, one in CASES if one.name in names):
        try:
            clause.edit(storage)
        except NotPossible:
            continue
        wanted.append(clause)
    found = validate(c.stored(storage), ALL)
    assert not found.broken
    pairs = {(one.rule, one.severity) for one in found.findings}
    missed = [one.name for one in wanted if not pairs & {(rule, one.severity) for rule in one.rules}]
    assert len(wanted) > 4 and not missed, (missed, pairs)
