"""A reference implementation of the Apache Hudi table format, table versions 8 and 9, to be read beside the specification.

    read      open_table -> properties -> timeline -> file groups -> slices at a read time -> merged rows
    write     rows -> keys -> lookup -> data files -> conflict check, metadata table -> completed instant
    service   plan -> requested -> work -> metadata table -> completed instant

The packages are chapters of the specification. A package imports only from those below it:

* `tables`: the entry points `create_table` and `open_table`, and the operations of a table that write
* `services`: clean, clustering, compaction, log compaction, indexing, archiving, rollback, savepoint, restore, migration, and
  the synchronization of the metadata table
* `metadata`: the metadata table, its records and indexes
* `write`: writes, their commit protocol and concurrency control
* `query`: file groups and slices, queries
* `records`: keys, ordering values, merging
* `timeline`: actions and states, instants, metadata of actions, history
* `files`: Parquet, ORC and HFile base files, log files with their blocks
* `layout`, `schema`: names, properties, partitions; Avro and Arrow schemas
* `locks`: the lock of a table
* `storage`, `clock`, `ids`: the only access to the outside; `errors`: the exception classes

What a write triggers beside its own action is the value `STANDARD_HOOKS` in `services/default_hooks.py`. Importing a module
of this package has no side effect. What may be changed here: the entry points, and what they return.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hudi_reference.query.table import Table
    from hudi_reference.query.write_hooks import NO_HOOKS, WriteHooks
    from hudi_reference.services.archive.archive import archive
    from hudi_reference.services.clean.clean import clean
    from hudi_reference.services.clustering.clustering import cluster
    from hudi_reference.services.compaction.compaction import compact
    from hudi_reference.services.compaction.log_compaction import log_compact
    from hudi_reference.services.default_hooks import STANDARD_HOOKS
    from hudi_reference.services.indexing.indexing import create_index, index
    from hudi_reference.services.indexing.named_indexes import drop_index
    from hudi_reference.services.migration.changes import Migration
    from hudi_reference.services.migration.migrate import migrate
    from hudi_reference.services.rollback.restore import restore
    from hudi_reference.services.rollback.rollback import rollback
    from hudi_reference.services.rollback.savepoint import delete_savepoint, savepoint
    from hudi_reference.tables import WritableTable, create_table, open_table

__version__ = "0.1.0"
__all__ = [
    "NO_HOOKS",
    "STANDARD_HOOKS",
    "Migration",
    "Table",
    "WritableTable",
    "WriteHooks",
    "archive",
    "clean",
    "cluster",
    "compact",
    "create_index",
    "create_table",
    "delete_savepoint",
    "drop_index",
    "index",
    "log_compact",
    "migrate",
    "open_table",
    "restore",
    "rollback",
    "savepoint",
]

#: The modules of the names above. A module is imported when one of its names is used, because Arrow takes most of the time.
_MODULES = {
    "Migration": "hudi_reference.services.migration.changes",
    "NO_HOOKS": "hudi_reference.query.write_hooks",
    "STANDARD_HOOKS": "hudi_reference.services.default_hooks",
    "Table": "hudi_reference.query.table",
    "WritableTable": "hudi_reference.tables",
    "WriteHooks": "hudi_reference.query.write_hooks",
    "archive": "hudi_reference.services.archive.archive",
    "clean": "hudi_reference.services.clean.clean",
    "cluster": "hudi_reference.services.clustering.clustering",
    "compact": "hudi_reference.services.compaction.compaction",
    "create_index": "hudi_reference.services.indexing.indexing",
    "create_table": "hudi_reference.tables",
    "delete_savepoint": "hudi_reference.services.rollback.savepoint",
    "drop_index": "hudi_reference.services.indexing.named_indexes",
    "index": "hudi_reference.services.indexing.indexing",
    "log_compact": "hudi_reference.services.compaction.log_compaction",
    "migrate": "hudi_reference.services.migration.migrate",
    "open_table": "hudi_reference.tables",
    "restore": "hudi_reference.services.rollback.restore",
    "rollback": "hudi_reference.services.rollback.rollback",
    "savepoint": "hudi_reference.services.rollback.savepoint",
}


def __getattr__(name: str) -> Any:
    """The entry point of this name, from its module."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_MODULES[name]), name)
    return found


def __dir__() -> list[str]:
    """The entry points, and the attributes that the module has already."""
    return sorted({*globals(), *__all__})
