"""What each operation of a table triggers, in one place.

| when | what runs | settings |
|---|---|---|
| before any action changes a file | whether all its indexes can be maintained is checked | `hoodie.metadata.…` |
| before a write begins | the settings of the services that may follow are checked | those of the services |
| before a write begins | failed writes are rolled back | `hoodie.clean.failed.writes.policy=EAGER` |
| before a write begins | plans of clusterings that conflict with it are withdrawn | `hoodie.clustering.rollback.pending.…` |
| before any action completes | the metadata table is brought up to date, under the lock | `hoodie.metadata.enable` |
| after a write has completed | compaction, then clustering, then archiving | `hoodie.*.inline`, `hoodie.archive.*` |

`create_table` and `open_table` pass `STANDARD_HOOKS` in. To change what a write triggers, pass another `WriteHooks`.
"""

from collections.abc import Mapping
from contextlib import suppress

from hudi_reference.errors import MalformedTable, UnsupportedFeature, UnsupportedTableFeature, WriteConflict
from hudi_reference.layout.properties import TableProperties
from hudi_reference.metadata.indexes.all import MAINTAINED
from hudi_reference.query.table import Table
from hudi_reference.query.write_hooks import WriteHooks
from hudi_reference.requirement import implements
from hudi_reference.services.archive.archive import archive_timeline, limits_of
from hudi_reference.services.clustering.clustering import cluster
from hudi_reference.services.clustering.order import check_layout
from hudi_reference.services.clustering.plan import schedule_clustering
from hudi_reference.services.clustering.settings import NAMES, ClusteringSettings
from hudi_reference.services.compaction.compaction import COMMITS_KEY, check_trigger, compact
from hudi_reference.services.metadata_table.metadata_checks import check_metadata_table
from hudi_reference.services.metadata_table.metadata_sync import update_metadata_table
from hudi_reference.services.planning.compaction_plan import choose_operations
from hudi_reference.services.rollback.failed_writes import roll_back_failed
from hudi_reference.services.rollback.rollback import withdraw_clustering
from hudi_reference.settings import boolean_setting
from hudi_reference.timeline.active import Timeline
from hudi_reference.write.concurrency.config import Concurrency, Policy

Options = Mapping[str, str]
#: Whether writers run compactions inline. The default is false, as for deployed writers.
INLINE_KEY = "hoodie.compact.inline"
_INLINE_DEFAULTS = {COMMITS_KEY: "5"}


@implements("SVC-013", "SVC-014")
def check_inline_compaction(properties: TableProperties, options: Options) -> None:
    """Raises Misuse and UnsupportedTableFeature for invalid settings of inline compaction."""
    if boolean_setting(options, INLINE_KEY):
        check_trigger(options)
        choose_operations((), options)


@implements("OCC-024", "SVC-007", "SVC-013", "SVC-014")
def inline_compaction(table: Table, _: Timeline) -> None:
    """After a write, if `hoodie.compact.inline` is true: execute pending plans, and one more if it is due.

    Errors are suppressed, because the write has completed; `compact` reports them.
    """
    if boolean_setting(table.options, INLINE_KEY) and table.properties.is_merge_on_read:
        with suppress(MalformedTable, UnsupportedFeature, WriteConflict):
            compact(table, {**_INLINE_DEFAULTS, **table.options})


@implements("SVC-013", "SVC-014")
def check_inline_clustering(properties: TableProperties, options: Options) -> None:
    """Raises Misuse and UnsupportedTableFeature for invalid settings of inline clustering."""
    if NAMES.isdisjoint(options):
        return
    settings = ClusteringSettings.from_options(options)
    if settings.inline or settings.planned_inline:
        check_layout(settings.layout)
        if Concurrency.from_options(options).index is not None:
            raise UnsupportedTableFeature(
                "file groups of a bucket index are not clustered here", rule="LAY-021", found="inline clustering",
                remedy="leave the setting out",
            )  # fmt: skip


@implements("SVC-007", "SVC-013", "SVC-014")
def inline_clustering(table: Table, _: Timeline) -> None:
    """After a write, if `hoodie.clustering.inline` is true: execute pending plans, and one more if it is due.

    With `hoodie.clustering.schedule.inline` a plan is published only. Errors are suppressed, because the write has completed;
    `cluster` reports them.
    """
    if NAMES.isdisjoint(table.options):
        return
    settings = ClusteringSettings.from_options(table.options)
    if settings.inline or settings.planned_inline:
        with suppress(MalformedTable, UnsupportedFeature, WriteConflict):
            (cluster if settings.inline else schedule_clustering)(table)


def rollback_failed_writes(table: Table) -> tuple[str, ...]:
    """Before a write, with policy EAGER: roll back failed writes, and return their requested times."""
    return roll_back_failed(table) if Concurrency.from_options(table.options).policy is Policy.EAGER else ()


STANDARD_HOOKS: WriteHooks[Table] = WriteHooks(
    check_settings=(check_inline_compaction, check_inline_clustering, limits_of),
    before_write=(rollback_failed_writes,),
    withdraw_clustering=withdraw_clustering,
    before_completion=(update_metadata_table,),
    after_completion=(inline_compaction, inline_clustering, archive_timeline),
    maintained_indexes=MAINTAINED,
    check_indexes=(check_metadata_table,),
)
