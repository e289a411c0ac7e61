"""Tables that were bootstrapped: their first base files have meta columns alone, and an index has the paths of the other files."""

from collections.abc import Callable
from io import BytesIO
from typing import Any

import deep_damage_samples as d
import fastavro
import pyarrow as pa
import pytest
import validated_tables_samples as t
from settings_damages_samples import BOOTSTRAP_INDEX, bootstrapped

from hudi_conformance.validator.all_checks import ALL
from hudi_reference.files.hfile.reader import open_hfile
from hudi_reference.files.hfile.writer import encode_hfile
from hudi_reference.storage import Storage

_TIME = "00000000000001"
_INFO = {"name": "HoodieBootstrapIndexInfo", "type": "record", "fields": [{"name": "bootstrapBasePath", "type": "string"}]}


def skeleton(source: str = "/source") -> Storage:
    """A base file with the meta columns of three rows, and the index of a folder, in the form of Apache Hudi 1.2.0."""
    storage = bootstrapped(2, 4, 6)
    in_file(storage, _of_a_bootstrap)
    info = BytesIO()
    fastavro.writer(info, _INFO, [{"bootstrapBasePath": source}])
    entries = list(open_hfile(storage, BOOTSTRAP_INDEX).range(""))
    storage.put(BOOTSTRAP_INDEX, encode_hfile(entries, {"INDEX_INFO": info.getvalue()}))
    return storage


def in_file(storage: Storage, change: Callable[[pa.Table], pa.Table]) -> None:
    """Change the rows of the base file; the metadata of the bootstrap has its new size."""
    (path,) = t.base_files(storage)
    d.rewrite(storage, path, change)
    size = len(storage.get(path))

    def resize(record: Any) -> None:
        (stat,) = t.stats_of(record)
        stat["fileSizeInBytes"] = stat["totalWriteBytes"] = size
        record["operationType"] = "BOOTSTRAP"

    t.change_record(storage, t.completed(storage, "commit"), resize)
    t.change_record(storage, f"{t.TIMELINE}/{_TIME}.inflight", lambda record: record.update(operationType="BOOTSTRAP"))


def _of_a_bootstrap(rows: pa.Table) -> pa.Table:
    file = rows.column("_hoodie_file_name")[0].as_py().rpartition("_")[0] + f"_{_TIME}.parquet"
    texts = {
        "_hoodie_commit_time": [_TIME] * 3,
        "_hoodie_commit_seqno": [f"{_TIME}_1_{number}" for number in (8, 9, 10)],
        "_hoodie_record_key": rows.column("_hoodie_record_key"),
        "_hoodie_partition_path": rows.column("_hoodie_partition_path"),
        "_hoodie_file_name": [file] * 3,
    }
    return pa.table(texts)


def _backwards(rows: pa.Table) -> pa.Table:
    return rows.take([2, 1, 0])


def _found(storage: Storage) -> set[tuple[str, str]]:
    found = t.validated(storage, ALL)
    assert not found.broken, found.broken
    return {(one.rule, one.severity) for one in found.findings}


@pytest.mark.parametrize("source", ["/source", "file:/source", "/source/"])
def test_a_bootstrapped_table_is_sound(source: str) -> None:
    """LAY-001: the rows are numbered in the order of the other file, and the folder has one of its names."""
    assert _found(skeleton(source)) == set()


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (_backwards, {("LAY-001", "wrong-answers")}),
        (d.with_value("_hoodie_record_key", 1, "k40"), {("IDX-004", "wrong-answers")}),
        (d.with_value("_hoodie_record_key", 1, None), {("META-007", "wrong-answers")}),
        (d.with_value("_hoodie_partition_path", 1, "south"), {("META-009", "wrong-answers")}),
        (
            d.with_value("_hoodie_commit_seqno", 1, f"{_TIME}_1_10"),
            {("META-005", "wrong-answers"), ("LAY-001", "wrong-answers")},
        ),
        (d.with_value("_hoodie_commit_seqno", 2, None), {("META-005", "wrong-answers")}),
        (lambda rows: rows.drop_columns(["_hoodie_commit_seqno"]), {("META-001", "wrong-answers")}),
    ],
)
def test_changed_rows_of_a_bootstrapped_file(change: Callable[[pa.Table], pa.Table], expected: set[tuple[str, str]]) -> None:
    """LAY-001, META-005, IDX-004: readers match the rows with those of the other file by their order. What else the file stores is
    compared as in other base files.
    """
    storage = skeleton()
    in_file(storage, change)
    assert _found(storage) == expected


@pytest.mark.parametrize("source", ["/sources", "/source/north", "/", "s3://bucket/other"])
def test_another_folder_than_that_of_the_index(source: str) -> None:
    """LAY-001: the folder that was bootstrapped is that of the index, whose paths readers follow."""
    assert _found(skeleton(source)) == {("LAY-001", "cosmetic")}


def test_a_bootstrapped_file_without_its_end() -> None:
    """BF-002: a file without a footer is one finding, and what is in it is not compared."""
    storage = skeleton()
    t.cut(storage, *t.base_files(storage), 9)
    found = t.validated(storage, ALL)
    assert not found.broken
    assert {one.rule for one in found.findings} == {"BF-002", "TL-005"}
