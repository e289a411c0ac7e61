"""Tables with a bucket index whose rows a clustering moved to other buckets."""

from itertools import count

import deep_damage_samples as d
import pytest
import validated_tables_samples as t

from hudi_conformance.validator.all_checks import ALL
from hudi_reference import cluster
from hudi_reference.storage import Storage

WHOLE = {"hoodie.clustering.inline.max.commits": "1"}
EACH = {**WHOLE, "hoodie.clustering.plan.strategy.class": "SparkSingleFileSortPlanStrategy",
        "hoodie.clustering.plan.strategy.max.bytes.per.group": "1"}  # fmt: skip
#: The numbers of buckets of the new file groups, in the order of the plan: by partition, then by size.
MOVES = {
    "all in one bucket": ([0] * 2, WHOLE),
    "several groups of one bucket": ([0] * 8, EACH),
    "all in the next bucket": ([1, 2, 3, 0] * 2, EACH),
}


def clustered(monkeypatch: pytest.MonkeyPatch, numbers: list[int] | None, options: dict[str, str]) -> Storage:
    """A table with four buckets in each of two partitions, clustered by an engine that does not know them.

    Without numbers each file group has the bucket of the one that it replaces.
    """
    storage = d.bucketed()
    given, made = iter(numbers or ()), count()

    def new_id(_: object, named: str) -> str:
        bucket = named.split("/")[1][:8] if numbers is None else f"{next(given):08}"
        return f"{bucket}-{next(made):04}-4000-8000-000000000000"

    for module in ("plan", "clustering"):
        monkeypatch.setattr(f"hudi_reference.services.clustering.{module}.check_not_bucketed", lambda *_: None)
    monkeypatch.setattr("hudi_reference.services.clustering.clustering.uuid5", new_id)
    assert cluster(t.reopened(storage), options)
    return storage


@pytest.mark.parametrize("name", MOVES)
def test_a_clustering_that_moves_rows_to_other_buckets(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """LAY-021: queries are right until the next upsert, which inserts the keys again; the finding comes before it."""
    found = d.examined(clustered(monkeypatch, *MOVES[name]), ALL)
    assert {(one.rule, one.severity) for one in found.findings} == {("LAY-021", "wrong-answers")}
    assert not found.broken


def test_a_bucket_with_two_file_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """LAY-021: a clustering that stores a bucket in several file groups is found even when its inputs are cleaned."""
    storage = clustered(monkeypatch, [0] * 8, EACH)
    for path in d.base_files(storage) + d.base_files(storage, "y"):
        if "-4000-8000-000000000000-0_" not in path:
            storage.delete(path)
    meanings = {one.meaning for one in d.examined(storage, ALL).findings if one.rule == "LAY-021"}
    assert any("both file groups" in one for one in meanings)


def test_a_clustering_that_keeps_the_buckets_is_sound(monkeypatch: pytest.MonkeyPatch) -> None:
    """LAY-021: each new file group has the bucket of the one that it replaced."""
    storage = clustered(monkeypatch, None, EACH)
    assert d.examined(storage, ALL).findings == ()
