"""`hudi-conformance migrate`: migrate a table from version 6 to version 8."""

from typing import Annotated

import typer

from hudi_conformance.commands.error_handling import telling_errors


def migrate(
    table: Annotated[str, typer.Argument(help="Folder or URI of the table.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be done, and change nothing.")] = False,
) -> None:
    """Migrate a table from version 6 to version 8. No writer may be active meanwhile."""
    from hudi_reference import migrate as act

    with telling_errors():
        done = act(table, dry_run=dry_run)
    if not (done.properties or done.compacted or done.removed):
        typer.echo("The table has version 8 already, and no instants of an older timeline.")
        return
    for path in done.created:
        typer.echo(f"create  {path}")
    if done.archived:
        typer.echo(f"archive {len(done.archived)} actions, {done.archived[0]} to {done.archived[-1]}")
    for key, value in sorted(done.properties.items()):
        typer.echo(f"set     {key}={value}")
    for key in done.dropped:
        typer.echo(f"unset   {key}")
    for path in done.compacted:
        typer.echo(f"compact {path}")
    for path in done.removed:
        typer.echo(f"delete  {path}")
    if dry_run:
        typer.echo("Nothing was changed. Stop all writers, then run the command without --dry-run.")
