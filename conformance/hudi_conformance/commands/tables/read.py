"""`hudi-conformance read`: print the rows of a table, read by the reference or by any engine."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import closing, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import typer

from hudi_conformance.commands.error_handling import exit_on_errors
from hudi_conformance.commands.predicates import InvalidWhere, parse_predicates
from hudi_conformance.commands.row_formats import Format, write_rows
from hudi_conformance.commands.tables.bounded_memory import bounded_memory
from hudi_conformance.contract.messages import Query
from hudi_conformance.engines.registry import connect

if TYPE_CHECKING:
    import pyarrow as pa

META = ("_hoodie_commit_time", "_hoodie_commit_seqno", "_hoodie_record_key", "_hoodie_partition_path", "_hoodie_file_name")

Kind = Literal["snapshot", "read-optimized", "as-of", "incremental", "cdc"]


def read(
    table: Annotated[str, typer.Argument(help="Folder or URI of the table.")],
    query: Annotated[
        Kind | None,
        typer.Option("--query", help="Query type; default: snapshot, or the type that --as-of, --begin or --end implies."),
    ] = None,
    as_of: Annotated[str | None, typer.Option("--as-of", metavar="T", help="Rows as of this time.")] = None,
    begin: Annotated[str | None, typer.Option(metavar="T", help="Changes that completed after this time.")] = None,
    end: Annotated[str | None, typer.Option(metavar="T", help="Changes that completed up to this time.")] = None,
    columns: Annotated[str | None, typer.Option(metavar="A,B,...", help="Columns of the result, in this order.")] = None,
    where: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Filter, e.g. price > 5 and city in ('x', 'y') and gone is null")
    ] = None,
    meta: Annotated[bool, typer.Option("--meta", help="Include the five _hoodie_ columns.")] = False,
    by_id: Annotated[
        bool,
        typer.Option(
            "--by-id", help="Match columns by the ids of the schema history, so that renamed columns keep their values."
        ),
    ] = False,
    engine: Annotated[str | None, typer.Option(metavar="NAME", help="Engine that reads; default: the reference.")] = None,
    format: Annotated[Format, typer.Option("--format", help="Output format.")] = "table",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Output file; - or none: standard output.")
    ] = None,
) -> None:
    """Read a table and print its rows."""
    if format in ("arrow", "parquet") and output is None and sys.stdout.isatty():
        raise typer.BadParameter(f"{format} is a binary format; give a file with -o")
    wanted = replace(_query(query, as_of, begin, end, columns, where), by_id=by_id)
    with exit_on_errors(), bounded_memory() if engine is None else nullcontext():
        rows = _through_reference(table, wanted, meta) if engine is None else [_through(engine, table, wanted, meta)]
        if output is None or str(output) == "-":
            write_rows(rows, format, sys.stdout.buffer)
            sys.stdout.buffer.flush()
        else:
            _write_file(rows, format, output)


def _write_file(rows: "Iterable[pa.Table]", format: Format, output: Path) -> None:
    """Write the rows slice by slice; if a slice cannot be read, the incomplete output file is deleted."""
    if output.exists() and not output.is_file():  # for example a pipe
        with output.open("wb") as stream:
            return write_rows(rows, format, stream)
    unfinished = output.with_name(f".{output.name}.unfinished")
    try:
        with unfinished.open("wb") as file:
            write_rows(rows, format, file)
        unfinished.replace(output)
    finally:
        unfinished.unlink(missing_ok=True)


def _query(
    kind: Kind | None, as_of: str | None, begin: str | None, end: str | None, columns: str | None, where: str | None
) -> Query:
    """The query of the options; an instant implies the query type."""
    kind = kind or ("as-of" if as_of else "incremental" if begin or end else "snapshot")
    if (kind == "as-of") != (as_of is not None):
        raise typer.BadParameter("--as-of is required for as-of queries, and allowed only for them")
    if (begin or end) and kind not in ("incremental", "cdc"):
        raise typer.BadParameter("--begin and --end are allowed only for incremental and cdc queries")
    try:
        comparisons = () if where is None else parse_predicates(where)
    except InvalidWhere as error:
        raise typer.BadParameter(f"--where: {error}") from None
    names = None if columns is None else tuple(c.strip() for c in columns.split(",") if c.strip())
    assert kind in get_args(Kind)
    return Query(kind, as_of, begin, end, names, comparisons)


def _through_reference(table: str, query: Query, meta: bool) -> "Iterator[pa.Table]":
    """The rows of the reference, slice by slice if the query type permits; meta columns only on request."""
    from hudi_reference import open_table

    opened: Any = open_table(table, schema_on_read=query.by_id)
    chosen: dict[str, Any] = {"columns": query.columns, "where": query.where}
    match query.kind:
        case "snapshot":
            parts = opened.batches(**chosen)
        case "read-optimized":
            parts = opened.batches(**chosen, logs=False)
        case "as-of":
            parts = opened.batches(**chosen, as_of=query.as_of)
        case "incremental":
            parts = iter([opened.incremental(query.begin, query.end, **chosen)])
        case "cdc":
            parts = iter([opened.changes(query.begin, query.end, **chosen)])
    unwanted = () if meta or query.columns is not None else META
    return (part.drop_columns([name for name in part.column_names if name in unwanted]) for part in parts)


def _through(engine: str, table: str, query: Query, meta: bool) -> "pa.Table":
    """The rows of another engine, through the contract."""
    uri = table if "://" in table else Path(table).resolve().as_uri()
    with closing(connect(engine, progress=lambda line: typer.echo(line, err=True))) as client:
        rows = client.read(uri, query)
        if meta and query.columns is None:
            named = Query(**{**vars(query), "columns": (*META, *rows.column_names)})
            rows = client.read(uri, named)
        return rows
