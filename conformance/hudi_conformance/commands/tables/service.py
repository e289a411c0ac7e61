"""`hudi-conformance service`: run table services of the reference after a preview."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

import typer
from rich.table import Table as Shown

from hudi_conformance.commands.error_handling import exit_on_errors
from hudi_conformance.commands.tables.bounded_memory import bounded_memory
from hudi_conformance.commands.tables.previews import (
    Options,
    Step,
    archive_steps,
    clean_steps,
    clustering_steps,
    compaction_steps,
    drop_index_steps,
    index_steps,
    log_compaction_steps,
    restore_steps,
    rollback_steps,
    savepoint_deletion_steps,
    savepoint_steps,
    settings_steps,
    withdrawal_steps,
)
from hudi_conformance.console import print_table
from hudi_reference.layout.properties import check_writable
from hudi_reference.query.table import Table
from hudi_reference.services.archive.archive import archive
from hudi_reference.services.clean.clean import clean
from hudi_reference.services.clustering.clustering import cluster
from hudi_reference.services.compaction.compaction import compact
from hudi_reference.services.compaction.log_compaction import log_compact
from hudi_reference.services.indexing.indexing import index
from hudi_reference.services.indexing.named_indexes import drop_index
from hudi_reference.services.rollback.restore import restore
from hudi_reference.services.rollback.rollback import rollback
from hudi_reference.services.rollback.savepoint import delete_savepoint, savepoint
from hudi_reference.services.setting_names import check_settings
from hudi_reference.services.withdrawal import withdraw_plan
from hudi_reference.tables import open_table

Name = Literal[
    "clean", "compaction", "log-compaction", "clustering", "rollback", "savepoint", "delete-savepoint", "restore", "archive",
    "index", "drop-index", "withdraw",
]  # fmt: skip


@dataclass(frozen=True)
class Job:
    """One service: what it concerns, the steps of its preview, and its execution, which returns the requested time or None."""

    concerns: Literal["the table", "an instant", "an index"]
    preview: Callable[[Table, str, Options], list[Step]]
    do: Callable[[Table, str, Options], str | None]


def _archive(table: Table, _: str, options: Options) -> str | None:
    """Archive; returns the newest archived instant, because archiving has no instant of its own."""
    going = archive(table, options).instants
    return going[-1].requested if going else None


def _drop(table: Table, name: str, _: Options) -> str | None:
    return name if drop_index(table, name) else None


JOBS: Mapping[Name, Job] = {
    "clean": Job("the table", clean_steps, lambda table, _, options: clean(table, options)),
    "compaction": Job("the table", compaction_steps, lambda table, _, options: compact(table, options)),
    "log-compaction": Job("the table", log_compaction_steps, lambda table, _, options: log_compact(table, options)),
    "clustering": Job("the table", clustering_steps, lambda table, _, options: cluster(table, options)),
    "rollback": Job("an instant", rollback_steps, lambda table, instant, _: rollback(table, instant)),
    "savepoint": Job(
        "an instant",
        savepoint_steps,
        lambda table, instant, _: savepoint(table, instant),
    ),
    "delete-savepoint": Job(
        "an instant",
        savepoint_deletion_steps,
        lambda table, instant, _: delete_savepoint(table, instant),
    ),
    "restore": Job("an instant", restore_steps, lambda table, instant, _: restore(table, instant)),
    "archive": Job("the table", archive_steps, _archive),
    "index": Job("the table", index_steps, lambda table, _, options: index(table, options)),
    "drop-index": Job("an index", drop_index_steps, _drop),
    "withdraw": Job("an instant", withdrawal_steps, lambda table, instant, _: withdraw_plan(table, instant)),
}


@bounded_memory()
def service(
    table: Annotated[str, typer.Argument(help="Folder or URI of the table.")],
    name: Annotated[Name, typer.Argument(metavar="SERVICE", help=f"One of {', '.join(JOBS)}.", show_choices=False)],
    instant: Annotated[
        str | None, typer.Option(metavar="T", help="Instant to roll back, to protect, to restore to, or to withdraw.")
    ] = None,
    index_name: Annotated[str | None, typer.Option("--index", metavar="NAME", help="Index to drop.")] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="Setting of the service, such as hoodie.clean.commits.retained=3; repeatable."
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be done, and change nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
) -> None:
    """Show what a table service would do, ask, and run it."""
    job = JOBS[name]
    _check_given(name, "--instant", instant, job.concerns == "an instant")
    _check_given(name, "--index", index_name, job.concerns == "an index")
    options = dict(map(_setting, setting or ()))
    with exit_on_errors():
        check_settings(options)
        opened = open_table(table, options=_of_the_metadata_table(options) if name != "index" else None)
        check_writable(opened.properties)  # a preview shows nothing that cannot be done
        concerned = instant or index_name or ""
        if steps := job.preview(opened, concerned, options):
            steps += settings_steps(opened)
        _show(steps)
        if dry_run or not steps or not (yes or typer.confirm(f"{name}?")):
            return
        typer.echo(job.do(opened, concerned, options) or "nothing to do")


def _check_given(name: str, option: str, value: str | None, is_needed: bool) -> None:
    if is_needed != (value is not None):
        raise typer.BadParameter(f"{name} {'needs' if is_needed else 'takes no'} {option}")


def _of_the_metadata_table(options: Options) -> Options:
    """The settings by which every service maintains or drops indexes."""
    return {key: value for key, value in options.items() if key.startswith("hoodie.metadata.")}


def _setting(text: str) -> tuple[str, str]:
    key, sign, value = text.partition("=")
    if not sign:
        raise typer.BadParameter(f"--set needs KEY=VALUE, found {text}")
    return key.strip(), value.strip()


def _show(steps: list[Step]) -> None:
    shown = Shown(box=None, show_header=False)
    shown.add_column(style="bold")
    shown.add_column(overflow="fold")
    for step in steps:
        shown.add_row(*step)
    if steps:
        print_table(shown)
    else:
        typer.echo("nothing to do")
