"""The adapter of the Spark engine of the reference; runs in the environment of the extra `spark`.

`python -m hudi_conformance.engines.spark` speaks the contract's protocol.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from hudi_conformance import __version__
from hudi_conformance.contract import EngineError, Hello, Query
from hudi_conformance.contract.digests import Digest
from hudi_conformance.contract.messages import Operation
from hudi_conformance.contract.serve import serve
from hudi_conformance.engines.reference.engine import BYTES, OFFERED, PAUSES, Reference, contract_errors
from hudi_conformance.engines.support.environments import ensure_java
from hudi_conformance.engines.support.large_tables import digests_of_frame, is_large, session_options
from hudi_reference.caching import cached_property
from hudi_reference.records.mergers.sample_mergers import SAMPLE_MERGERS
from hudi_reference.schema.avro import META_COLUMNS
from hudi_reference.schema.evolution import conform
from hudi_reference.services.setting_names import has_effect


class SparkEngine(Reference):
    """Reads and writes DataFrames. The reference creates and inspects tables, runs services, and computes the functions of the
    format.

    Spark starts with `hello` and stops with this object; no other state is kept between messages.
    """

    @cached_property
    def spark(self) -> Any:
        """The session, on the Java of the machine or the packaged one."""
        ensure_java()
        from hudi_spark.session import local_session

        options: dict[str, Any] = dict(session_options())
        if is_large():
            options["spark.driver.extraJavaOptions"] = "-XX:+UseSerialGC"
        return local_session(**options)

    def hello(self) -> Hello:
        """Identity and features. The version is that of the suite, because both are one distribution."""
        self.spark.range(1).count()
        return Hello("spark", __version__, "python", ((OFFERED | BYTES) - PAUSES) | {"read.digest", "write.sql"})

    def read(self, table: str, query: Query) -> pa.Table:
        """The rows of a query; timestamps are cast to the type of the table."""
        import hudi_spark

        with _in_terms_of_the_contract():
            stored = _result_schema(table, query)
            with hudi_spark.errors_of_executors():
                rows = hudi_spark.read(self.spark, table, columns=stored.names, **_arguments(query)).toArrow()
            return conform(rows, stored, "result")

    def digest(self, table: str, query: Query, group_by: str) -> list[Digest]:
        """The digests of the rows of a query, which executors compute."""
        import hudi_spark

        with _in_terms_of_the_contract():
            columns = _result_schema(table, query).names
            with hudi_spark.errors_of_executors():
                return digests_of_frame(hudi_spark.read(self.spark, table, columns=columns, **_arguments(query)), group_by)

    def write(self, table: str, operation: Operation, rows: pa.Table, *, options: Mapping[str, str] | None = None) -> str:
        """One commit of a DataFrame with one partition, because each partition writes its own files."""
        import hudi_spark
        from hudi_spark.arrow import spark_schema

        with _in_terms_of_the_contract():
            frame = self.spark.createDataFrame(rows, spark_schema(rows.schema)).coalesce(1)
            instant: str = getattr(hudi_spark, operation)(frame, table, options=_settings(options), mergers=SAMPLE_MERGERS)
            return instant

    def write_sql(self, table: str, operation: Operation, sql: str, *, options: Mapping[str, str] | None = None) -> str:
        """One commit of the rows of a query, with the tasks that Spark makes of it."""
        import hudi_spark

        with _in_terms_of_the_contract():
            instant: str = getattr(hudi_spark, operation)(self.spark.sql(sql), table, options=_settings(options))
            return instant

    def close(self) -> None:
        """Stop Spark, if it was started."""
        if "spark" in self.__dict__:
            self.spark.stop()


def _settings(options: Mapping[str, str] | None) -> dict[str, str]:
    """The settings without those that concern other engines only, as sizes of files of Apache Hudi; they would be refused."""
    return {name: value for name, value in (options or {}).items() if has_effect(name)}


def _arguments(query: Query) -> dict[str, Any]:
    """The arguments of `hudi_spark.read` for a query, without its columns."""
    return {
        "query": query.kind, "where": query.where, "as_of": query.as_of, "begin": query.begin, "end": query.end,
        "schema_on_read": query.by_id, "mergers": SAMPLE_MERGERS,
    }  # fmt: skip


def _result_schema(table: str, query: Query) -> pa.Schema:
    """The columns of a query's result, without meta columns unless the query names them."""
    from hudi_spark.read import make_plan

    stored = make_plan(table, columns=query.columns, **_arguments(query)).fields
    names = query.columns if query.columns is not None else [name for name in stored.names if name not in META_COLUMNS]
    return pa.schema([stored.field(name) for name in names])


@contextmanager
def _in_terms_of_the_contract() -> Iterator[None]:
    """Translate errors of the reference, and errors of Spark by their first line, into those of the contract."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        with contract_errors():
            yield
    except (PySparkException, Py4JJavaError) as e:
        raise EngineError(f"{type(e).__name__}: {str(e).strip().splitlines()[0]}", str(e)) from e


def main() -> None:
    """Answer messages on standard input until it ends."""
    serve(SparkEngine)


if __name__ == "__main__":
    main()
