"""`hudi-conformance service`: run table services of the reference after a preview."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

import typer
from rich.table import Table as Shown

from hudi_conformance.commands.error_handling import exit_on_errors
from hudi_conformance.console import SafeConsole
from hudi_reference.query.table import Table
from hudi_reference.services.archive.archive import archive
from hudi_reference.services.clean.clean import clean, files_of_clean
from hudi_reference.services.clustering.clustering import cluster
from hudi_reference.services.clustering.plan import plan_clustering
from hudi_reference.services.clustering.plan_record import InputGroup, parse_clustering_plan
from hudi_reference.services.compaction.compaction import compact, plan_compaction
from hudi_reference.services.compaction.log_compaction import log_compact, plan_log_compaction
from hudi_reference.services.indexing.indexing import index, indexes_to_build
from hudi_reference.services.indexing.named_indexes import drop_index, plan_drop
from hudi_reference.services.planning.compaction_plan import Operation, operations_in
from hudi_reference.services.planning.plan_execution import pending_of, read_plan
from hudi_reference.services.rollback.failed_writes import plans_before_clean
from hudi_reference.services.rollback.restore import files_of_restore, plan_restore, restore
from hudi_reference.services.rollback.rollback import RollbackPlan, plan_rollback, rollback
from hudi_reference.services.rollback.savepoint import delete_savepoint, savepoint, savepoint_files
from hudi_reference.services.withdrawal import plan_to_withdraw, withdraw_plan
from hudi_reference.tables import open_table
from hudi_reference.timeline.instants.instant import Instant

Name = Literal[
    "clean", "compaction", "log-compaction", "clustering", "rollback", "savepoint", "delete-savepoint", "restore", "archive",
    "index", "drop-index", "withdraw",
]  # fmt: skip
Options = Mapping[str, str]


@dataclass(frozen=True)
class Job:
    """One service: what it concerns, its preview as (what happens, to what), and its execution, which returns the requested
    time or None.
    """

    concerns: Literal["the table", "an instant", "an index"]
    preview: Callable[[Table, str, Options], list[tuple[str, str]]]
    do: Callable[[Table, str, Options], str | None]


def _clean_preview(table: Table, _: str, options: Options) -> list[tuple[str, str]]:
    rolled_back = [step for plan in plans_before_clean(table, options) for step in _steps_of_rollback(plan)]
    return [*rolled_back, *(("delete", path) for path in files_of_clean(table, options))]


def _compaction_preview(table: Table, _: str, options: Options) -> list[tuple[str, str]]:
    return [*_planned(table, "compaction", "compact"), *_steps("compact", plan_compaction(table, options))]


def _log_compaction_preview(table: Table, _: str, options: Options) -> list[tuple[str, str]]:
    return [*_planned(table, "logcompaction", "join"), *_steps("join", plan_log_compaction(table, options))]


def _planned(table: Table, action: str, verb: str) -> list[tuple[str, str]]:
    """The preview of pending plans."""
    plans = [read_plan(table, action, pending.requested) for pending in pending_of(table.timeline, action)]
    return [step for plan in plans for step in _steps(verb, operations_in(plan))]


def _steps(verb: str, operations: Iterable[Operation]) -> list[tuple[str, str]]:
    found = (operation.file_slice for operation in operations)
    return [(verb, f"{slice_.path(slice_.file_id)}  {len(slice_.log_files)} log files") for slice_ in found]


def _clustering_preview(table: Table, _: str, options: Options) -> list[tuple[str, str]]:
    pending = pending_of(table.timeline, "clustering")
    plans = [parse_clustering_plan(read_plan(table, "clustering", found.requested)) for found in pending]
    groups = [group for plan in (*plans, plan_clustering(table, options)) for group in plan.groups]
    return [("rewrite", _rewriting(group)) for group in groups]


def _rewriting(group: InputGroup) -> str:
    ids = ", ".join(file_id for _, file_id in group.members)
    return f"{group.partition or 'the table'}  {ids}  into {group.outputs}"


def _rollback_preview(table: Table, instant: str, _: Options) -> list[tuple[str, str]]:
    return _steps_of_rollback(plan_rollback(table, instant))


def _steps_of_rollback(plan: RollbackPlan) -> list[tuple[str, str]]:
    return [("undo", f"{plan.target} {plan.action}"), *(("delete", path) for path in plan.files)]


def _restore_preview(table: Table, instant: str, _: Options) -> list[tuple[str, str]]:
    plan = plan_restore(table, instant)
    rolled_back = [("undo", f"{time} {action}") for time, action in plan.writes]
    return [*rolled_back, *(("delete", path) for path in files_of_restore(table, plan))]


def _withdraw_preview(table: Table, instant: str, _: Options) -> list[tuple[str, str]]:
    return [("withdraw", f"{instant} {plan_to_withdraw(table, instant).action}")]


def _archive_preview(table: Table, _: str, options: Options) -> list[tuple[str, str]]:
    plan = archive(table, options, dry_run=True)
    return [*(("move", f"{i.requested} {i.action}") for i in plan.instants), *(("delete", path) for path in plan.to_delete)]


def _archive(table: Table, _: str, options: Options) -> str | None:
    """Archive; returns the newest archived instant, because archiving has no instant of its own."""
    going = archive(table, options).instants
    return going[-1].requested if going else None


def _index_preview(table: Table, _: str, options: Options) -> list[tuple[str, str]]:
    pending = pending_of(table.timeline, "indexing")
    return [("build", name) for name in (*_in_plans(table, pending), *indexes_to_build(table, options))]


def _in_plans(table: Table, pending: Iterable[Instant]) -> list[str]:
    plans = (read_plan(table, "indexing", found.requested) for found in pending)
    return [info["metadataPartitionPath"] for plan in plans for info in plan["indexPartitionInfos"] or ()]


def _drop_preview(table: Table, name: str, _: Options) -> list[tuple[str, str]]:
    plan = plan_drop(table, name)
    return [*(("drop", partition) for partition in plan.partitions), *(("delete", path) for path in plan.files)]


def _drop(table: Table, name: str, _: Options) -> str | None:
    return name if drop_index(table, name) else None


JOBS: Mapping[Name, Job] = {
    "clean": Job("the table", _clean_preview, lambda table, _, options: clean(table, options)),
    "compaction": Job("the table", _compaction_preview, lambda table, _, options: compact(table, options)),
    "log-compaction": Job("the table", _log_compaction_preview, lambda table, _, options: log_compact(table, options)),
    "clustering": Job("the table", _clustering_preview, lambda table, _, options: cluster(table, options)),
    "rollback": Job("an instant", _rollback_preview, lambda table, instant, _: rollback(table, instant)),
    "savepoint": Job(
        "an instant",
        lambda table, instant, _: [("protect", path) for path in savepoint_files(table, instant)],
        lambda table, instant, _: savepoint(table, instant),
    ),
    "delete-savepoint": Job(
        "an instant",
        lambda _, instant, __: [("give free", f"{instant} savepoint")],
        lambda table, instant, _: delete_savepoint(table, instant),
    ),
    "restore": Job("an instant", _restore_preview, lambda table, instant, _: restore(table, instant)),
    "archive": Job("the table", _archive_preview, _archive),
    "index": Job("the table", _index_preview, lambda table, _, options: index(table, options)),
    "drop-index": Job("an index", _drop_preview, _drop),
    "withdraw": Job("an instant", _withdraw_preview, lambda table, instant, _: withdraw_plan(table, instant)),
}


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
        opened = open_table(table, options=_of_the_metadata_table(options) if name != "index" else None)
        concerned = instant or index_name or ""
        steps = job.preview(opened, concerned, options)
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


def _show(steps: list[tuple[str, str]]) -> None:
    shown = Shown(box=None, show_header=False)
    shown.add_column(style="bold")
    shown.add_column(overflow="fold")
    for step in steps:
        shown.add_row(*step)
    SafeConsole().print(shown if steps else "nothing to do")
