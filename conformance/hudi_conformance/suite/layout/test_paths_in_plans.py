"""The names of files in plans and metadata of services: absolute and normalized, whatever the caller wrote.

Deployed engines parse these names as URIs and compare them with the base path.
"""

from collections.abc import Callable

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.tables.tables_under_services import (
    WRITES,
    create_updated_table,
    keep_commits,
    read_instant_file,
    read_snapshot,
)
from hudi_conformance.suite.support.tables.written_tables import table_folder

#: Other spellings of the folder of a table.
SPELLINGS: dict[str, Callable[[str], str]] = {
    "as it is": lambda uri: uri,
    "slash at the end": lambda uri: f"{uri}/",
    "dot steps": lambda uri: f"{uri.rpartition('/')[0]}/./{uri.rpartition('/')[2]}",
    "a step back": lambda uri: f"{uri}/../{uri.rpartition('/')[2]}",
}


def check_absolute(paths: list[str], uri: str) -> None:
    """Check that the paths are below the base path, in one of the spellings of deployed engines."""
    folder = str(table_folder(uri))
    bases = tuple(f"{scheme}{folder}/" for scheme in ("", "file:", "file://"))
    assert paths, "no file is named"
    for path in paths:
        assert path.startswith(bases), f"{path} is not below {folder}"
        rest = path.partition(folder)[2].split("/")[1:]
        assert not {"", ".", ".."} & set(rest), f"{path} is not normalized"


@pytest.mark.needs(*WRITES, "service.clean", "copy-on-write")
@pytest.mark.requirements("TL-014")
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_clean_plans_name_absolute_paths(engine: Client, new_uri: Callable[[], str], spelling: str) -> None:
    """TL-014: the plan of a clean names files by absolute paths below the base path, for each spelling of the URI."""
    table = create_updated_table(engine, new_uri(), 3)
    engine.service(SPELLINGS[spelling](table.uri), "clean", options=keep_commits(1))
    (plan,) = (path.name[:17] for path in (table_folder(table.uri) / ".hoodie" / "timeline").glob("*.clean.requested"))
    _, record = read_instant_file(table.uri, plan, "clean.requested")
    infos = [info for found in record["filePathsToBeDeletedPerPartition"].values() for info in found]
    check_absolute([info["filePath"] for info in infos], table.uri)
    assert read_snapshot(engine, table.uri) == table.rows[-1]


@pytest.mark.needs(*WRITES, "service.rollback", "copy-on-write")
@pytest.mark.requirements("TL-019")
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_rollback_plans_name_absolute_paths(engine: Client, new_uri: Callable[[], str], spelling: str) -> None:
    """TL-019: the plan of a rollback names files by absolute paths below the base path, for each spelling of the URI."""
    table = create_updated_table(engine, new_uri(), 2)
    instant = engine.service(SPELLINGS[spelling](table.uri), "rollback", instant=table.instants[-1])
    assert instant is not None
    _, record = read_instant_file(table.uri, instant, "rollback.requested")
    requests = record["RollbackRequests"] or ()
    check_absolute([path for request in requests for path in request["filesToBeDeleted"]], table.uri)
    assert read_snapshot(engine, table.uri) == table.rows[-2]
