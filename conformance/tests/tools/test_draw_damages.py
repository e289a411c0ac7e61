"""Drawn damages of golden tables: a reader's refusal or another answer comes with a finding."""

import pytest
from tools.draw_damages import trial as trials
from tools.draw_damages.kinds import DAMAGES

from hudi_conformance.validator.all_checks import CHEAP

pytestmark = pytest.mark.long

#: Tables of both types and of each version, with log files, services, a history and indexes.
TABLES = (
    "layout/*", "timeline/history.*", "timeline/compaction.*", "timeline/clustering.*", "queries/skipping.*",
    "log/*", "compatibility/*",
)  # fmt: skip


@pytest.mark.parametrize("pattern", TABLES)
def test_a_changed_answer_has_a_finding(pattern: str) -> None:
    """Of damages drawn from all kinds none is missed, and no check breaks."""
    trial, tables = trials.Trial(), trials.tables_of(pattern)
    tables = tables[:: len(tables) // 12 or 1]
    for seed in range(40):
        trial.run(seed, tables, sorted(DAMAGES))
    assert not trial.counts["MISSED"] + trial.counts["BROKEN"], trial.counts
    assert trial.counts["found"]


def test_a_validator_without_checks_misses_damages(monkeypatch: pytest.MonkeyPatch) -> None:
    """The trial notices that a validator finds nothing."""
    checks = tuple(check for check in CHEAP if check.name == "properties.file")
    monkeypatch.setattr(trials, "ALL", checks)
    trial, tables = trials.Trial(), trials.tables_of("layout/*")[:3]
    for seed in range(20):
        trial.run(seed, tables, ("cut", "exchange"))
    assert trial.counts["MISSED"] > 0
