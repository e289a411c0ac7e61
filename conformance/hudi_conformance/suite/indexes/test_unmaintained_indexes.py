"""Actions that cannot keep the indexes of a table up to date: they change nothing.

Services change a table whose metadata table another engine wrote; writes have settings of an index that are invalid.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.suite.support.concurrent.in_process import only_engines_of_this_project
from hudi_conformance.suite.support.programs.write_programs import BOTH_TYPES, Program, as_arrow, row
from hudi_conformance.suite.support.tables.metadata_tables import LISTED, RECORDS, completion_times
from hudi_conformance.suite.support.tables.tables_under_services import copy_golden_table, sort_rows
from hudi_conformance.suite.support.tables.written_tables import Type, files_below, table_folder

#: A table with a metadata table that has column statistics, written by Apache Hudi in two commits.
GOLDEN = "layout.with-metadata-table"
READS = ("read.snapshot", "merge-on-read", "log.avro", "merge.event-time", "partition.plain")
#: What is done to the table, given the requested times of its two commits.
SERVICES: Mapping[str, Callable[[Client, str, list[str]], str | None]] = {
    "compaction": lambda engine, uri, times: engine.service(
        uri, "compaction", options={"hoodie.compact.inline.max.delta.commits": "1"}
    ),
    "clustering": lambda engine, uri, times: engine.service(uri, "clustering"),
    "rollback": lambda engine, uri, times: engine.service(uri, "rollback", instant=times[-1]),
    "restore": lambda engine, uri, times: engine.service(uri, "restore", instant=times[0]),
}


@pytest.mark.needs(*READS)
@pytest.mark.requirements("PROP-001")
@pytest.mark.parametrize("service", [pytest.param(name, marks=pytest.mark.needs(f"service.{name}")) for name in SERVICES])
def test_services_maintain_indexes_or_change_nothing(engine: Client, tmp_path: Path, service: str) -> None:
    """PROP-001: the table lists column statistics among its indexes. A service that maintains them completes on the timeline of
    the metadata table first; one that does not maintain them is refused before it writes or deletes a file. No engine maintains
    an index of an unknown kind.
    """
    only_engines_of_this_project(engine, "what a service does about indexes that it does not maintain")
    uri, times = copy_golden_table(GOLDEN, tmp_path)
    folder, rows = table_folder(uri), sort_rows(engine.read(uri, Query()))
    files = files_below(folder)
    try:
        instant = SERVICES[service](engine, uri, times)
    except ContractError:
        assert files_below(folder) == files, "the service was refused after it had changed files"
    else:
        if instant is not None and service in ("compaction", "clustering"):
            data, metadata = completion_times(folder), completion_times(folder / ".hoodie" / "metadata")
            assert metadata.get(instant, "never") < data[instant]
    if service in ("compaction", "clustering"):
        assert sort_rows(engine.read(uri, Query())) == rows
    (tmp_path / "unknown").mkdir()
    uri, times = copy_golden_table(GOLDEN, tmp_path / "unknown")
    properties, listed = table_folder(uri) / ".hoodie" / "hoodie.properties", "hoodie.table.metadata.partitions="
    known = properties.read_text()
    properties.write_text(known.replace(listed, f"{listed}unknown_index,"))
    files = files_below(table_folder(uri))
    with pytest.raises(ContractError):
        SERVICES[service](engine, uri, times)
    assert files_below(table_folder(uri)) == files, "the service was refused after it had changed files"
    properties.write_text(known)


#: Settings of the record index by Hudi's names, with values that are no numbers, or none that are allowed.
INVALID: Mapping[str, str] = {
    "hoodie.metadata.record.index.min.filegroup.count": "few",
    "hoodie.metadata.record.index.max.filegroup.count": "0",
    "hoodie.metadata.record.index.growth.factor": "fast",
}


@BOTH_TYPES
@pytest.mark.needs("create", "write.upsert", "read.snapshot", "partition.plain")
@pytest.mark.requirements("OCC-020")
@pytest.mark.parametrize("key", INVALID)
def test_a_write_with_an_invalid_setting_of_an_index_changes_nothing(
    engine: Client, new_uri: Callable[[], str], type: Type, key: str
) -> None:
    """OCC-020: a write brings the indexes up to date before it completes. If a setting of an index that it is about to create
    is invalid, it is refused before it writes a file or begins an action; the next write succeeds.
    """
    only_engines_of_this_project(engine, "when a writer checks its settings")
    uri = new_uri()
    engine.create(uri, Program(type, "EVENT_TIME_ORDERING", True).spec())
    files, rows = files_below(table_folder(uri)), as_arrow([row("a", 1, "first")])
    with pytest.raises(ContractError):
        engine.write(uri, "upsert", rows, options={**LISTED, **RECORDS, key: INVALID[key]})
    assert files_below(table_folder(uri)) == files, "the write was refused after it had changed files"
    engine.write(uri, "upsert", rows, options={**LISTED, **RECORDS})
    assert engine.read(uri, Query(columns=("id",))).column("id").to_pylist() == ["a"]
