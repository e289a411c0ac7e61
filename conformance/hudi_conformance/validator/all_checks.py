"""All checks, in the order in which they run."""

from hudi_conformance.validator.checks import hash_ranges
from hudi_conformance.validator.checks.cheap import (
    actions,
    base_files,
    history,
    layout,
    log_files,
    metadata_files,
    owners,
    presence,
    properties,
    schema_history,
    settings,
    timeline,
)
from hudi_conformance.validator.checks.checksum_files import CHECKSUM_FILES, CHECKSUMS_OF_DATA
from hudi_conformance.validator.checks.deep.changes import CHANGES
from hudi_conformance.validator.checks.deep.clusterings import CLUSTERINGS
from hudi_conformance.validator.checks.deep.files.bootstrapped import BOOTSTRAPPED
from hudi_conformance.validator.checks.deep.files.footer_statistics import FILTERS
from hudi_conformance.validator.checks.deep.files.key_generation import KEY_FIELDS, PARTITION_FIELDS, TIME_FORMATS
from hudi_conformance.validator.checks.deep.groups import GROUPS
from hudi_conformance.validator.checks.deep.key_entries import KEY_ENTRIES
from hudi_conformance.validator.checks.deep.keys import KEYS
from hudi_conformance.validator.checks.deep.named_entries import NAMED_ENTRIES
from hudi_conformance.validator.checks.deep.partition_entries import PARTITION_ENTRIES
from hudi_conformance.validator.checks.deep.unnamed_files import UNNAMED_FILES
from hudi_conformance.validator.checks.finding import Check
from hudi_conformance.validator.checks.writes import (
    compacted_logs,
    inflight_records,
    plans,
    removal_plans,
    removal_records,
    replacements,
    results,
    statistics,
    times,
    traces,
)

CHEAP: tuple[Check, ...] = (
    *properties.CHECKS,
    *settings.CHECKS,
    *layout.CHECKS,
    *hash_ranges.CHECKS,
    CHECKSUM_FILES,
    *timeline.CHECKS,
    *actions.CHECKS,
    *schema_history.CHECKS,
    *history.CHECKS,
    *presence.CHECKS,
    *owners.CHECKS,
    *traces.CHECKS,
    *results.CHECKS,
    *times.CHECKS,
    *replacements.CHECKS,
    *removal_plans.CHECKS,
    *removal_records.CHECKS,
    *plans.CHECKS,
    *statistics.CHECKS,
    *compacted_logs.CHECKS,
    *inflight_records.CHECKS,
    *metadata_files.CHECKS,
    *log_files.CHECKS,
    *base_files.CHECKS,
)
DEEP: tuple[Check, ...] = (
    CHECKSUMS_OF_DATA,
    GROUPS,
    BOOTSTRAPPED,
    FILTERS,
    CHANGES,
    CLUSTERINGS,
    UNNAMED_FILES,
    KEY_FIELDS,
    TIME_FORMATS,
    PARTITION_FIELDS,
    KEYS,
    KEY_ENTRIES,
    NAMED_ENTRIES,
    PARTITION_ENTRIES,
)
ALL = (*CHEAP, *DEEP)
