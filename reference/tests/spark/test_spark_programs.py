"""Model-based test: the reference writes programs of all operations, and the Spark engine answers each of their queries.

A Spark job takes some hundred milliseconds even on a small table. So each query is planned when it is asked, on a copy of the
current table (links to its files: no process changes a file), and the queries of many programs that have the same columns and
filters are read as one DataFrame, whose rows contain the number of their query. `--programs N` draws N programs of each family.
"""

import os
import shutil
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any, get_args

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from hudi_conformance.contract.client import Client
from hudi_conformance.contract.in_process import InProcessTransport
from hudi_conformance.engines.reference.engine import Reference
from hudi_conformance.model.merge import PAYLOADS
from hudi_conformance.suite.support.program_runner import ProgramRun, Question, expect
from hudi_conformance.suite.support.programs.table_programs import DrawnQuery, Family, Program, Vocabulary, draw_programs
from hudi_conformance.suite.support.saved_programs import save_program
from hudi_reference.schema.evolution import conform

pytest.importorskip("pyspark", reason="needs the extra spark")

import pyspark.sql.functions as F  # noqa: N812 - its name in every Spark program
from pyspark.sql import DataFrame

from hudi_spark import errors_of_executors
from hudi_spark.arrow import arrow_schema_of, spark_schema
from hudi_spark.read import ReadPlan, conditions, from_parquet, make_plan
from hudi_spark.tasks import MergeTask, frame_of

#: Programs of each family where `--programs` says nothing; programs whose queries are read together.
FEW, TOGETHER = 20, 200
NUMBER = "__query"


@dataclass(frozen=True)
class Asked:
    """A query of a program: its number, its plan, and the right rows."""

    number: int
    plan: ReadPlan
    question: Question
    program: Program
    when: str

    @property
    def kind(self) -> tuple[str, ...]:
        """What queries of one DataFrame have in common."""
        return str(self.plan.columns), str(self.plan.fields), str(self.plan.query.where)

    def judge(self, found: pa.Table) -> None:
        """Compare the rows of all queries that answer this one with the model's."""
        rows = found.filter(pc.equal(found[NUMBER], self.number)).select(self.plan.columns)
        stored = pa.schema([self.plan.fields.field(name) for name in self.plan.columns])
        try:
            expect(conform(rows, stored, "result"), self.question, self.program, self.when)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{save_program(self.program)}") from error


class Questions:
    """The queries that were asked and not yet answered, with copies of the tables in a folder."""

    def __init__(self, spark: Any, folder: Path) -> None:
        self.spark, self.folder = spark, folder
        self.asked: list[Asked] = []
        self.programs = self.answered = 0

    def ask(self, table: Path, question: Question, program: Program, when: str) -> None:
        """Plan a query of the table as it is now."""
        copy, query = self.folder / f"query-{len(self.asked)}", question.query
        shutil.copytree(table, copy, copy_function=os.link)
        plan = make_plan(
            copy.as_uri(), query=query.kind, columns=query.columns, where=query.where, as_of=query.as_of, begin=query.begin,
            end=query.end,
        )  # fmt: skip
        self.asked.append(Asked(len(self.asked), plan, question, program, when))

    def answer(self) -> None:
        """Read and judge all queries that were asked, then discard them."""
        alike = defaultdict(list)
        for one in self.asked:
            alike[one.kind].append(one)
        for asked in alike.values():
            with errors_of_executors():
                found = self.frame(asked).toArrow()
            for one in asked:
                one.judge(found)
        self.answered += len(self.asked)
        self.asked.clear()
        shutil.rmtree(self.folder)
        self.folder.mkdir()

    def frame(self, asked: Sequence[Asked]) -> DataFrame:
        """The rows of queries of one kind, with the number of the query."""
        plan = asked[0].plan
        return reduce(DataFrame.unionByName, self.parts(asked)).select(*plan.columns, NUMBER)

    def parts(self, asked: Sequence[Asked]) -> Iterator[DataFrame]:
        """The slices that the reference merges, and those that Spark's own reader reads."""
        plan = asked[0].plan
        schema = spark_schema(plan.fields.append(pa.field(NUMBER, pa.int32())))
        merged = [(one.number, one.plan.query, part) for one in asked for part in one.plan.merged]
        native = [path for one in asked for path in one.plan.native]
        if merged:
            # A function within a function goes to the executors as it is: they do not have this module.
            def numbered(part: Any) -> pa.Table:
                number, query, found = part
                rows = query(found)
                return rows.append_column(pa.field(NUMBER, pa.int32()), pa.repeat(pa.scalar(number, pa.int32()), len(rows)))

            yield frame_of(self.spark, merged, tasks=2).mapInArrow(MergeTask(numbered, arrow_schema_of(schema)).run, schema)
        if native:
            number = F.regexp_extract("_metadata.file_path", r"/query-(\d+)/", 1).cast("int")
            rows = from_parquet(self.spark, native, spark_schema(plan.fields)).where(conditions(plan))
            yield rows.withColumn(NUMBER, number)
        if not merged and not native:
            yield self.spark.createDataFrame([], schema)


class Planning(ProgramRun):
    """A program whose queries are planned and not read."""

    questions: Questions

    def check(self, ask: DrawnQuery, when: str) -> None:
        """Put the query to Spark."""
        if (question := self.question(ask)) is not None:
            asked = f"{question.query.to_json()}\n{when}"
            self.questions.ask(Path(self.uri.removeprefix("file://")), question, self.program, asked)


@pytest.fixture
def reference() -> Iterator[Client]:
    """The engine that writes."""
    with Client("reference", lambda: InProcessTransport(Reference), start_timeout=30, message_timeout=120) as client:
        yield client


@pytest.mark.slow
@pytest.mark.parametrize("family", get_args(Family))
def test_every_query_of_a_program_gives_the_rows_of_the_model(
    spark: Any, reference: Client, tmp_path: Path, family: Family, request: pytest.FixtureRequest
) -> None:
    """Snapshots, filters, projections, as-of, read-optimized, incremental and change queries after each step of any program."""
    (folder := tmp_path / "queries").mkdir()
    questions = Questions(spark, folder)
    vocabulary = Vocabulary(frozenset(reference.hello.features))
    payloads = sorted(PAYLOADS) if family == "custom" else [None]

    @seed(zlib.crc32(family.encode()))
    @settings(
        max_examples=request.config.getoption("programs") or FEW, database=None, deadline=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(st.sampled_from(payloads).flatmap(lambda payload: draw_programs(vocabulary, family, payload)))
    def carry_out(program: Program) -> None:
        questions.programs += 1
        table = tmp_path / "table"
        shutil.rmtree(table, ignore_errors=True)
        planning = Planning(program, table.as_uri(), [reference])
        planning.questions = questions
        planning.run()
        if questions.programs % TOGETHER == 0:
            questions.answer()

    carry_out()
    questions.answer()
    print(f"{family}: {questions.programs} programs, {questions.answered} queries")
    assert questions.answered
