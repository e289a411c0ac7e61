"""Features that several of the adapters here declare, so that each adapter lists only how it differs."""

#: Tables that all adapters here read.
TABLES = frozenset(
    {
        "copy-on-write",
        "merge-on-read",
        "log.avro",
        "log.parquet",
        "log.delete",
        "log.command",
        "log.only-slices",
        "merge.commit-time",
        "merge.event-time",
        "merge.partial-updates",
        "delete.flag",
        "partition.none",
        "partition.plain",
        "partition.hive",
        "partition.url-encoded",
        "partition.several-levels",
        "key.complex",
        "table-version.6",
        "timeline.history",
        "timeline.pending-compaction",
        "timeline.replaced-groups",
        "types.nested",
        "types.decimal",
        "types.temporal",
        "storage.file",
    }
)
#: Queries that all adapters of engines here answer.
QUERIES = frozenset(
    {
        "read.snapshot",
        "read.read-optimized",
        "read.as-of",
        "read.incremental",
        "read.projection",
        "read.filter",
        "read.filter.in",
        "read.meta-columns",
    }
)
#: Writes of engines that create tables.
WRITES = frozenset(
    {
        "create",
        "write.insert",
        "write.upsert",
        "write.delete",
        "write.bulk-insert",
        "write.partial-update",
        "write.insert-overwrite",
        "write.delete-partition",
        "write.bucket-index",
    }
)
#: Inspections of single files.
FILES = frozenset(
    {
        "inspect.log-file",
        "inspect.log-content",
        "inspect.hfile",
        "inspect.base-file",
        "inspect.bloom-filter",
        "inspect.instant",
        "inspect.history-file",
        "inspect.manifest",
        "inspect.properties",
    }
)
