"""hudi-rs, the native reader in Rust, through its Python package. It reads and does not write.

Its package cannot read single files: the only class below table level, HudiFileGroupReader, wants a table's properties and a
base file, and returns merged rows. Blocks, HFiles, footers, bloom filters and the functions of the format are not accessible,
so that the adapter does not offer `inspect` and `compute`.

`python -m hudi_conformance.engines.hudi_rs` speaks the contract's protocol, in the environment of the extra `hudi-rs`.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any

import pyarrow as pa

from hudi_conformance.contract import Engine, EngineError, Hello, Query, Refused
from hudi_conformance.contract.serve import serve
from hudi_conformance.engines.support.columns import requested
from hudi_conformance.engines.support.features import QUERIES, TABLES

FEATURES = frozenset(
    {
        *(QUERIES - {"read.filter.null", "read.filter.prefix"}),
        *TABLES,
        "storage.s3",
        "table-version.9",
    }
)

#: Parts of messages of the single error class of hudi-rs that mean a refusal.
_REFUSALS = ("unsupported", "not supported", "only support", "expects timeline layout version", "needs its own merger")


class HudiRs(Engine):
    """The installed release of hudi-rs, which applies filters and projections itself."""

    def hello(self) -> Hello:
        """Identity and features."""
        return Hello("hudi-rs", version("hudi"), "rust", FEATURES)

    def read(self, table: str, query: Query) -> pa.Table:
        """The rows of a query; CDC is refused."""
        if query.kind == "cdc":
            raise Refused("read.cdc", "hudi-rs has no change data queries")
        with _in_contract_words(query):
            from hudi import HudiTableBuilder

            opened = HudiTableBuilder.from_base_uri(table).build()
            batches = opened.read(_options(query))
            # An empty answer comes without its schema.
            schema = batches[0].schema if batches else opened.get_schema_with_meta_fields()
            rows = pa.Table.from_batches(batches, schema)
        return rows.select(requested(query, rows.column_names))


def _options(query: Query) -> Any:
    """The query as arguments of hudi-rs; its filter values are strings."""
    from hudi import HudiQueryType, HudiReadOptions

    found = HudiReadOptions(
        filters=[(column, op, _list(value) if op == "in" else _text(value)) for column, op, value in query.where],
        projection=None if query.columns is None else list(query.columns),
    )
    if query.kind == "read-optimized":
        found = found.with_hudi_option("hoodie.read.use.read_optimized.mode", "true")
    if query.kind == "as-of":
        found = found.with_as_of_timestamp(query.as_of or "")
    if query.kind == "incremental":
        found = found.with_query_type(HudiQueryType.Incremental)
        found = found.with_start_timestamp(query.begin) if query.begin else found
        found = found.with_end_timestamp(query.end) if query.end else found
    return found


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _list(values: Sequence[Any]) -> str:
    """The values of `in` as one text, without nulls, which equal nothing. Raises Refused where hudi-rs loses a member."""
    texts = [_text(value) for value in values if value is not None]
    if not texts or any(text != text.strip() or not text for text in texts):
        raise Refused("read.filter.in", "hudi-rs takes no empty list, and drops blanks at the ends of its members")
    return ",".join(text.replace("\\", "\\\\").replace(",", "\\,") for text in texts)


@contextmanager
def _in_contract_words(query: Query) -> Iterator[None]:
    """Turn hudi-rs's error class and its panics into Refused or EngineError."""
    try:
        yield
    except BaseException as e:
        # Neither class can be imported, and the panic is no Exception.
        if type(e).__name__ not in {"HudiCoreError", "PanicException"}:
            raise
        message = " ".join(str(e).split())
        if any(words in message.lower() for words in _REFUSALS):
            raise Refused(_refused_feature(message, query), message) from None
        raise EngineError(f"{type(e).__name__}: {message}") from None


def _refused_feature(message: str, query: Query) -> str:
    if "timeline layout" in message.lower():
        return "timeline-layout"
    return "table-version" if "table version" in message.lower() else f"read.{query.kind}"


if __name__ == "__main__":
    serve(HudiRs)
