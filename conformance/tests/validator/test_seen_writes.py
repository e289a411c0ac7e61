"""Completed writes whose completed file was lost, although another action shows that they had completed."""

import deep_damage_samples as d
import validated_tables_samples as t

from hudi_conformance.validator.all_checks import CHEAP


def test_a_write_that_a_built_index_saw_completed_is_lost() -> None:
    """TL-052: the indexer names the last completed write before it; without its completed file the rows are lost."""
    storage = d.indexed()
    table = d.stored(storage)
    built = min(one.requested for one in table.timeline.completed if one.action == "indexing")
    seen = max((one for one in table.commits if one.requested < built), key=lambda one: one.requested)
    storage.delete(table.path_of(seen))
    found = [one for one in t.validated(storage, CHEAP).findings if one.rule == "TL-052"]
    assert {(one.severity, one.key) for one in found} == {("data-lost", seen.requested)}
