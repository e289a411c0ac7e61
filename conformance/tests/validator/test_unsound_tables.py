"""Each damage is found by its check with its rule, and the other checks are silent."""

from functools import partial

import pytest
import validated_tables_samples as tables
from block_damages_samples import BLOCK_DAMAGES
from contradiction_damages_samples import CONTRADICTION_DAMAGES
from damages_samples import Damage
from file_damages_samples import FILE_DAMAGES
from history_damages_samples import HISTORY_DAMAGES
from instant_damages_samples import INSTANT_DAMAGES
from log_compaction_damages_samples import LOG_COMPACTION_DAMAGES
from plans_damages_samples import PLANS_DAMAGES
from property_damages_samples import PROPERTY_DAMAGES
from removal_damages_samples import REMOVAL_DAMAGES
from repeated_damages_samples import REPEATED_DAMAGES
from schema_history_damages_samples import SCHEMA_HISTORY_DAMAGES
from settings_damages_samples import SETTINGS_DAMAGES
from statistics_damages_samples import STATISTICS_DAMAGES
from timeline_damages_samples import TIMELINE_DAMAGES
from trace_damages_samples import TRACE_DAMAGES
from validated_tables_samples import archived, clustered, rules_of, stored, validated
from values_damages_samples import VALUES_DAMAGES
from written_damages_samples import WRITTEN_DAMAGES

from hudi_conformance.validator.all_checks import CHEAP
from hudi_conformance.validator.checks.finding import Check
from hudi_reference.layout.properties import PROPERTIES_PATH

DAMAGES = (
    *TIMELINE_DAMAGES, *FILE_DAMAGES, *SETTINGS_DAMAGES, *CONTRADICTION_DAMAGES, *STATISTICS_DAMAGES, *PLANS_DAMAGES,
    *REPEATED_DAMAGES, *SCHEMA_HISTORY_DAMAGES, *VALUES_DAMAGES, *TRACE_DAMAGES, *REMOVAL_DAMAGES,
    *WRITTEN_DAMAGES, *BLOCK_DAMAGES, *LOG_COMPACTION_DAMAGES, *HISTORY_DAMAGES, *INSTANT_DAMAGES, *PROPERTY_DAMAGES,
)  # fmt: skip
BY_NAME = {check.name: check for check in CHEAP}
#: Checks of what only a local folder has; `test_local_folders`, `test_unlisted_folders` and `test_checksums_of_hadoop` have their damages.
LOCAL = {"layout.links", "layout.temporary-files", "layout.timeline-folder", "layout.unlisted-folders",
         "checksums.small-files"}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGES, ids=[f"{damage.check}: {damage.name}" for damage in DAMAGES])
def test_a_damage_is_found_with_its_rule_alone(damage: Damage):
    """The check reports the rule, it did not report it before, and no check reports a rule that the damage does not explain."""
    storage = damage.make()
    assert validated(storage, CHEAP).findings == ()
    damage.edit(storage)
    own = validated(storage, (BY_NAME[damage.check],)).findings
    assert damage.is_found(own)
    assert damage.is_no_worse(own)
    assert not [one for one in validated(storage, CHEAP).findings if not damage.explains(one.rule, one.severity)]


def test_every_check_has_a_damage():
    """No check can be removed without a failing test."""
    assert {damage.check for damage in DAMAGES} | LOCAL == BY_NAME.keys()


#: Of version 9 the merge mode alone counts, a strategy beside it contradicts nothing, and indexes have version V2.
AT_VERSION_9 = tuple(damage for damage in DAMAGES if damage.rule not in ("MRG-021", "COMPAT-010"))


@pytest.mark.parametrize("damage", AT_VERSION_9, ids=[f"{damage.check}: {damage.name}" for damage in AT_VERSION_9])
def test_a_damage_of_version_9_is_found(damage: Damage, monkeypatch: pytest.MonkeyPatch):
    """The same damages are found in tables of version 9, and these have no finding before."""
    monkeypatch.setattr(tables, "create_table", partial(tables.create_table, version=9))
    storage = damage.make()
    assert stored(storage).version == 9
    assert validated(storage, CHEAP).findings == ()
    damage.edit(storage)
    assert damage.is_found(validated(storage, (BY_NAME[damage.check],)).findings)


@pytest.mark.parametrize("name", sorted(BY_NAME.keys() - LOCAL))
def test_no_check_can_be_dropped(name: str):
    """Without a check, one of its damages at least is not found with its rule."""
    others = tuple(check for check in CHEAP if check.name != name)
    assert not all(_is_found(damage, others) for damage in DAMAGES if damage.check == name)


def _is_found(damage: Damage, checks: tuple[Check, ...]) -> bool:
    storage = damage.make()
    damage.edit(storage)
    return damage.is_found(validated(storage, checks).findings)


def test_a_finding_about_a_property_has_the_offset_of_its_line():
    """The last line of a key counts; a property that is not there has no line, and a finding of a byte keeps its offset."""
    storage = tables.copy_on_write()
    tables.change_properties(storage, {"hoodie.table.version": "99", "hoodie.table.checksum": None}, checksum=False)
    text = storage.get(PROPERTIES_PATH)
    storage.put(PROPERTIES_PATH, text + b"hoodie.table.version=98\nhoodie.x=\x01\n")
    found = {one.rule + one.found: one.offset for one in validated(storage, CHEAP).findings if one.path == PROPERTIES_PATH}
    assert found["COMPAT-00498"] == len(text)
    assert found["PROP-011no checksum"] is None
    assert found["PROP-011byte 0x01"] == len(text) + len(b"hoodie.table.version=98\nhoodie.x=")


@pytest.mark.parametrize("make", [archived, clustered])
def test_several_damages_are_found_together(make):
    """One damage does not hide another: the validation goes on after each finding."""
    storage = make()
    storage.put(".hoodie/timeline/2026010100000.commit.requested", b"")
    storage.delete("north/.hoodie_partition_metadata")
    storage.put(".hoodie/hoodie.properties", storage.get(".hoodie/hoodie.properties").replace(b"version=8", b"version=99"))
    found = rules_of(validated(storage, CHEAP).findings)
    assert {"TL-027", "LAY-003", "COMPAT-004"} <= found
