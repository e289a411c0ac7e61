"""Table services on Spark: the driver plans, publishes and completes; executors do the work of the plan.

A plan names what each task does, and a task writes files under names that follow from the plan. So a task that is repeated
writes the same file, and an execution that stopped can be repeated from the beginning.
"""

import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow as pa
from pyspark.sql import SparkSession

from hudi_reference.errors import ConcurrentChange, Misuse
from hudi_reference.query.table import Table
from hudi_reference.services.clean.clean import CleanExecution, schedule_clean
from hudi_reference.services.clustering.clustering import ClusteringExecution, Rewriting, execute_clustering
from hudi_reference.services.clustering.plan import schedule_clustering
from hudi_reference.services.compaction.compaction import CompactionExecution, Compactor, schedule_compaction
from hudi_reference.services.indexing.indexing import execute_indexing, schedule_indexing
from hudi_reference.services.planning.clean_plan import planned_files
from hudi_reference.services.planning.compaction_plan import Operation
from hudi_reference.services.planning.plan_execution import Plan, carry_out, pending_of
from hudi_reference.timeline.contents.metadata import WriteStat
from hudi_reference.write.preconditions import check_writable
from hudi_spark.arrow import spark_schema
from hudi_spark.errors import errors_of_executors
from hudi_spark.read import Options, open_shared, open_with
from hudi_spark.tasks import STATS, Batches, Shared, frame_of, unpickled


def schedule(uri: str, service: str, *, options: Options = None) -> str | None:
    """Plan `compaction`, `clustering`, `clean` or `index`, and publish the plan; its requested time, None without work.

    Raises Misuse for another service and for unknown options, and what the service of the reference raises.
    """
    return _SERVICES[_known(service)].schedule(open_with(uri, options), dict(options or {}))


def execute(spark: SparkSession, uri: str, service: str, requested: str, *, options: Options = None) -> str:
    """Execute a published plan on the executors, from the beginning or after an execution that did not complete.

    `options` are settings by Hudi's names, as the lock that other writers of the table use. Returns the plan's requested time.
    Raises Misuse if there is no such plan and for unknown options, and what the service of the reference raises.
    """
    with errors_of_executors():
        return _SERVICES[_known(service)].execute(spark, open_with(uri, options), requested)


def run(spark: SparkSession, uri: str, service: str, *, options: Options = None) -> str | None:
    """Execute the pending plans of a service, then plan and execute one more; the last requested time, None without work."""
    done = None
    for pending in pending_of(open_shared(uri).timeline, _SERVICES[_known(service)].action):
        with suppress(ConcurrentChange):  # the plan of a clustering was withdrawn
            done = execute(spark, uri, service, pending.requested, options=options)
    requested = schedule(uri, service, options=options)
    return done if requested is None else execute(spark, uri, service, requested, options=options)


@dataclass(kw_only=True)
class _Compaction(CompactionExecution):
    spark: SparkSession

    def merge_all(self, compactor: Compactor, operations: Sequence[Operation]) -> Sequence[WriteStat | None]:
        """One task for each file group."""
        return _each(self.spark, list(enumerate(operations)), lambda part: compactor.merge(*part))


@dataclass(kw_only=True)
class _Clustering(ClusteringExecution):
    spark: SparkSession

    def rewrite_all(self, rewriting: Rewriting) -> None:
        """One task for each group of the plan."""
        plain = ClusteringExecution(self.table, self.requested)
        groups = list(enumerate(rewriting.plan.groups))
        for stats in _each(self.spark, groups, lambda part: plain.store_group(rewriting, *part)):
            self.stats.extend(stats)


@dataclass(kw_only=True)
class _Clean(CleanExecution):
    spark: SparkSession

    def delete_all(self, plan: Plan) -> tuple[str, ...]:
        """The files, in as many tasks as the session runs at once."""
        files, storage = planned_files(plan), self.table.storage
        _each(self.spark, list(files), storage.delete, self.spark.sparkContext.defaultParallelism)
        return files


def _each(spark: SparkSession, parts: Sequence[Any], work: Callable[[Any], Any], tasks: int | None = None) -> list[Any]:
    """The results of `work` for each of the parts, in their order."""
    if not parts:
        return []

    shared = Shared.of(spark, work)

    def done(given: Batches) -> Iterator[pa.RecordBatch]:
        results = [pickle.dumps((number, shared.value(part))) for number, part in unpickled(given)]
        yield pa.record_batch([pa.array(results, pa.binary())], schema=STATS)

    numbered = frame_of(spark, list(enumerate(parts)), min(tasks, len(parts)) if tasks else None)
    rows = numbered.mapInArrow(done, spark_schema(STATS)).collect()
    return [result for _, result in sorted((pickle.loads(row[0]) for row in rows), key=lambda pair: pair[0])]


def _compaction(spark: SparkSession, table: Table, requested: str) -> str:
    check_writable(table)
    return carry_out(_Compaction(table, requested, spark=spark))


def _clustering(spark: SparkSession, table: Table, requested: str) -> str:
    return execute_clustering(table, requested, _Clustering(table, requested, spark=spark))


def _clean(spark: SparkSession, table: Table, requested: str) -> str:
    return carry_out(_Clean(table, requested, spark=spark))


def _index(_: SparkSession, table: Table, requested: str) -> str:
    """On the driver: the indexes of the metadata table are one commit of that table."""
    return execute_indexing(table, requested)


class _Service(NamedTuple):
    """How a service is planned and executed, and its action on the timeline."""

    action: str
    schedule: Callable[[Table, Mapping[str, str]], str | None]
    execute: Callable[[SparkSession, Table, str], str]


_SERVICES = {
    "compaction": _Service("compaction", schedule_compaction, _compaction),
    "clustering": _Service("clustering", schedule_clustering, _clustering),
    "clean": _Service("clean", schedule_clean, _clean),
    "index": _Service("indexing", schedule_indexing, _index),
}


def _known(service: str) -> str:
    if service not in _SERVICES:
        raise Misuse("no such service on Spark", expected=", ".join(_SERVICES), found=service, remedy="use the reference")
    return service
