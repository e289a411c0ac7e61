"""A validation on Spark: the parts of all checks are distributed over the executors, which run the same functions.

The driver lists the table and reads its timeline. It receives findings and counts, and no rows of the table.
"""

import pickle
import traceback
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from hudi_conformance.validator.checks.finding import Check, Finding, Tally
from hudi_conformance.validator.stored.table import StoredTable
from hudi_conformance.validator.validation import Validation, below, result_of, run_part, tables_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Tasks for each core: enough to even out parts of different sizes.
_TASKS_PER_CORE = 8
_OUTCOME = pa.schema([("outcome", pa.binary())])


@dataclass(frozen=True)
class Part:
    """One part of a check. `place` is the folder of the examined table: that of the metadata table, or empty."""

    check: str
    place: str
    part: Any


@dataclass(frozen=True)
class Outcome:
    """What a task found in its parts."""

    findings: tuple[Finding, ...]
    tally: Tally
    broken: tuple[str, ...]


@dataclass(frozen=True)
class ExamineTask:
    """Examines the parts that a task is given. `shared` is the broadcast of the table and its checks."""

    shared: Any

    def run(self, given: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """One outcome for the task."""
        from hudi_spark.tasks import unpickled

        table, checks = self.shared.value
        findings, tally, broken = list[Finding](), Tally(), list[str]()
        for one in unpickled(given):
            check = checks[one.check]
            examined = dict(tables_of(table, check))[one.place]
            try:
                findings += (below(one.place, finding) for finding in run_part(check, examined, one.part, tally))
            except Exception:  # as in one process: a fault of a check must not hide what the others find
                broken.append(f"{one.check}: {traceback.format_exc(limit=-3)}")
        outcome = pickle.dumps(Outcome(tuple(dict.fromkeys(findings)), tally, tuple(broken)))
        yield pa.record_batch([pa.array([outcome], pa.binary())], schema=_OUTCOME)


def validate_on_spark(spark: "SparkSession", table: StoredTable, checks: Sequence[Check]) -> Validation:
    """The result that `validation.validate` gives, computed by the executors of a session; they need access to the table."""
    from hudi_spark.arrow import spark_schema
    from hudi_spark.errors import errors_of_executors
    from hudi_spark.tasks import frame_of

    parts, broken = list[Part](), list[str]()
    for check in checks:
        for place, examined in tables_of(table, check):
            try:
                parts += (Part(check.name, place, part) for part in check.parts(examined))
            except Exception:
                broken.append(f"{check.name}: {traceback.format_exc(limit=-3)}")
    tasks = max(1, min(len(parts), _TASKS_PER_CORE * spark.sparkContext.defaultParallelism))
    shared = spark.sparkContext.broadcast((table, {check.name: check for check in checks}))
    try:
        spread = [part for start in range(tasks) for part in parts[start::tasks]]
        frame = frame_of(spark, spread, tasks).mapInArrow(ExamineTask(shared).run, spark_schema(_OUTCOME))
        with errors_of_executors():
            outcomes: list[Outcome] = [pickle.loads(row[0]) for row in frame.collect()] if parts else []
    finally:
        shared.destroy()
    tally = Tally()
    for check in checks:
        tally.looked(*check.rules, at=0)
    for outcome in outcomes:
        tally.counts.update(outcome.tally.counts)
        broken += outcome.broken
    return result_of(table, (finding for outcome in outcomes for finding in outcome.findings), tally, broken)
