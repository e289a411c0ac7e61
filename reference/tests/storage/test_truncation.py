"""Files that another process truncates while they are read: an error, and never the end of the process."""

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from bombs import error_of
from reference_samples import new_table, trip, trips
from refused_calls import TIMELINE

from hudi_reference.files.base.parquet import opened_parquet
from hudi_reference.files.log.reader import read_log_file
from hudi_reference.storage.local import LocalStorage


def large_table(folder: Path) -> tuple[LocalStorage, str, str]:
    """A table whose files are larger than what is read at once: storage, base file and log file."""
    storage = LocalStorage(folder, sync=False)
    table = new_table(storage, table_type="MERGE_ON_READ", ordering=("ts",))
    names = [os.urandom(3000).hex() for _ in range(400)]
    table.insert(trips(*(trip(str(n), name, 1) for n, name in enumerate(names))))
    table.upsert(trips(*(trip(str(n), name, 2) for n, name in enumerate(reversed(names)))))
    paths = [info.path for info in storage.list() if not info.path.startswith(".hoodie")]
    return storage, next(p for p in paths if p.endswith(".parquet")), next(p for p in paths if ".log." in p)


@pytest.mark.parametrize("left", [0, 4, 5000])
def test_base_file_that_is_truncated_after_it_was_opened(tmp_path: Path, left: int) -> None:
    """S3-004, BF-002: the rows that are gone are an error."""
    storage, base, _ = large_table(tmp_path)

    def read() -> pa.Table:
        with opened_parquet(storage, base) as file:
            os.truncate(tmp_path / base, left)
            return file.read(use_threads=False)

    assert "MalformedBaseFile" in error_of(read)


@pytest.mark.parametrize("left", [0, 4, 5000])
def test_log_file_that_is_truncated_between_two_blocks(tmp_path: Path, left: int) -> None:
    """S3-004: the length at the beginning counts."""
    storage, _, log = large_table(tmp_path)

    def read() -> list[bytes]:
        blocks = list(read_log_file(storage, log))
        os.truncate(tmp_path / log, left)
        return [bytes(block.content) for block in blocks]

    assert "MalformedLogFile" in error_of(read)


def test_a_mapped_file_would_end_the_process(tmp_path: Path) -> None:
    """The reason: the same with a memory map is a signal, which no reader can handle."""
    storage, base, _ = large_table(tmp_path)
    assert storage.names(TIMELINE)

    def read() -> pa.Table:
        file = pq.ParquetFile(pa.memory_map(str(tmp_path / base)))
        os.truncate(tmp_path / base, 0)
        return file.read(use_threads=False)

    with pytest.raises(AssertionError, match="the child ended with 7"):
        error_of(read)
