"""Features that several of the adapters here declare, so that each adapter lists only how it differs."""

#: Tables of base files alone.
WITHOUT_LOGS = frozenset(
    {
        "copy-on-write",
        "merge.commit-time",
        "merge.event-time",
        "partition.none",
        "partition.plain",
        "partition.hive",
        "partition.url-encoded",
        "partition.several-levels",
        "key.complex",
        "table-version.6",
        "timeline.history",
        "timeline.replaced-groups",
        "types.nested",
        "types.decimal",
        "types.temporal",
        "storage.file",
    }
)
#: Tables that the adapters here read, unless they know base files alone.
TABLES = WITHOUT_LOGS | frozenset(
    {
        "merge-on-read",
        "log.avro",
        "log.parquet",
        "log.delete",
        "log.command",
        "log.only-slices",
        "merge.partial-updates",
        "delete.flag",
        "timeline.pending-compaction",
    }
)
#: Queries that these adapters answer.
QUERIES = frozenset(
    {
        "read.snapshot",
        "read.read-optimized",
        "read.as-of",
        "read.incremental",
        "read.projection",
        "read.filter",
        "read.filter.in",
        "read.filter.null",
        "read.filter.prefix",
        "read.meta-columns",
        "read.compares-files",
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
