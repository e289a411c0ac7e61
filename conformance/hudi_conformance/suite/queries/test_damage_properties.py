"""Laws of damage, held against golden tables: what a completed action wrote is read as it was, or there is an error.

Nothing is expected but the rows that the engine itself shows while nothing is damaged.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.programs.table_programs import Budget
from hudi_conformance.suite.support.tables.golden_queries import answer, asked, counted
from hudi_conformance.suite.support.tables.written_tables import folder_of

#: Of each table so many files are damaged at most, the last ones: older ones are often of older slices.
MOST = 2
FRAME = 14


def law(*areas: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The law is held against the tables of each area by itself."""
    return pytest.mark.parametrize("area", areas)


def data_files(uri: str) -> list[Path]:
    """Base and log files of the table, by the instants in their names; change-capture files are none."""
    found = [
        path for path in folder_of(uri).rglob("*") if ".hoodie" not in path.parts and not path.name.endswith((".crc", ".cdc"))
    ]
    files = [
        path for path in found if path.is_file() and (path.suffix in (".parquet", ".orc", ".hfile") or ".log." in path.name)
    ]
    return sorted(files, key=lambda path: (path.name.split("_")[1 if ".log." in path.name else -1], path.name))


def log_files(uri: str) -> list[Path]:
    """The log files alone."""
    return [path for path in data_files(uri) if ".log." in path.name]


@law("merge", "log", "queries")
@pytest.mark.needs("read.snapshot")
@pytest.mark.requirements("TL-036", "RDR-012", "RDR-015")
def test_without_one_of_its_files_a_table_has_the_same_rows_or_none(engine: Client, budget: Budget, area: str) -> None:
    """A file that the metadata of a completed action names, and that is not there, is an error wherever its rows count: never
    fewer rows.
    """
    for name, uri, every in asked(engine, budget, area):
        told = b"".join(path.read_bytes() for path in (folder_of(uri) / ".hoodie").rglob("*commit"))
        for path in [path for path in data_files(uri) if path.name.encode() in told][-MOST:]:
            data = path.read_bytes()
            path.unlink()
            found = answer(engine, uri, Query())
            path.write_bytes(data)
            assert found is None or counted(found) == counted(every), f"{name} without {path.name}"


@law("merge", "log", "queries")
@pytest.mark.needs("read.snapshot", "merge-on-read", "log.avro")
@pytest.mark.requirements("BLK-015", "BLK-016", "BLK-017", "LF-024")
def test_a_damaged_block_changes_no_row(engine: Client, budget: Budget, area: str) -> None:
    """Whichever block of a log file has a wrong length at one of its ends, there is an error, or its rows do not count."""
    for name, uri, every in asked(engine, budget, area, "log.avro"):
        for path in log_files(uri)[-MOST:]:
            data = path.read_bytes()
            for place in ends_of_blocks(data):
                path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
                found = answer(engine, uri, Query())
                path.write_bytes(data)
                assert found is None or counted(found) == counted(every), f"{name}, byte {place} of {path.name}"


def ends_of_blocks(data: bytes) -> Iterator[int]:
    """The last byte of each whole block's trailer, and the last byte of its leading length."""
    start = data.find(b"#HUDI#")
    while start >= 0:
        end = start + FRAME + int.from_bytes(data[start + 6 : start + FRAME], "big", signed=True)
        if start + FRAME < end <= len(data):
            yield from (end - 1, start + FRAME - 1)
        start = data.find(b"#HUDI#", max(start + 1, min(end, len(data))))


@law("merge", "log", "queries")
@pytest.mark.needs("read.snapshot", "read.read-optimized", "merge-on-read")
@pytest.mark.requirements("TYP-016", "TYP-017")
def test_base_files_alone_need_no_logs(engine: Client, budget: Budget, area: str) -> None:
    """A read-optimized query gives the same rows when every log file is gone."""
    for name, uri, _ in asked(engine, budget, area, "read.read-optimized"):
        before = answer(engine, uri, Query("read-optimized"))
        for path in log_files(uri):
            path.unlink()
        found = answer(engine, uri, Query("read-optimized"))
        assert (found is None) == (before is None), name
        assert found is None or before is None or counted(found) == counted(before), name
