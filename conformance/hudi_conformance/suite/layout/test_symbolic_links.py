"""Symbolic links below the base path: what they lead to is not part of the table, and stays as it is."""

import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.suite.support.concurrent.in_process import only_engines_of_this_project
from hudi_conformance.suite.support.programs.write_programs import as_arrow, row
from hudi_conformance.suite.support.tables.tables_under_services import (
    WRITES,
    Known,
    create_updated_table,
    keep_versions,
    read_snapshot,
)
from hudi_conformance.suite.support.tables.written_tables import files_below, table_folder

LINKS = pytest.mark.needs(*WRITES, "copy-on-write")
#: The actions that an engine performs on the copy of a table.
ACTIONS: Mapping[str, Callable[[Client, str, Known], object]] = {
    "clean": lambda engine, uri, table: engine.service(uri, "clean", options=keep_versions(1)),
    "rollback": lambda engine, uri, table: engine.service(uri, "rollback", instant=table.instants[-1]),
    "restore": lambda engine, uri, table: engine.service(uri, "restore", instant=table.instants[0]),
    "upsert": lambda engine, uri, table: engine.write(uri, "upsert", as_arrow([row("a", 90, "in the copy")])),
}


def copy_with_link(table: Known) -> str:
    """Copy a table, with a link to the original in the place of one partition folder; return the URI of the copy."""
    folder = table_folder(table.uri)
    copy = folder.with_name(f"{folder.name}-copy")
    shutil.copytree(folder, copy)
    shutil.rmtree(copy / "oslo")
    (copy / "oslo").symlink_to(folder / "oslo")
    return copy.as_uri()


@LINKS
@pytest.mark.requirements("LAY-005")
@pytest.mark.parametrize(
    "action",
    [
        pytest.param("clean", marks=[pytest.mark.needs("service.clean"), pytest.mark.requirements("CLN-001", "CLN-002")]),
        pytest.param("rollback", marks=[pytest.mark.needs("service.rollback"), pytest.mark.requirements("TL-019")]),
        pytest.param("restore", marks=[pytest.mark.needs("service.restore"), pytest.mark.requirements("TL-023")]),
        "upsert",
    ],
)
@pytest.mark.leaves_damage("it makes a link")
def test_a_copy_with_a_linked_partition_leaves_the_original(engine: Client, new_uri: Callable[[], str], action: str) -> None:
    """LAY-005: a partition folder of a copy is a link to that of the original. Services on the copy and writes to it neither
    delete nor add files in the original; they may be refused.
    """
    only_engines_of_this_project(engine, "whether an engine follows symbolic links")
    table = create_updated_table(engine, new_uri(), 3)
    copy, before = copy_with_link(table), files_below(table_folder(table.uri))
    with suppress(ContractError):
        ACTIONS[action](engine, copy, table)
    assert files_below(table_folder(table.uri)) == before, f"the {action} of the copy changed files of the original"
    assert read_snapshot(engine, table.uri) == table.rows[-1]
