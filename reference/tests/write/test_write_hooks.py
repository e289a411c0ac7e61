"""What a write triggers: exactly the hooks of its table, in a fixed order; a table without hooks triggers nothing."""

import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest
from reference_samples import new_table, trip, trips

from hudi_reference import NO_HOOKS, STANDARD_HOOKS, WriteHooks
from hudi_reference.errors import UnsupportedTableFeature
from hudi_reference.layout.properties import read_properties

#: Settings under which the standard hooks compact after each write and maintain a metadata table.
INLINE = {"hoodie.compact.inline": "true", "hoodie.compact.inline.max.delta.commits": "1", "hoodie.metadata.enable": "true"}


def table_with(hooks: WriteHooks[Any], options: dict[str, str]) -> Any:
    """A merge-on-read table with one row, with these hooks and settings."""
    table = new_table(table_type="MERGE_ON_READ", ordering=("ts",))
    table.insert(trips(trip("a")))
    return replace(table, hooks=hooks, options=options)


def test_table_without_hooks_triggers_nothing() -> None:
    """A write adds one completed instant, whatever the settings ask for."""
    table = table_with(NO_HOOKS, INLINE)
    before = len(table.timeline.instants)
    table.upsert(trips(trip("a", ts=5)))
    assert len(table.timeline.instants) == before + 1
    assert not table.storage.list(".hoodie/metadata")


def test_standard_hooks_follow_the_settings() -> None:
    """OCC-020, OCC-024: the metadata table is created, and a compaction follows the write."""
    table = table_with(STANDARD_HOOKS, INLINE)
    table.upsert(trips(trip("a", ts=5)))
    assert [instant.action for instant in table.timeline.commits][-1] == "commit"
    assert table.storage.list(".hoodie/metadata")


def test_hooks_run_in_order() -> None:
    """Settings are checked before anything changes, the metadata table is synchronized before it completes, services follow."""
    calls: list[str] = []
    hooks: WriteHooks[Any] = WriteHooks(
        check_settings=(lambda *_: calls.append("check settings"),),
        before_write=(lambda _: calls.append("first before"), lambda _: calls.append("second before")),
        before_completion=(lambda table, *_: calls.append(f"pending {len(table.timeline.pending)}"),),
        after_completion=(lambda table, _: calls.append(f"pending {len(table.timeline.pending)}"),),
    )
    table_with(hooks, {}).upsert(trips(trip("a", ts=5)))
    assert calls == ["check settings", "first before", "second before", "pending 1", "pending 0"]


def test_table_with_indexes_needs_hooks_that_maintain_them() -> None:
    """PROP-001: without a hook for its indexes a table is not written."""
    table = table_with(STANDARD_HOOKS, INLINE)
    table.upsert(trips(trip("a", ts=5)))
    opened = replace(table, hooks=NO_HOOKS, properties=read_properties(table.storage))
    with pytest.raises(UnsupportedTableFeature):
        opened.upsert(trips(trip("a", ts=6)))


@pytest.mark.parametrize(
    "module", ["hudi_reference.write.write", "hudi_reference.services.default_hooks", "hudi_reference.tables"]
)
def test_every_entry_can_be_imported_first(module: str) -> None:
    """No module depends on the order of imports: a process that imports this one first has the same standard hooks."""
    program = f"import {module}; from hudi_reference import STANDARD_HOOKS; print(len(STANDARD_HOOKS.after_completion))"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout == "3\n"
