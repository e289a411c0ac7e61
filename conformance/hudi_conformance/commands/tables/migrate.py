"""`hudi-conformance migrate`: migrate a table to another version."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from hudi_conformance.commands.error_handling import exit_on_errors
from hudi_conformance.commands.tables.bounded_memory import bounded_memory

if TYPE_CHECKING:
    from hudi_reference import Migration


@bounded_memory()
def migrate(
    table: Annotated[str, typer.Argument(help="Folder or URI of the table.")],
    to: Annotated[int | None, typer.Option("--to", metavar="8|9", help="The version; without it, version 6 becomes 8.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Change the table; without it, the changes are only shown.")] = False,
) -> None:
    """Migrate a table from version 6 to 8 or 9, or between 8 and 9. Stop all writers of the table first."""
    from hudi_reference import migrate as act

    with exit_on_errors():
        done = act(table, version=to, dry_run=not yes)
    for line in changes(done):
        typer.echo(line)
    if not done:
        typer.echo("The table has this version already, and no migration is unfinished.")
    elif not yes:
        typer.echo("Nothing was changed. Stop all writers, then run the command with --yes.")


def changes(done: "Migration") -> Iterator[str]:
    """One line for each change, in the order in which the changes are made."""
    yield from (f"create   {path}" for path in done.created)
    if done.archived:
        yield f"archive  {len(done.archived)} actions, {done.archived[0]} to {done.archived[-1]}"
    yield from (f"drop     index {name}" for name in done.dropped_indexes)
    yield from (f"rollback {requested}" for requested in done.rolled_back)
    yield from (f"compact  {path}" for path in done.compacted)
    yield from (f"define   index {one.partition} of version {one.version}" for one in done.defined_indexes)
    yield from (f"set      {key}={value}" for key, value in sorted(done.properties.items()))
    yield from (f"unset    {key}" for key in done.dropped)
    if done.metadata_version is not None:
        yield f"set      version {done.metadata_version} of the metadata table"
    yield from (f"delete   {path}" for path in done.removed)
