"""Crashed writers across implementations: each engine rolls back the write of the other one and finds its files by markers."""

from pathlib import Path

import pytest

from hudi_conformance.contract import EngineError
from hudi_conformance.contract.client import Client
from hudi_conformance.engines.registry import connect
from hudi_conformance.suite.support.concurrent.pending_writes import LATE, SEVERAL_WRITERS, begin_write
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, Program, as_arrow, row
from hudi_conformance.suite.support.tables.tables_under_services import (
    create_updated_table,
    data_file_names,
    instant_files,
    pending_actions,
    read_snapshot,
)
from hudi_conformance.suite.support.tables.written_tables import table_folder
from hudi_reference import open_table, rollback

pytestmark = [pytest.mark.apache_hudi, pytest.mark.slow]

#: A check before the commit that no table passes: the write crashes with all its files stored.
CRASHES = {
    "hoodie.precommit.validators": "org.apache.hudi.client.validator.SqlQuerySingleResultPreCommitValidator",
    "hoodie.precommit.validators.single.value.sql.queries": "select count(*) from <TABLE_NAME>#-1",
}
DIRECT = {"hoodie.write.markers.type": "DIRECT"}
BY_SERVER = {"hoodie.write.markers.type": "TIMELINE_SERVER_BASED", "hoodie.embed.timeline.server": "true"}


#: Several writers that look for markers of each other before they store a file.
EARLY = {**SEVERAL_WRITERS, "hoodie.write.concurrency.early.conflict.detection.enable": "true"}


@pytest.fixture
def uri(tmp_path: Path) -> str:
    return (tmp_path / "table").as_uri()


def temporary(uri: str) -> list[str]:
    """The paths below the folder of all markers, without checksum files of Hadoop's local file system."""
    home = table_folder(uri) / ".hoodie" / ".temp"
    return sorted(str(path.relative_to(home)) for path in home.rglob("*") if path.suffix != ".crc")


@BOTH_TYPES
@pytest.mark.parametrize("creator", ["reference", "apache-hudi"])
def test_apache_hudi_detects_conflicts_early_after_a_write_of_the_reference(
    hudi: Client, uri: str, type: str, creator: str
) -> None:
    """Its early conflict detection lists the folder of all markers, which the reference keeps, and makes with a table."""
    with connect("reference") as reference:
        (reference if creator == "reference" else hudi).create(uri, Program(type, "EVENT_TIME_ORDERING", True).spec())
    open_table(uri).insert(as_arrow([row("a", 1, "first")]))
    hudi.write(uri, "upsert", as_arrow([row("a", 2, "second")]), options=EARLY)
    open_table(uri).upsert(as_arrow([row("a", 3, "third")]))
    hudi.write(uri, "upsert", as_arrow([row("b", 4, "fourth")]), options=EARLY)
    assert sorted(one["value"] for one in read_snapshot(hudi, uri)) == ["fourth", "third"]


@BOTH_TYPES
@pytest.mark.parametrize("by", ["service", "next write"])
def test_apache_hudi_rolls_back_a_crashed_writer_of_the_reference_by_markers(
    hudi: Client, uri: str, type: str, by: str
) -> None:
    """With default settings, Apache Hudi's rollback removes the instant and each file: log files, new and rewritten base files."""
    known = create_updated_table(hudi, uri, 2, type)
    before = data_file_names(uri)
    failed = begin_write(uri)
    assert len(failed.files) == len([name for name in temporary(uri) if ".marker." in name]) == 2
    if by == "service":
        hudi.service(uri, "rollback", instant=failed.instant)
        assert data_file_names(uri) == before
        assert read_snapshot(hudi, uri) == known.rows[-1]
    else:
        hudi.write(uri, "upsert", as_arrow([row("b", 50, "afterwards")]))
        assert [r["value"] for r in read_snapshot(hudi, uri)] == ["update 3", "afterwards", "x"]
    assert failed.files.isdisjoint(data_file_names(uri))
    assert not [name for name in instant_files(uri) if name.startswith(failed.instant)]
    assert not [name for name in temporary(uri) if failed.instant in name]
    assert pending_actions(hudi, uri) == []


@BOTH_TYPES
@pytest.mark.parametrize("markers", [DIRECT, BY_SERVER], ids=["direct", "by-server"])
def test_the_reference_rolls_back_a_crashed_writer_of_apache_hudi(
    hudi: Client, uri: str, type: str, markers: dict[str, str]
) -> None:
    """The reference's rollback removes the instant, its files, and the markers of either kind."""
    known = create_updated_table(hudi, uri, 2, type)
    before = data_file_names(uri)
    with pytest.raises(EngineError):
        hudi.write(uri, "upsert", as_arrow(LATE), options=CRASHES | markers)
    (failed,) = open_table(uri).timeline.pending
    left = data_file_names(uri) - before
    files = [path for path in (table_folder(uri) / ".hoodie" / ".temp").rglob("*") if path.is_file()]
    found = "".join(path.read_text() if path.name.startswith("MARKERS") else path.name for path in files)
    assert len(left) == 2
    assert {f"{name}.marker.{'CREATE' if '.log.' in name else 'MERGE'}" in found for name in left} == {True}
    rollback(open_table(uri), failed.requested)
    assert data_file_names(uri) == before
    assert [name for name in temporary(uri) if failed.requested in name] == []
    assert pending_actions(hudi, uri) == []
    assert read_snapshot(hudi, uri) == known.rows[-1]
