"""Plans of compactions and clusterings that do not fit the table: a plan in storage may come from another program, or may have
been changed. The rows stay, whether the engine executes the plan or refuses it.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.contract.messages import Service
from hudi_conformance.suite.support.actions_by_hand import edit_plan, timeline_folder
from hudi_conformance.suite.support.concurrent.in_process import only_engines_of_this_project
from hudi_conformance.suite.support.programs.write_programs import Step, row
from hudi_conformance.suite.support.tables.metadata_tables import LISTED
from hudi_conformance.suite.support.tables.tables_under_services import Json
from hudi_conformance.suite.support.tables.tables_with_logs import DUE, JOIN, LoggedTable
from hudi_conformance.suite.support.tables.written_tables import contents_of_data

#: Two file groups with three log files each; every order of the log files, and each one left out, gives other rows.
STEPS = (
    Step("upsert", (row("a", 10, "first"), row("c", 10, "first", "rio"))),
    Step("upsert", (row("a", 20, "second"), row("c", 20, "second", "rio"))),
    Step("delete", (row("a", 0, "gone"), row("c", 0, "gone", "rio"))),
    Step("upsert", (row("a", 5, "back"), row("c", 5, "back", "rio"))),
)
Edit = Callable[[list[Json]], None]


def reverse_logs(operations: list[Json]) -> None:
    """Each slice has its log files in reverse order."""
    for one in operations:
        one["deltaFilePaths"] = sorted(one["deltaFilePaths"], reverse=True)


def leave_out(place: int) -> Edit:
    """Return an edit that leaves out one log file of each slice."""

    def edit(operations: list[Json]) -> None:
        for one in operations:
            logs = sorted(one["deltaFilePaths"])
            del logs[place]
            one["deltaFilePaths"] = logs

    return edit


def exchange_groups(operations: list[Json]) -> None:
    """Each of two slices has the files of the other one's group, under its own id."""
    first, second = operations
    for key in ("deltaFilePaths", "dataFilePath", "partitionPath"):
        first[key], second[key] = second[key], first[key]


def repeat(operations: list[Json]) -> None:
    """The first slice stands in the plan twice."""
    operations.append(operations[0])


@dataclass(frozen=True)
class Plan:
    """A service, the file of its plan, and how the plan is changed."""

    service: Service
    edit: Edit

    @property
    def extension(self) -> str:
        """The end of the name of its requested file."""
        return f"{self.service.replace('-', '')}.requested"


PLANS: Mapping[str, Plan] = {
    **{f"{service}-reversed": Plan(service, reverse_logs) for service in ("compaction", "log-compaction")},
    **{f"{service}-with-exchanged-groups": Plan(service, exchange_groups) for service in ("compaction", "log-compaction")},
    **{f"{service}-of-a-group-twice": Plan(service, repeat) for service in ("compaction", "log-compaction")},
    "compaction-without-the-oldest-log-file": Plan("compaction", leave_out(0)),
    "compaction-without-the-newest-log-file": Plan("compaction", leave_out(-1)),
    "log-compaction-without-the-log-file-between": Plan("log-compaction", leave_out(1)),
}


def execute(table: LoggedTable, service: Service, instant: str) -> None:
    """Execute a plan. If it is refused, no data file has changed, and the plan can be withdrawn."""
    before = contents_of_data(table.uri)
    try:
        table.engine.service(table.uri, service, phase="execute", instant=instant, options={**DUE, **JOIN, **LISTED})
    except ContractError:
        assert contents_of_data(table.uri) == before, "the plan was refused after data files had changed"


@pytest.mark.needs(
    "create", "write.upsert", "write.delete", "merge-on-read", "partition.plain", "read.snapshot", "read.projection",
    "service.compaction", "service.log-compaction", "merge.event-time",
)  # fmt: skip
@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.requirements("TL-015", "CMP-003", "LCP-001", "CMP-001")
@pytest.mark.leaves_damage("it edits the plan")
def test_a_planned_compaction_changes_no_row(engine: Client, new_uri: Callable[[], str], plan: str) -> None:
    """TL-015: the plan of a compaction names the files of each slice. A plan with these files in another order, without one of
    them, with those of another file group, or with a slice twice, changes no row: it is executed as if it were right, or
    refused before anything changes.
    """
    only_engines_of_this_project(engine, "whether an engine may trust a plan that is stored in the table")
    table = LoggedTable(engine, new_uri()).write(*STEPS, options=dict(LISTED))
    changed = PLANS[plan]
    instant = table.schedule(changed.service)

    def edit(record: Json) -> None:
        assert len(record["operations"]) == 2
        changed.edit(record["operations"])

    edit_plan(table.uri, f"{instant}.{changed.extension}", edit)
    execute(table, changed.service, instant)
    table.check_rows("after the plan")


@pytest.mark.needs(
    "create", "write.upsert", "write.delete", "merge-on-read", "partition.plain", "read.snapshot", "read.projection",
    "service.compaction", "service.rollback", "merge.event-time",
)  # fmt: skip
@pytest.mark.parametrize("state", ["requested", "inflight"])
@pytest.mark.requirements("TL-034", "SVC-005")
@pytest.mark.leaves_damage("it renames the plan")
def test_a_plan_at_the_time_of_a_write_leaves_its_files(engine: Client, new_uri: Callable[[], str], state: str) -> None:
    """TL-034: a requested time belongs to one action. The plan of a compaction has that of a completed write, whose files have
    this time in their names: neither its execution nor its rollback deletes them.
    """
    only_engines_of_this_project(engine, "whether an engine may trust a plan that is stored in the table")
    table = LoggedTable(engine, new_uri()).write(*STEPS, options=dict(LISTED))
    instant, folder, time = table.schedule(), timeline_folder(table.uri), table.times[1]
    (folder / f"{instant}.compaction.requested").rename(folder / f"{time}.compaction.requested")
    if state == "inflight":
        (folder / f"{time}.compaction.inflight").touch()
    files = contents_of_data(table.uri).keys()
    execute(table, "compaction", time)
    with suppress(ContractError):
        engine.service(table.uri, "rollback", instant=time)
    assert files <= contents_of_data(table.uri).keys(), "files of the write were deleted"
    for path in folder.glob(f"{time}.compaction.*"):  # while they are there, a read may be an error
        path.unlink()
    table.check_rows("without the plan")


@pytest.mark.needs(
    "create", "write.upsert", "write.delete", "merge-on-read", "partition.plain", "read.snapshot", "read.projection",
    "service.clustering", "merge.event-time",
)  # fmt: skip
@pytest.mark.requirements("CLU-007", "SVC-009")
@pytest.mark.leaves_damage("it edits the plan")
def test_a_planned_clustering_of_a_group_twice_changes_no_row(engine: Client, new_uri: Callable[[], str]) -> None:
    """CLU-007: the new file groups of a clustering have the rows of the old ones. A plan that names a file group twice stores
    no row twice: it is refused before anything changes.
    """
    only_engines_of_this_project(engine, "whether an engine may trust a plan that is stored in the table")
    table = LoggedTable(engine, new_uri()).write(*STEPS, options=dict(LISTED))
    instant = engine.service(table.uri, "clustering", phase="schedule", options={"hoodie.clustering.inline.max.commits": "1"})
    assert instant is not None

    def edit(record: Json) -> None:
        groups = record["clusteringPlan"]["inputGroups"]
        groups[0]["slices"] = [*groups[0]["slices"], groups[0]["slices"][0]]

    edit_plan(table.uri, f"{instant}.clustering.requested", edit)
    execute(table, "clustering", instant)
    table.check_rows("after the plan")
