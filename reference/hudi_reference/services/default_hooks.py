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

from hudi_reference.metadata.indexes.all import MAINTAINED
from hudi_reference.query.table import Table
from hudi_reference.query.write_hooks import WriteHooks
from hudi_reference.services.archive.archive import archive_timeline, limits_of
from hudi_reference.services.clustering.clustering import check_inline_clustering, inline_clustering
from hudi_reference.services.compaction.compaction import check_inline_compaction, inline_compaction
from hudi_reference.services.metadata_table.metadata_checks import check_metadata_table
from hudi_reference.services.metadata_table.metadata_sync import update_metadata_table
from hudi_reference.services.rollback.failed_writes import rollback_failed_writes
from hudi_reference.services.rollback.rollback import withdraw_clustering

STANDARD_HOOKS: WriteHooks[Table] = WriteHooks(
    check_settings=(check_inline_compaction, check_inline_clustering, limits_of),
    before_write=(rollback_failed_writes,),
    withdraw_clustering=withdraw_clustering,
    before_completion=(update_metadata_table,),
    after_completion=(inline_compaction, inline_clustering, archive_timeline),
    maintained_indexes=MAINTAINED,
    check_indexes=(check_metadata_table,),
)
