"""The names of Hudi's settings that the reference reads: table properties, and settings of writers and services.

A test compares the list with the code of the reference. A setting that is not in it would have no effect, so it is refused.
"""

import difflib
from collections.abc import Iterable

from hudi_reference.errors import Misuse
from hudi_reference.locks.settings import SETTINGS as LOCKS
from hudi_reference.records.keys.timestamp_keygen import OLD_PREFIX, PREFIX
from hudi_reference.services.clustering.settings import NAMES as CLUSTERING

#: Beginnings of names in the code of the reference.
PREFIXES = (
    "hoodie.clustering.plan.strategy.",
    "hoodie.deltastreamer.keygen.timebased.",
    "hoodie.keygen.timebased.",
    "hoodie.record.merge.property.",
    "hoodie.write.lock.",
    "hoodie.write.lock.dynamodb.",
    "hoodie.write.lock.zookeeper.",
)

NAMES = frozenset(
    {
        "hoodie.archive.automatic",
        "hoodie.archive.beyond.savepoint",
        "hoodie.archivelog.folder",
        "hoodie.bloom.index.update.partition.path",
        "hoodie.bootstrap.base.path",
        "hoodie.bootstrap.index.class",
        "hoodie.bootstrap.index.enable",
        "hoodie.bootstrap.index.type",
        "hoodie.bucket.index.hash.field",
        "hoodie.bucket.index.num.buckets",
        "hoodie.bucket.index.partition.expressions",
        "hoodie.clean.commits.retained",
        "hoodie.clean.failed.writes.policy",
        "hoodie.clean.fileversions.retained",
        "hoodie.clean.hours.retained",
        "hoodie.clean.policy",
        "hoodie.cleaner.commits.retained",
        "hoodie.cleaner.fileversions.retained",
        "hoodie.cleaner.hours.retained",
        "hoodie.cleaner.policy",
        "hoodie.cleaner.policy.failed.writes",
        "hoodie.client.heartbeat.interval_in_ms",
        "hoodie.client.heartbeat.tolerable.misses",
        "hoodie.clustering.async.enabled",
        "hoodie.clustering.async.max.commits",
        "hoodie.clustering.execution.strategy.class",
        "hoodie.clustering.inline",
        "hoodie.clustering.inline.max.commits",
        "hoodie.clustering.max.parallelism",
        "hoodie.clustering.plan.partition.filter.mode",
        "hoodie.clustering.plan.strategy.sort.columns",
        "hoodie.clustering.plan.strategy.target.file.max.bytes",
        "hoodie.clustering.rollback.pending.replacecommit.on.conflict",
        "hoodie.clustering.schedule.inline",
        "hoodie.clustering.updates.strategy",
        "hoodie.compact.inline",
        "hoodie.compact.inline.max.delta.commits",
        "hoodie.compact.inline.max.delta.seconds",
        "hoodie.compact.inline.trigger.strategy",
        "hoodie.compaction.logfile.num.threshold",
        "hoodie.compaction.logfile.size.threshold",
        "hoodie.compaction.payload.class",
        "hoodie.compaction.record.merger.strategy",
        "hoodie.compaction.strategy",
        "hoodie.compaction.target.io",
        "hoodie.copyonwrite.record.size.estimate",
        "hoodie.database.name",
        "hoodie.datasource.clustering.async.enable",
        "hoodie.datasource.clustering.inline.enable",
        "hoodie.datasource.write.commitmeta.key.prefix",
        "hoodie.datasource.write.drop.partition.columns",
        "hoodie.datasource.write.hive_style_partitioning",
        "hoodie.datasource.write.keygenerator.consistent.logical.timestamp.enabled",
        "hoodie.datasource.write.partitionpath.field",
        "hoodie.datasource.write.partitionpath.urlencode",
        "hoodie.datasource.write.payload.class",
        "hoodie.datasource.write.precombine.field",
        "hoodie.datasource.write.reconcile.schema",
        "hoodie.datasource.write.record.merger.impls",
        "hoodie.datasource.write.record.merger.strategy",
        "hoodie.datasource.write.slash.separated.date.partitioning",
        "hoodie.enable.data.skipping",
        "hoodie.expression.index.function",
        "hoodie.expression.index.type",
        "hoodie.index.bucket.engine",
        "hoodie.index.name",
        "hoodie.index.type",
        "hoodie.keep.max.commits",
        "hoodie.keep.min.commits",
        "hoodie.keygen.datetime.parser.class",
        "hoodie.keygen.timebased.input.dateformat",
        "hoodie.keygen.timebased.input.dateformat.list.delimiter.regex",
        "hoodie.keygen.timebased.input.timezone",
        "hoodie.keygen.timebased.output.dateformat",
        "hoodie.keygen.timebased.output.timezone",
        "hoodie.keygen.timebased.timestamp.scalar.time.unit",
        "hoodie.keygen.timebased.timestamp.type",
        "hoodie.keygen.timebased.timezone",
        "hoodie.layout.optimize.strategy",
        "hoodie.log.compaction.blocks.threshold",
        "hoodie.logfile.data.block.format",
        "hoodie.logfile.data.block.max.size",
        "hoodie.logfile.max.size",
        "hoodie.metadata.compact.max.delta.commits",
        "hoodie.metadata.enable",
        "hoodie.metadata.global.record.level.index.enable",
        "hoodie.metadata.index.bloom.filter.enable",
        "hoodie.metadata.index.column.stats.column.list",
        "hoodie.metadata.index.column.stats.enable",
        "hoodie.metadata.index.column.stats.max.columns.to.index",
        "hoodie.metadata.index.drop",
        "hoodie.metadata.index.expression",
        "hoodie.metadata.index.partition.stats.enable",
        "hoodie.metadata.index.secondary",
        "hoodie.metadata.record.index.enable",
        "hoodie.metadata.record.level.index.enable",
        "hoodie.parquet.compression.codec",
        "hoodie.parquet.max.file.size",
        "hoodie.partition.metafile.use.base.format",
        "hoodie.payload.delete.field",
        "hoodie.payload.delete.marker",
        "hoodie.payload.ordering.field",
        "hoodie.populate.meta.fields",
        "hoodie.record.index.update.partition.path",
        "hoodie.record.merge.mode",
        "hoodie.record.merge.strategy.id",
        "hoodie.simple.index.update.partition.path",
        "hoodie.table.base.file.format",
        "hoodie.table.cdc.enabled",
        "hoodie.table.cdc.supplemental.logging.mode",
        "hoodie.table.checksum",
        "hoodie.table.create.schema",
        "hoodie.table.format",
        "hoodie.table.index.defs.path",
        "hoodie.table.initial.version",
        "hoodie.table.keygenerator.class",
        "hoodie.table.keygenerator.type",
        "hoodie.table.legacy.payload.class",
        "hoodie.table.log.file.format",
        "hoodie.table.metadata.partitions",
        "hoodie.table.metadata.partitions.inflight",
        "hoodie.table.multiple.base.file.formats.enable",
        "hoodie.table.name",
        "hoodie.table.ordering.fields",
        "hoodie.table.partial.update.mode",
        "hoodie.table.partition.fields",
        "hoodie.table.partition_extractor_class",
        "hoodie.table.precombine.field",
        "hoodie.table.recordkey.fields",
        "hoodie.table.ro.file.format",
        "hoodie.table.rt.file.format",
        "hoodie.table.secondary.indexes.metadata",
        "hoodie.table.timeline.timezone",
        "hoodie.table.type",
        "hoodie.table.version",
        "hoodie.time.generator.counter",
        "hoodie.time.generator.max_expected_clock_skew_ms",
        "hoodie.timeline.compaction.batch.size",
        "hoodie.timeline.history.path",
        "hoodie.timeline.layout.version",
        "hoodie.timeline.path",
        "hoodie.write.complex.keygen.new.encoding",
        "hoodie.write.concurrency.early.conflict.detection.enable",
        "hoodie.write.concurrency.mode",
        "hoodie.write.concurrency.record.key.check.enable",
        "hoodie.write.concurrency.schema.conflict.resolution.enable",
        "hoodie.write.lock.client.num_retries",
        "hoodie.write.lock.client.wait_time_ms_between_retry",
        "hoodie.write.lock.max_wait_time_ms_between_retry",
        "hoodie.write.lock.provider",
        "hoodie.write.lock.wait_time_ms",
        "hoodie.write.lock.wait_time_ms_between_retry",
        "hoodie.write.num.retries.on.conflict.failures",
        "hoodie.write.partial.update.unavailable.value",
        "hoodie.write.record.merge.custom.implementation.classes",
        "hoodie.write.record.merge.mode",
        "hoodie.write.record.merge.strategy.id",
        "hoodie.write.record.positions",
        "hoodie.write.set.null.for.missing.columns",
        "hoodie.write.update.as.delete.and.insert",
    }
)

#: Beginnings of names with any end: those of merging, and of entries of commit metadata.
FREE = ("hoodie.record.merge.property.", "_")
#: The other names that begin with one of `PREFIXES`.
COMPOSED = frozenset(
    {
        *(name for setting in LOCKS for name in (setting.key, *setting.alternatives)),
        *CLUSTERING,
        *(name.replace(PREFIX, OLD_PREFIX) for name in NAMES if name.startswith(PREFIX)),
    }
)
#: More names than an error lists.
MANY = 40
SETTINGS_OF_WRITERS = (*sorted(NAMES | COMPOSED), "payload.class")


def has_effect(name: str) -> bool:
    """Whether a writer or service of the reference reads the setting."""
    return name.startswith(FREE) or name in SETTINGS_OF_WRITERS


def check_settings(options: Iterable[str]) -> None:
    """Raises Misuse for a setting that no writer or service has."""
    check_known((name for name in options if not has_effect(name)), SETTINGS_OF_WRITERS)


def check_known(given: Iterable[str], known: Iterable[str]) -> None:
    """Raises Misuse for a name that is not known, with the known name that is most like it."""
    names = tuple(known)
    for name in given:
        if name not in names:
            like = difflib.get_close_matches(name, names, 1, 0.6)
            meant = f"did you mean {like[0]}?" if like else "see docs/services.md and docs/spark-engine.md for the options"
            expected = ", ".join(names) if len(names) <= MANY else f"one of {len(names)} settings"
            raise Misuse("unknown option", expected=expected, found=name, remedy=meant)
