"""Large tables: digests, the drawn rows, and the judgement of answers, at sizes that a process can hold."""

from datetime import date
from decimal import Decimal
from hashlib import md5

import pyarrow as pa
import pytest

from hudi_conformance.contract.digests import Digest, digests_of
from hudi_conformance.model import Model
from hudi_conformance.scale.comparison import differences
from hudi_conformance.scale.workload import COLUMNS, REGIONS, Rows, Workload, _draw, texts_of

ROWS = 400


def arrow(texts: list[tuple[str, ...]]) -> pa.Table:
    """Rows of a workload as an engine returns them."""
    columns = zip(*texts, strict=True)
    values = [[None if text == "\\N" else text for text in column] for column in columns]
    kinds = [pa.string(), pa.string(), pa.int64(), pa.decimal128(12, 2), pa.string(), pa.date32(), pa.bool_()]
    parse = [str, str, int, Decimal, str, date.fromisoformat, "true".__eq__]
    arrays = [
        pa.array([None if value is None else how(value) for value in column], kind)
        for column, kind, how in zip(values, kinds, parse, strict=True)
    ]
    return pa.table(dict(zip(COLUMNS, arrays, strict=True)))


def test_a_digest_counts_and_hashes_the_texts_of_rows():
    """The hash is that of the definition: texts joined by U+001F, MD5, 15 digits; equal rows count twice."""
    rows = pa.table({"g": ["a", "a", None], "n": [1, 1, None], "d": pa.array([Decimal("1.50")] * 3, pa.decimal128(5, 2))})
    twice = int(md5(b"a\x1f1\x1f1.50").hexdigest()[:15], 16) * 2
    of_nulls = int(md5(b"\\N\x1f\\N\x1f1.50").hexdigest()[:15], 16)
    assert digests_of(rows, "g") == [Digest(None, 1, of_nulls), Digest("a", 2, twice)]


def test_types_without_a_text_are_refused():
    """Floating-point numbers have several texts, so that they are no columns of digests."""
    with pytest.raises(ValueError, match="column n: type double"):
        digests_of(pa.table({"g": ["a"], "n": [0.5]}), "g")


@pytest.mark.parametrize("seed", range(12))
def test_expected_digests_are_those_of_the_model(seed):
    """The states computed with numpy are the rows of the model after the same commits: late changes lose, deletes delete."""
    workload = Workload.draw(ROWS, seed)
    model, asked, expected = Model(record_key=("id",), partition=("region",), ordering=("ts",)), {}, {}
    for commit in workload.commits:
        model.apply(commit.operation, list(rows_of(commit)))
        name = f"after {commit.number}"
        asked[name] = Rows(commit.number)
        expected[name] = digests_of(arrow([row["texts"] for row in model.snapshot()]), "region")
    assert workload.digests(asked) == expected


def rows_of(commit):
    """The rows of a commit, one by one, from the definition of the workload."""
    for number in range(commit.first, commit.last):
        drawn, kind = _draw(number, commit.number * 2 + 1) % 1000, _draw(number, 0) % 10
        if drawn >= commit.share or (commit.operation == "delete" and kind):
            continue
        late = drawn < commit.share * commit.late // 1000 and kind in (1, 2)
        texts = texts_of(number, -commit.number if late else commit.number, _draw(number, 1) % REGIONS)
        key = {"id": texts[0], "region": texts[1]}
        yield key if commit.operation == "delete" else key | {"ts": int(texts[2]), "texts": texts}


def test_a_workload_has_late_changes_deletes_and_rows_that_come_back():
    """Otherwise readers that ignore ordering values or deletes would be right."""
    workload = Workload.draw(20_000, 7)
    after = {f"{n}": Rows(n) for n in range(1, workload.newest + 1)}
    counts = {name: sum(one.rows for one in digests) for name, digests in workload.digests(after).items()}
    deleting = next(commit.number for commit in workload.commits if commit.operation == "delete")
    assert counts[str(deleting)] < counts[str(deleting - 1)]
    assert any(commit.late for commit in workload.commits)


def test_differences_name_each_group_that_differs():
    """A changed sum, a missing group and an additional group are found; equal groups are not."""
    expected = [Digest("a", 1, 5), Digest("b", 1, 6), Digest("c", 1, 7)]
    found = [Digest("a", 1, 5), Digest("b", 1, 9), Digest("d", 1, 1)]
    wrong = [("b", expected[1], found[1]), ("c", expected[2], None), ("d", None, found[2])]
    assert list(differences(expected, found)) == wrong
