"""Lists of merged instants in the blocks of log compactions, by the merge mode of the table."""

import validated_tables_samples as t
from log_compaction_damages_samples import list_times, log_compacted

from hudi_conformance.validator.all_checks import CHEAP

#: A payload that combines the fields of two versions: a version that is merged twice may change the result.
CUSTOM = {
    "hoodie.record.merge.mode": "CUSTOM",
    "hoodie.record.merge.strategy.id": "00000000-0000-0000-0000-000000000000",
    "hoodie.compaction.payload.class": "org.apache.hudi.common.model.PartialUpdateAvroPayload",
    "hoodie.table.precombine.field": "fare",
}


def test_a_merged_block_that_is_not_listed_changes_rows_of_a_custom_mode() -> None:
    """LCP-002: a block that is merged a second time changes no row in the standard modes, but may do so in a custom one."""
    storage = log_compacted()
    list_times(lambda times: [*times[:-1], times[0]])(storage)
    t.change_properties(storage, CUSTOM)
    found = t.validated(storage, CHEAP).findings
    assert {one.severity for one in found if one.rule == "LCP-002"} == {"wrong-answers"}
