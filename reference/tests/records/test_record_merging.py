"""Merging of versions of a record: truth tables by hand, the two implementations, and properties."""

import itertools
import math
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from merge_samples import COMMIT, EVENT, merges, select_by_columns, table
from reference_samples import bounded

from hudi_reference.errors import IncomparableOrdering, UnsupportedSchema
from hudi_reference.fast_paths import VARIABLE
from hudi_reference.files.log.content import Delete
from hudi_reference.layout.merge_config import MergeMode
from hudi_reference.records.changes import KEY, Changes
from hudi_reference.records.merge import Kind, Version, fold, is_lower, orderings_of
from hudi_reference.records.mergers.merger import Merging
from hudi_reference.records.merging.merge_slice import merge_changes, select


def version(text: str, position: int) -> Version:
    """`d5` is a row with ordering value 5, `x5` a delete with it, `x0` a delete without any, `dn` and `xn` have null."""
    kind = {"d": Kind.ROW, "x": Kind.DELETE}[text[0]]
    if text == "x0":
        return Version(Kind.KEY_DELETE, None, position)
    return Version(kind, None if text[1:] == "n" else int(text[1:]), position)


def winner(mode: MergeMode, *texts: str) -> str | None:
    """The result of these versions, oldest first."""
    found = fold([version(text, place) for place, text in enumerate(texts)], mode)
    return None if found is None else texts[found.position]


@pytest.mark.parametrize(
    ("older", "newer", "stays"),
    [
        ("d2", "d3", "newer"), ("d2", "d2", "newer"), ("d2", "d1", "older"), ("dn", "dn", "newer"), ("dn", "d1", "newer"),
        ("d1", "dn", "older"), ("d-1", "dn", "newer"), ("dn", "d-1", "older"), ("dn", "d0", "newer"), ("d0", "dn", "newer"),
        ("d2", "x3", "newer"), ("d2", "x2", "newer"), ("d2", "x1", "older"), ("d2", "x0", "newer"), ("d-5", "x0", "newer"),
        ("x2", "d3", "newer"), ("x2", "d2", "newer"), ("x2", "d1", "older"), ("x0", "d3", "newer"), ("x0", "d-3", "newer"),
        ("x0", "dn", "newer"), ("x2", "x3", "newer"), ("x2", "x2", "newer"), ("x2", "x1", "older"), ("x2", "x0", "newer"),
        ("x0", "x-1", "older"), ("x0", "x0", "newer"), ("xn", "d1", "newer"), ("d1", "xn", "older"), ("xn", "d-1", "older"),
    ],
)  # fmt: skip
def test_event_time_keeps_the_greater_ordering_value(older: str, newer: str, stays: str) -> None:
    """MRG-028, MRG-029, BLK-012, ER-050, ER-054, ER-055: ties go to the newer, null is 0, deletes by key win."""
    assert winner(EVENT, older, newer) == {"older": older, "newer": newer}[stays]


@pytest.mark.parametrize("older", ["d2", "dn", "x2", "x0"])
@pytest.mark.parametrize("newer", ["d1", "d2", "d3", "dn", "x1", "x0"])
def test_commit_time_keeps_the_newer(older: str, newer: str) -> None:
    """MRG-025: ordering values are ignored."""
    assert winner(COMMIT, older, newer) == newer


@pytest.mark.parametrize(
    ("versions", "stays"),
    [
        (["d2", "x0", "d1"], "d1"),  # a deleted base row stays deleted (ER-051)
        (["d1", "x2", "d1"], "x2"),  # a tombstone defeats later rows with smaller values
        (["d1", "x2", "d2"], "d2"),
        (["d5", "x0", "x9", "d3"], "d3"),  # a delete without a row to delete is not stored
        (["d5", "x0", "d3", "d4", "d3"], "d4"),
        (["d3", "d1", "d2"], "d3"),
        (["x5"], "x5"),
        ([], None),
    ],
)
def test_versions_are_folded_from_the_oldest_on(versions: list[str], stays: str | None) -> None:
    """MRG-003, ER-051: base row first, then the log entries in merge order."""
    assert winner(EVENT, *versions) == stays


ORDERED: list[tuple[Any, ...]] = [
    (-math.inf, -1.5, -0.0, 0.0, 1e-300, 1.5, math.inf, math.nan),
    (-(2**63), -1, 0, 1, 2**53, 2**53 + 1, 2**63 - 1),
    ("", "A", "a", "aa", "z", "é", "日", "\uffff", "🚲"),
    (b"", b"\x00", b"a", b"\xff"),
    (Decimal("-1.5"), Decimal("0"), Decimal("0.01"), Decimal("1e10")),
    (False, True),
    (-1, None, 1),
    (Decimal("-0.5"), None, Decimal("0.5")),
    (None, ""),
    (None, b""),
    ((1, 2), (1, 3), (2, 0), (2, 1)),
    (("a", None), ("a", 1), ("b", -1), ("b", None)),
    ((None, 5), ("", 1), ("x", 0)),
]


@pytest.mark.parametrize("values", ORDERED)
def test_ordering_values_have_a_total_order(values: tuple[Any, ...]) -> None:
    """MRG-028: numbers as numbers, NaN greatest, -0.0 below 0.0, text by UTF-8 bytes, fields one after the other, null as 0."""
    for (place, low), (other, high) in itertools.product(enumerate(values), repeat=2):
        assert is_lower(low, high) == (place < other), (low, high)


@pytest.mark.parametrize(("one", "other"), [(1, "a"), (b"a", 1), ((1,), 1), ((1, "a"), (1, 2)), (1.0, "")])
def test_values_of_different_kinds_are_not_compared(one: Any, other: Any) -> None:
    """MRG-028: they have no order, so they are refused."""
    for left, right in ((one, other), (other, one)):
        with pytest.raises(IncomparableOrdering) as raised:
            is_lower(left, right)
        assert raised.value.rule == "MRG-028"


@pytest.mark.parametrize("values", [[{"n": 1}, {"n": 2}], [[1], [2]]])
def test_values_that_have_no_order_are_refused(values: list[Any]) -> None:
    """MRG-019: structs and lists would all count as equal; a field of a struct is an ordering field like any other."""
    rows = pa.table({"ts": values})
    with pytest.raises(UnsupportedSchema):
        orderings_of(rows, ("ts",))
    if pa.types.is_struct(rows.schema.field("ts").type):
        assert orderings_of(rows, ("ts.n",)) == [1, 2]


texts = st.sampled_from(["d1", "d2", "d3", "dn", "x1", "x2", "x3", "x0"])
no_key_deletes = texts.filter(lambda text: text != "x0")


@bounded(150)
@given(st.lists(texts, min_size=3, max_size=6), st.integers(1, 4))
def test_commit_time_is_associative(versions: list[str], cut: int) -> None:
    """Property: merging newer versions first and then with the older ones changes nothing, so compaction at any point does not."""
    check_associative(COMMIT, versions, cut)


@bounded(150)
@given(st.lists(no_key_deletes, min_size=3, max_size=6), st.integers(1, 4))
def test_event_time_without_deletes_by_key_is_associative(versions: list[str], cut: int) -> None:
    """Property: with full rows and deletes that have ordering values the grouping does not matter."""
    check_associative(EVENT, versions, cut)


def check_associative(mode: MergeMode, texts: list[str], cut: int) -> None:
    """Folding a tail first gives the same version."""
    versions = [version(text, place) for place, text in enumerate(texts)]
    cut = min(cut, len(versions) - 1)
    tail = fold(versions[cut:], mode)
    assert tail is not None
    assert fold([*versions[:cut], tail], mode) == fold(versions, mode)


@bounded(200)
@given(st.permutations(["d1", "d2", "d3", "d4"]))
def test_distinct_ordering_values_make_the_order_of_commits_irrelevant(versions: list[str]) -> None:
    """Property: event time without deletes is the maximum by ordering value."""
    assert winner(EVENT, *versions) == "d4"


@bounded(100)
@given(st.lists(texts, min_size=1, max_size=5), st.sampled_from([EVENT, COMMIT]))
def test_writing_the_last_version_again_changes_nothing(versions: list[str], mode: MergeMode) -> None:
    """Property: idempotence."""
    once = winner(mode, *versions)
    assert winner(mode, *versions, versions[-1]) == once


@bounded(200)
@given(st.lists(texts, max_size=5), st.sampled_from([EVENT, COMMIT]))
def test_a_last_delete_by_key_leaves_nothing(versions: list[str], mode: MergeMode) -> None:
    """BLK-012: whatever the earlier versions are."""
    assert winner(mode, *versions, "x0") == "x0"


@bounded(250)
@given(merges())
def test_merging_by_columns_equals_merging_by_rows(merge: tuple[pa.Table, Changes, Merging]) -> None:
    """RDR-016, RDR-017: the fast code gives the same rows as the plain code."""
    base, changes, merging = merge
    assume(len(changes))
    plain_kept, plain_won = select(base, changes, merging)
    fast_kept, fast_won = select_by_columns(base, changes, merging)
    assert sorted(plain_kept.to_pylist()) == sorted(fast_kept.to_pylist())
    assert sorted(plain_won.to_pylist()) == sorted(fast_won.to_pylist())


@pytest.mark.parametrize("path", [select, select_by_columns])
def test_merged_base_file_by_hand(path: Any) -> None:
    """RDR-016: a row that loses, one that wins, an insert, a delete, an unknown key's delete, a key twice in the base file."""
    base = table(("a", 5, "base a"), ("b", 5, "base b"), ("c", 5, "base c"), ("d", 5, "d1"), ("d", 9, "d2"), ("e", 1, "base e"))
    first = table(("a", 4, "late a"), ("b", 6, "new b"), ("n", None, "new n"), ("d", 7, "new d"))
    changes = Changes([first, [Delete("c", "", None), Delete("zz", "", None), Delete("e", "", 0)]], base.schema)
    kept, won = path(base, changes, Merging(EVENT, ("o",)))
    assert sorted(base.take(kept).column("tag").to_pylist()) == ["base a", "base e", "d2"]
    assert sorted(changes.rows.take(won).column("tag").to_pylist()) == ["new b", "new d", "new n"]


@pytest.mark.parametrize("count", [1, 9_999, 10_000, 10_001])
def test_many_changes_give_the_same_result_as_few(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """RDR-016: the result is the same below and above the size at which the fast code runs."""
    monkeypatch.delenv(VARIABLE, raising=False)
    base = table(*((str(number), 1, "base") for number in range(0, count, 2)))
    changes = Changes([table(*((str(number), number % 3, "log") for number in range(count)))], base.schema)
    merged = merge_changes(base, changes, Merging(EVENT, ("o",))).to_pylist()
    assert {row[KEY] for row in merged} == {str(number) for number in range(count)}
    assert len(merged) == count
    for row in merged:
        number = int(row[KEY])
        assert row["tag"] == ("base" if number % 2 == 0 and number % 3 == 0 else "log")
