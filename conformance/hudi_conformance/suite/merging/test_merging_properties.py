"""Properties of merging: changes to a history of writes that do not change any answer, and counter-examples.

Two tables that differ in one respect must have the same rows. Where a property does not hold, the shortest counter-example is
written down with the expected rows, so that a change of behaviour is noticed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import strategies as st

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.program_runner import DUE
from hudi_conformance.suite.support.programs.drawn_checks import check_for_all
from hudi_conformance.suite.support.programs.table_programs import OTHERS, Budget, Family, Row, Shape

WRITES = ("create", "write.upsert", "write.delete", "read.snapshot", "read.projection", "delete.flag", "partition.plain",
          "copy-on-write", "merge-on-read")  # fmt: skip
LAW = pytest.mark.needs(*WRITES)
FAMILIES = pytest.mark.parametrize(
    "family",
    [
        pytest.param("commit-time", marks=pytest.mark.needs("merge.commit-time")),
        pytest.param("event-time", marks=pytest.mark.needs("merge.event-time")),
    ],
)
#: The number of histories drawn for an engine in this process, and for one whose commits take seconds.
MANY, FEW = 12, 2
NewUri = Callable[[], str]
Batches = tuple[tuple[Row, ...], ...]


def make_row(
    key: str, rank: int, name: str | None = "x", *, city: str = "oslo", deleted: bool | None = None, **more: Any
) -> Row:
    """Return one row; a greater `rank` is a greater ordering value."""
    return {"id": key, "city": city, "rank": rank, "name": name, "note": None, "size": None, "deleted": deleted, **more}


def read_rows(engine: Client, uri: str, query: Query) -> list[tuple[Any, ...]]:
    """Return the rows of an answer, in an order that does not depend on files."""
    found = engine.read(uri, query)
    return sorted((tuple(one.values()) for one in found.select(list(query.columns or ())).to_pylist()), key=repr)


def rows_after(
    engine: Client, uri: str, shape: Shape, batches: Sequence[Sequence[Row]], options: Mapping[str, str] | None = None
) -> list[tuple[Any, ...]]:
    """Return the rows of a snapshot after these upserts, each one commit."""
    engine.create(uri, shape.spec())
    for batch in batches:
        engine.write(uri, "upsert", shape.arrow([shape.row(one) for one in batch]), options=options)
    return read_rows(engine, uri, Query(columns=tuple(shape.types)))


def draw_histories(*, deletes: bool = True, distinct: bool = False) -> st.SearchStrategy[Batches]:
    """Draw a few batches over few keys, one row for a key in each; the first has no deletes. `distinct`: the batches have
    different ranks.
    """
    one = st.builds(
        make_row, st.sampled_from("abc"), st.integers(0, 3), st.sampled_from(("x", "y", None)),
        city=st.sampled_from(("oslo", "rio")),
        deleted=st.sampled_from((None, None, True) if deletes else (None, False)), size=st.sampled_from((1, 2, None)),
    )  # fmt: skip
    batch = st.lists(one, min_size=1, max_size=4, unique_by=lambda found: (found["id"], found["city"])).map(tuple)
    drawn = st.lists(batch, min_size=2, max_size=4).map(_starting_with_rows)
    return drawn.flatmap(_ranked) if distinct else drawn


def _starting_with_rows(batches: Sequence[Sequence[Row]]) -> Batches:
    return (tuple({**one, "deleted": None} for one in batches[0]), *map(tuple, batches[1:]))


def _ranked(batches: Batches) -> st.SearchStrategy[Batches]:
    """Return the batches with a different ordering value in each, in any order."""
    ranks = st.permutations(range(len(batches)))
    return ranks.map(
        lambda chosen: tuple(tuple({**one, "rank": rank} for one in b) for b, rank in zip(batches, chosen, strict=True))
    )


TYPES = st.sampled_from(("COPY_ON_WRITE", "MERGE_ON_READ"))


@LAW
@FAMILIES
@pytest.mark.requirements("MRG-004", "MRG-028", "MRG-025")
@pytest.mark.long
def test_writing_a_batch_twice_changes_nothing(engine: Client, new_uri: NewUri, budget: Budget, family: Family) -> None:
    """MRG-004: after any history, writing the same rows and flagged deletes once more leaves the rows unchanged."""

    def check(type: Any, batches: Batches) -> None:
        shape = Shape(type, family)
        assert rows_after(engine, new_uri(), shape, (*batches, batches[-1])) == rows_after(engine, new_uri(), shape, batches)

    check_for_all(budget(MANY, FEW, engine), check, TYPES, draw_histories())


@LAW
@FAMILIES
@pytest.mark.requirements("MRG-011", "MRG-008")
@pytest.mark.long
def test_a_batch_may_be_split_into_commits(engine: Client, new_uri: NewUri, budget: Budget, family: Family) -> None:
    """MRG-008: rows of different keys may be written in one commit or in many: the result is the same."""

    def check(type: Any, batches: Batches) -> None:
        shape = Shape(type, family)
        single = [(one,) for batch in batches for one in batch]
        assert rows_after(engine, new_uri(), shape, single) == rows_after(engine, new_uri(), shape, batches)

    check_for_all(budget(MANY, FEW, engine), check, TYPES, draw_histories())


@LAW
@pytest.mark.needs("merge.event-time")
@pytest.mark.requirements("MRG-002", "MRG-028", "MRG-029", "API-021")
@pytest.mark.long
def test_commits_of_different_ordering_values_may_come_in_any_order(engine: Client, new_uri: NewUri, budget: Budget) -> None:
    """MRG-028: in event-time mode and without deletes, two commits whose ordering values differ may be exchanged."""

    def check(type: Any, batches: Batches) -> None:
        shape = Shape(type, "event-time")
        assert rows_after(engine, new_uri(), shape, batches[::-1]) == rows_after(engine, new_uri(), shape, batches)

    check_for_all(budget(MANY, FEW, engine), check, TYPES, draw_histories(deletes=False, distinct=True))


@LAW
@FAMILIES
@pytest.mark.requirements("BLK-011", "LF-003", "LF-005", "RDR-014")
@pytest.mark.long
def test_boundaries_of_blocks_and_files_do_not_matter(engine: Client, new_uri: NewUri, budget: Budget, family: Family) -> None:
    """LF-003: with a block for every row and a log file for every block, or with everything in one block, a snapshot is the
    same.
    """
    cut = {"hoodie.logfile.data.block.max.size": "1", "hoodie.logfile.max.size": "1"}

    def check(batches: Batches) -> None:
        shape = Shape("MERGE_ON_READ", family)
        assert rows_after(engine, new_uri(), shape, batches, cut) == rows_after(engine, new_uri(), shape, batches)

    check_for_all(budget(MANY, FEW, engine), check, draw_histories())


@LAW
@FAMILIES
@pytest.mark.needs("read.filter")
@pytest.mark.requirements("RDR-016", "MRG-008", "TYP-006")
@pytest.mark.long
def test_columns_and_rows_are_chosen_after_merging(engine: Client, new_uri: NewUri, budget: Budget, family: Family) -> None:
    """MRG-008: a query for some columns and rows selects from the merged rows: no version wins because another one was filtered
    out.
    """

    def check(type: Any, batches: Batches, name: str) -> None:
        shape, uri = Shape(type, family), new_uri()
        every = rows_after(engine, uri, shape, batches)
        place = {column: number for number, column in enumerate(shape.types)}
        wanted = [(one[place["size"]], one[place["city"]]) for one in every if one[place["name"]] == name]
        query = Query(columns=("size", "city"), where=(("name", "=", name),))
        assert read_rows(engine, uri, query) == sorted(wanted, key=repr)

    check_for_all(budget(MANY, FEW, engine), check, TYPES, draw_histories(), st.sampled_from(("x", "y")))


@LAW
@FAMILIES
@pytest.mark.requirements("MRG-005", "MRG-006")
@pytest.mark.long
def test_the_form_of_keys_does_not_matter(engine: Client, new_uri: NewUri, budget: Budget, family: Family) -> None:
    """MRG-005: other keys, of whatever form and order, give the same rows under these keys."""
    names = {"a": "zz", "b": "Zz", "c": "z,1:é"}

    def check(type: Any, batches: Batches) -> None:
        shape = Shape(type, family)
        renamed = [[{**one, "id": names[one["id"]]} for one in batch] for batch in batches]
        right = sorted(((names[one[0]], *one[1:]) for one in rows_after(engine, new_uri(), shape, batches)), key=repr)
        assert rows_after(engine, new_uri(), shape, renamed) == right

    check_for_all(budget(MANY, FEW, engine), check, TYPES, draw_histories())


@LAW
@FAMILIES
@pytest.mark.requirements("MRG-005", "RDR-016")
@pytest.mark.long
def test_other_keys_do_not_matter(engine: Client, new_uri: NewUri, budget: Budget, family: Family) -> None:
    """RDR-016: rows and deletes of other keys in each commit do not affect the rows of these keys."""

    def check(type: Any, batches: Batches) -> None:
        shape = Shape(type, family)
        others = [
            [make_row(f"other{n}", n % 4, deleted=n % 3 == number or None) for n in range(9)] for number in range(len(batches))
        ]
        mixed = [(*more, *batch) for batch, more in zip(batches, others, strict=True)]
        left = [one for one in rows_after(engine, new_uri(), shape, mixed) if not one[0].startswith("other")]
        assert left == rows_after(engine, new_uri(), shape, batches)

    check_for_all(budget(MANY, FEW, engine), check, TYPES, draw_histories())


#: A history of one key: each an operation and its row; `|` is a possible compaction.
Action = tuple[str, Row] | str
X: Action = ("delete", make_row("a", 0))


def D(rank: int, name: str | None = "x", **more: Any) -> Action:  # noqa: N802  as in the tables of merging
    """Return a row."""
    return "upsert", make_row("a", rank, name, **more)


def F(rank: int) -> Action:  # noqa: N802
    """Return a flagged delete."""
    return "upsert", make_row("a", rank, deleted=True)


def partial_update(rank: int, **columns: Any) -> Action:
    """Return a partial update."""
    return "partial_update", {**make_row("a", rank), **columns, "columns": tuple(columns)}


#: Counter-examples: the history, then the remaining value of `name` without a compaction, and with one (None: no row).
BY_EVENT, BY_COMMIT = Shape("MERGE_ON_READ", "event-time"), Shape("MERGE_ON_READ", "commit-time")
EVENT_PAYLOAD = Shape("MERGE_ON_READ", "custom", payload="EventTimeAvroPayload")
FILLING = Shape("MERGE_ON_READ", "custom", payload="PartialUpdateAvroPayload")
COUNTER_EXAMPLES: Mapping[str, tuple[Shape, Sequence[Action], str | None, str | None]] = {
    "a delete is remembered until a compaction": (BY_EVENT, [D(1, "old"), F(2), "|", D(1, "late")], None, "late"),
    "a delete by key is the end of what was before": (BY_EVENT, [D(2, "old"), X, "|", D(1, "new")], "new", "new"),
    "columns from before a delete stay away": (
        BY_COMMIT,
        [D(1, "p", note="m"), X, "|", partial_update(1, note="q")],
        None,
        None,
    ),
    "a late update of other columns": (
        BY_EVENT,
        [D(1, "p"), partial_update(2, note="n"), "|", partial_update(1, name="q")],
        "p",
        "p",
    ),
    "a class forgets its deletes too": (EVENT_PAYLOAD, [D(1, "old"), F(1), F(1), "|", D(0, "late")], None, "late"),
    "nulls are not filled from before a delete": (FILLING, [D(2, "old"), F(1), "|", D(2, None, note="m")], "(null)", "(null)"),
}


@LAW
@pytest.mark.needs("service.compaction", "merge.event-time", "merge.commit-time")
@pytest.mark.needs("write.partial-update", "merge.partial-updates", "merge.custom")
@pytest.mark.parametrize("is_compacted", [False, True], ids=["in one slice", "compacted between"])
@pytest.mark.parametrize("name", COUNTER_EXAMPLES)
@pytest.mark.requirements("API-021", "CMP-002", "MRG-029", "MRG-014", "LF-046", "MRG-013")
@pytest.mark.long
@pytest.mark.versions(8)  # version 9 maps the payload classes to merge modes, which remember a late delete in another way
def test_histories_without_associativity(engine: Client, new_uri: NewUri, name: str, is_compacted: bool) -> None:
    """API-021: merging is not associative with deletes or partial rows: these are the expected results."""
    shape, actions, plain, compacted = COUNTER_EXAMPLES[name]
    uri = new_uri()
    engine.create(uri, shape.spec())
    for action in actions:
        if isinstance(action, str):
            if is_compacted:
                engine.service(uri, "compaction", options=DUE["compaction"])
            continue
        operation, given = action
        columns = given.get("columns", OTHERS)
        engine.write(uri, operation, shape.arrow([shape.row(given, columns)]))  # type: ignore[arg-type]
    wanted = compacted if is_compacted else plain
    found = [value or "(null)" for (value,) in read_rows(engine, uri, Query(columns=("name",)))]
    assert found == ([] if wanted is None else [wanted])


@LAW
@pytest.mark.needs("merge.event-time")
@pytest.mark.parametrize(("type", "left"), [("COPY_ON_WRITE", ["late"]), ("MERGE_ON_READ", [])])
@pytest.mark.requirements("MRG-012", "MRG-029")
@pytest.mark.long
def test_a_copy_on_write_table_remembers_no_deletes(engine: Client, new_uri: NewUri, type: Any, left: list[str]) -> None:
    """MRG-012: row 2, delete 2, row 1: a copy-on-write table has dropped the delete with the row, a merge-on-read table has it
    in a log.
    """
    shape, uri = replace(BY_EVENT, type=type), new_uri()
    rows_after(engine, uri, shape, [(make_row("a", 2),), (make_row("a", 2, deleted=True),), (make_row("a", 1, "late"),)])
    assert [value for (value,) in read_rows(engine, uri, Query(columns=("name",)))] == left
