"""`hudi-conformance read`: the rows of a table, through the reference or through any engine."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import typer

from hudi_conformance.commands.error_handling import telling_errors
from hudi_conformance.commands.predicates import InvalidWhere, parse
from hudi_conformance.commands.row_formats import Format, write
from hudi_conformance.contract.messages import Query
from hudi_conformance.engines.registry import connect

if TYPE_CHECKING:
    import pyarrow as pa

META = ("_hoodie_commit_time", "_hoodie_commit_seqno", "_hoodie_record_key", "_hoodie_partition_path", "_hoodie_file_name")

Kind = Literal["snapshot", "read-optimized", "as-of", "incremental", "cdc"]


def read(
    table: Annotated[str, typer.Argument(help="Folder or URI of the table.")],
    query: Annotated[Kind | None, typer.Option("--query", help="What to read; a snapshot if nothing else is said.")] = None,
    as_of: Annotated[str | None, typer.Option("--as-of", metavar="T", help="The rows as they were at this instant.")] = None,
    begin: Annotated[str | None, typer.Option(metavar="T", help="What completed after this point of the timeline.")] = None,
    end: Annotated[str | None, typer.Option(metavar="T", help="What completed up to this point.")] = None,
    columns: Annotated[str | None, typer.Option(metavar="A,B,...", help="Columns of the result, in this order.")] = None,
    where: Annotated[str | None, typer.Option(metavar="TEXT", help="As in: price > 5 and city = 'x'")] = None,
    meta: Annotated[bool, typer.Option("--meta", help="The five _hoodie_ columns too.")] = False,
    by_id: Annotated[bool, typer.Option("--by-id", help="Renamed columns keep their values, by the schema history.")] = False,
    engine: Annotated[str | None, typer.Option(metavar="NAME", help="Read through an engine; the reference if none.")] = None,
    format: Annotated[Format, typer.Option("--format", help="How the rows are written.")] = "table",
    output: Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE", help="Where to; - or nothing: here.")] = None,
) -> None:
    """Read a table and print its rows."""
    if format in ("arrow", "parquet") and output is None and sys.stdout.isatty():
        raise typer.BadParameter(f"{format} is not for the eye; give a file with -o")
    wanted = replace(_query(query, as_of, begin, end, columns, where), by_id=by_id)
    with telling_errors():
        rows = _through_reference(table, wanted, meta) if engine is None else [_through(engine, table, wanted, meta)]
        if output is None or str(output) == "-":
            write(rows, format, sys.stdout.buffer)
            sys.stdout.buffer.flush()
        else:
            _write_file(rows, format, output)


def _write_file(rows: "Iterable[pa.Table]", format: Format, output: Path) -> None:
    """Rows come one file slice after the other; if one of them cannot be read, no part of the others is left."""
    if output.exists() and not output.is_file():  # a pipe, say
        with output.open("wb") as stream:
            return write(rows, format, stream)
    unfinished = output.with_name(f".{output.name}.unfinished")
    try:
        with unfinished.open("wb") as file:
            write(rows, format, file)
        unfinished.replace(output)
    finally:
        unfinished.unlink(missing_ok=True)


def _query(
    kind: Kind | None, as_of: str | None, begin: str | None, end: str | None, columns: str | None, where: str | None
) -> Query:
    """The query that the options mean: an instant says of itself what it is for."""
    kind = kind or ("as-of" if as_of else "incremental" if begin or end else "snapshot")
    if (kind == "as-of") != (as_of is not None):
        raise typer.BadParameter("a query as of an instant needs --as-of, and no other query takes it")
    if (begin or end) and kind not in ("incremental", "cdc"):
        raise typer.BadParameter("--begin and --end are for incremental and cdc queries")
    try:
        comparisons = () if where is None else parse(where)
    except InvalidWhere as error:
        raise typer.BadParameter(f"--where: {error}") from None
    names = None if columns is None else tuple(c.strip() for c in columns.split(",") if c.strip())
    assert kind in get_args(Kind)
    return Query(kind, as_of, begin, end, names, comparisons)


def _through_reference(table: str, query: Query, meta: bool) -> "Iterator[pa.Table]":
    """The rows as the reference reads them, slice by slice where the query allows; meta columns only where they are wanted."""
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
    """The rows as another engine reads them, through the contract."""
    uri = table if "://" in table else Path(table).resolve().as_uri()
    with closing(connect(engine, progress=lambda line: typer.echo(line, err=True))) as client:
        rows = client.read(uri, query)
        if meta and query.columns is None:
            named = Query(**{**vars(query), "columns": (*META, *rows.column_names)})
            rows = client.read(uri, named)
        return rows
