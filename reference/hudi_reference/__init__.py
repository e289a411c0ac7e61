"""A reference implementation of the Apache Hudi table format, version 8, to be read beside the specification.

`Table.open -> properties -> timeline -> file groups -> slices at a read time -> merged rows`
`rows -> keys -> locate -> files -> completed instant`
`plan -> requested -> work -> completed instant`

The chapters, from the outside in; nothing imports upwards:

* `services`: clean, clustering, compaction, indexing, log compaction, rollback, savepoint, restore; each plans first, and works
  by it; and the upkeep of the metadata table
* `metadata`: the metadata table, its records and indexes
* `table`: file groups and slices, queries, writes
* `timeline`: actions and states, instants, metadata of actions, history
* `files`: Parquet base files, HFiles, log files with their blocks
* `records`: keys, ordering values, merging
* `layout`, `schema`: names, properties, partitions; Avro and Arrow schemas
* `storage`, `clock`, `ids`: the three ways into the world; `errors`: the ways of being wrong

Concurrent writers find out that they changed the same file group when they complete: the check and the completion are one step
under the lock of the table.
"""

from hudi_reference.metadata.indexes import INDEXES
from hudi_reference.query.table import Table
from hudi_reference.services.archive.archive import archive, archive_after, limits_of
from hudi_reference.services.clean.clean import clean
from hudi_reference.services.clustering.clustering import check_inline_clustering, cluster, cluster_after
from hudi_reference.services.compaction.compaction import check_inline, compact, compact_after
from hudi_reference.services.compaction.log_compaction import log_compact
from hudi_reference.services.indexing.indexing import index
from hudi_reference.services.metadata_table.metadata_sync import keep_up
from hudi_reference.services.migration.migrate import Migration, migrate
from hudi_reference.services.rollback.failed_writes import clean_up_eagerly
from hudi_reference.services.rollback.restore import restore
from hudi_reference.services.rollback.rollback import rollback, withdraw
from hudi_reference.services.rollback.savepoint import delete_savepoint, savepoint
from hudi_reference.write.commit import FOLLOW_UPS, KEEPERS, FollowUp
from hudi_reference.write.concurrency.update_strategy import WITHDRAW
from hudi_reference.write.create import WritableTable, create_table, open_table
from hudi_reference.write.write import BEFOREHAND
from hudi_reference.write.write_context import KEPT_INDEXES

__version__ = "0.1.0"
__all__ = [
    "Migration",
    "Table",
    "WritableTable",
    "archive",
    "clean",
    "cluster",
    "compact",
    "create_table",
    "delete_savepoint",
    "index",
    "log_compact",
    "migrate",
    "open_table",
    "restore",
    "rollback",
    "savepoint",
]

FOLLOW_UPS += [
    FollowUp(check=check_inline, run=compact_after),
    FollowUp(check=check_inline_clustering, run=cluster_after),
    FollowUp(check=limits_of, run=archive_after),
]
KEEPERS.append(keep_up)
KEPT_INDEXES.update(INDEXES)
WITHDRAW.append(withdraw)
BEFOREHAND.append(clean_up_eagerly)
