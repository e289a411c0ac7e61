"""Properties of damaged tables, checked on golden tables: committed data is read unchanged, or there is an error.

The answers are only compared with those of the same engine before the damage.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hudi_conformance.cases.case import copy_subject, load_case
from hudi_conformance.cases.schema import fixtures_root
from hudi_conformance.cases.verdict import describe_missing_features
from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.answers import Answers
from hudi_conformance.suite.support.damaged_tables import Changes, check_damages, expect_damaged
from hudi_conformance.suite.support.golden_queries import check_rows, read_snapshots
from hudi_conformance.suite.support.programs.table_programs import Budget
from hudi_conformance.suite.support.tables.written_tables import table_folder

#: The greatest number of damaged files in a table. The last files are chosen: older ones are often of superseded slices.
MOST = 2
FRAME = 14
#: Golden cases that ask for several rows by their keys, of a table with a record index.
KEY_QUERIES = "skipping.record-keys.*.list-of-keys*"


def check_each_area(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Check a property on the tables of each area separately."""
    return pytest.mark.parametrize("area", names)


def data_files(table: Path) -> list[Path]:
    """Return base and log files of the table, by the instants in their names, without change-capture files."""
    found = [path for path in table.rglob("*") if ".hoodie" not in path.parts and not path.name.endswith((".crc", ".cdc"))]
    files = [
        path for path in found if path.is_file() and (path.suffix in (".parquet", ".orc", ".hfile") or ".log." in path.name)
    ]
    return sorted(files, key=lambda path: (path.name.split("_")[1 if ".log." in path.name else -1], path.name))


def log_files(table: Path) -> list[Path]:
    """Return the log files."""
    return [path for path in data_files(table) if ".log." in path.name]


def log_files_beside_base_files(table: Path) -> list[Path]:
    """Return the log files of file groups that have a base file. A group without one may have lost it."""
    bases = {(path.parent, path.name.split("_")[0]) for path in data_files(table) if ".log." not in path.name}
    return [path for path in log_files(table) if (path.parent, path.name[1:].split("_")[0]) in bases]


@check_each_area("merge", "log", "queries")
@pytest.mark.needs("read.snapshot")
@pytest.mark.requirements("TL-036", "RDR-012", "RDR-015")
@pytest.mark.long
def test_a_missing_file_is_an_error_or_irrelevant(engine: Client, budget: Budget, area: str) -> None:
    """RDR-012: if a file that a completed action names is missing, the snapshot is an error or has the same rows,
    never fewer.
    """

    def damages(table: Path) -> Iterator[Changes]:
        metadata = b"".join(path.read_bytes() for path in (table / ".hoodie").rglob("*commit"))
        for path in [path for path in data_files(table) if path.name.encode() in metadata][-MOST:]:
            yield {path: None}

    check_damages(engine, budget, area, damages)


@check_each_area("merge", "log", "queries")
@pytest.mark.needs("read.snapshot", "merge-on-read", "log.avro")
@pytest.mark.requirements("BLK-015", "BLK-016", "BLK-017", "LF-024")
@pytest.mark.long
def test_a_damaged_block_changes_no_row(engine: Client, budget: Budget, area: str) -> None:
    """BLK-016: if a block has a wrong length at its beginning or end, the snapshot is an error or has the same rows."""

    def damages(table: Path) -> Iterator[Changes]:
        for path in log_files(table)[-MOST:]:
            data = path.read_bytes()
            for place in ends_of_blocks(data):
                yield {path: data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]}

    check_damages(engine, budget, area, damages, "log.avro")


def ends_of_blocks(data: bytes) -> Iterator[int]:
    """Yield the last byte of each complete block's trailer, and the last byte of its leading length."""
    start = data.find(b"#HUDI#")
    while start >= 0:
        end = start + FRAME + int.from_bytes(data[start + 6 : start + FRAME], "big", signed=True)
        if start + FRAME < end <= len(data):
            yield from (end - 1, start + FRAME - 1)
        start = data.find(b"#HUDI#", max(start + 1, min(end, len(data))))


@pytest.mark.needs("read.snapshot", "read.filter", "read.projection")
@pytest.mark.requirements("IDX-010")
@pytest.mark.long
def test_a_record_index_that_lost_file_groups(engine: Client, tmp_path: Path) -> None:
    """IDX-010: the file groups of an index have the numbers from 0 on, and the hash of a key and their number select one of
    them. If numbers are left out, file groups are lost: a query by key is an error or has the same rows.
    """
    answers, damaged = Answers(engine), 0
    for case in map(load_case, sorted(fixtures_root().glob(f"queries/{KEY_QUERIES}/case.json"))):
        if describe_missing_features(case.needs, engine.hello):
            continue
        (place := tmp_path / case.id).mkdir()
        uri = copy_subject(case, place)
        before = answers.ask(uri, case.query)
        add_file_group(table_folder(uri) / ".hoodie" / "metadata" / "record_index", 3)
        found = answers.ask(uri, case.query)
        if before is not None and found is not None:
            check_rows(found, before, case.id)
        damaged += 1
    answers.expect_some("queries by key")
    expect_damaged(damaged, "record index")


def add_file_group(index: Path, number: int) -> None:
    """Give an index the first file of its first file group under another number, as if those between the two were lost."""
    first = min(index.glob("*record-index-0000-0_*"), key=lambda path: path.name.partition("-0_")[2])
    (index / first.name.replace("-0000-0_", f"-{number:04}-0_")).write_bytes(first.read_bytes())


@check_each_area("merge", "log", "queries")
@pytest.mark.needs("read.snapshot", "read.read-optimized", "merge-on-read")
@pytest.mark.requirements("TYP-016", "TYP-017")
@pytest.mark.long
def test_read_optimized_queries_need_no_logs(engine: Client, budget: Budget, area: str) -> None:
    """TYP-017: a read-optimized query gives the same answer after all log files of groups with base files are deleted."""
    answers, damaged = Answers(engine), 0
    for name, uri, _ in read_snapshots(engine, budget, area, "read.read-optimized"):
        before = answers.ask(uri, Query("read-optimized"))
        for path in log_files_beside_base_files(table_folder(uri)):
            path.unlink()
            damaged += 1
        found = answers.ask(uri, Query("read-optimized"))
        assert (found is None) == (before is None), name
        if found is not None and before is not None:
            check_rows(found, before, name)
    answers.expect_some("read-optimized queries")
    expect_damaged(damaged, "log file")
