"""Properties of tables whose files were exchanged or removed, checked on golden tables: an error, or the rows from before.

Every file is whole, so that only a comparison of files shows the damage: data files with the commit metadata and with the names
in their own rows, instants with one another, the timeline with the data files.
"""

import json
import re
from collections.abc import Iterable, Iterator
from io import BytesIO
from itertools import combinations, pairwise, permutations
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.answers import Answers
from hudi_conformance.suite.support.damaged_tables import Changes, check_damages, check_damages_of_table
from hudi_conformance.suite.support.programs.table_programs import Budget
from hudi_conformance.suite.support.tables.tables_under_services import copy_golden_table
from hudi_conformance.suite.support.tables.written_tables import table_folder
from hudi_reference.timeline.contents.avro_container import read_record, write_record

pytestmark = [pytest.mark.needs("read.snapshot", "read.compares-files"), pytest.mark.long]
AREAS = pytest.mark.parametrize("area", ["merge", "log", "queries"])
WHOLE_TABLES = pytest.mark.parametrize("area", ["queries", "layout", "timeline"])
_LOG, _LOG_INSTANT = r"^\..*\.log\.\d+_[-\d]+$", re.compile(r"_(\d{17})\.log\.\d+_[-\d]+$")
_COMPLETED = re.compile(r"(\d+)_\d+\.(commit|deltacommit|replacecommit)")


def _data_files(table: Path, form: str) -> list[Path]:
    """The data files that completed writes name, without those of archived writes and of rollback commands."""
    metadata = b"".join(path.read_bytes() for path in _completed(table))
    files = [path for path in table.rglob("*") if path.is_file() and ".hoodie" not in path.relative_to(table).parts]
    return sorted(path for path in files if re.search(form, path.name) and path.name.encode() in metadata)


def _pending_logs(table: Path) -> list[Path]:
    """The log files of version 8 whose names have the instant of a pending write."""
    timeline = table / ".hoodie" / "timeline"
    done = {path.name.partition("_")[0] for path in _completed(table)}
    pending = {path.name.partition(".")[0] for path in timeline.glob("*.requested")} - done
    return sorted(path for path in table.rglob(".*.log.*") if (found := _LOG_INSTANT.search(path.name)) and found[1] in pending)


def _completed(table: Path) -> list[Path]:
    found = [path for path in (table / ".hoodie" / "timeline").glob("*") if _COMPLETED.fullmatch(path.name)]
    return sorted(path for path in found if path.is_file())


def _exchanged(files: Iterable[Path]) -> Iterator[Changes]:
    """For each two neighbours: one has the content of the other, and both are exchanged."""
    for one, other in pairwise(files):
        first, second = one.read_bytes(), other.read_bytes()
        if first != second:
            yield {one: second}
            yield {other: first}
            yield {one: second, other: first}


def _padded(parquet: bytes, length: int) -> bytes | None:
    """A Parquet file with bytes between its columns and its footer, so that it has this length; None if it is too long."""
    footer = len(parquet) - 8 - int.from_bytes(parquet[-8:-4], "little")
    missing = length - len(parquet)
    return None if missing <= 0 else parquet[:footer] + bytes(missing) + parquet[footer:]


def _with_length(parquet: bytes, length: int) -> bytes | None:
    """A Parquet file of this length with the same rows; None if it is too long."""
    return parquet if len(parquet) == length else _padded(parquet, length)


@AREAS
@pytest.mark.requirements("TL-036", "META-010", "META-011")
def test_exchanged_base_files(engine: Client, budget: Budget, area: str) -> None:
    """META-010: a base file with the content of another base file is an error, because commit metadata has its length, and its
    rows have the name of their file.
    """
    check_damages(engine, budget, area, lambda table: _exchanged(_data_files(table, r"^[^.].*\.parquet$")))


@AREAS
@pytest.mark.requirements("META-010", "META-011")
def test_base_file_with_the_content_and_the_length_of_others(engine: Client, budget: Budget, area: str) -> None:
    """META-010: a base file with the rows of another base file is an error, even if its length is the one in commit metadata:
    its rows have the name of the other file.
    """

    def damages(table: Path) -> Iterator[Changes]:
        for one, other in permutations(_data_files(table, r"^[^.].*\.parquet$")[:4], 2):
            if (padded := _padded(other.read_bytes(), one.stat().st_size)) is not None:
                yield {one: padded}

    check_damages(engine, budget, area, damages)


@pytest.mark.needs("meta-fields.absent")
@pytest.mark.requirements("LAY-018")
def test_base_file_of_another_partition_without_meta_columns(engine: Client, tmp_path: Path) -> None:
    """LAY-018: in a table whose rows do not name their file, a base file with rows of another partition is an error, even if
    its length is the one in commit metadata: the values of the partition column are not those in the path.
    """
    name = "layout.no-meta-fields.cow"
    every = engine.read(uri := copy_golden_table(name, tmp_path)[0], Query())
    pairs = permutations(_data_files(table_folder(uri), r"^[^.].*\.parquet$"), 2)
    folders = [(one, other) for one, other in pairs if one.parent != other.parent]
    found: list[Changes] = [
        {one: content}
        for one, other in folders
        if (content := _with_length(other.read_bytes(), one.stat().st_size)) is not None
    ]
    assert check_damages_of_table(engine, name, uri, every, lambda _: found), "no file fits into the place of another one"


@AREAS
@pytest.mark.requirements("TL-036")
def test_base_file_that_lost_rows(engine: Client, budget: Budget, area: str) -> None:
    """TL-036: a base file that was stored again without its last row is an error, because commit metadata has its length."""

    def damages(table: Path) -> Iterator[Changes]:
        for path in _data_files(table, r"^[^.].*\.parquet$"):
            rows = pq.ParquetFile(path).read()
            if rows.num_rows:
                stored = BytesIO()
                pq.write_table(rows.slice(0, rows.num_rows - 1), stored)
                yield {path: stored.getvalue()}

    check_damages(engine, budget, area, damages)


@pytest.mark.requirements("TL-007")
def test_base_file_that_lost_rows_and_kept_its_length(engine: Client, budget: Budget) -> None:
    """TL-007: commit metadata has the number of rows of each base file. A base file of the right length that lacks the last of
    its rows is an error, or the rows stay.
    """

    def damages(table: Path) -> Iterator[Changes]:
        for path in _data_files(table, r"^[^.].*\.parquet$"):
            rows, stored = pq.ParquetFile(path).read().replace_schema_metadata(None), BytesIO()
            left = rows.slice(0, rows.num_rows - 1)
            pq.write_table(left, stored, compression="zstd", write_statistics=False, store_schema=False)
            if rows.num_rows and (padded := _padded(stored.getvalue(), path.stat().st_size)) is not None:
                yield {path: padded}

    check_damages(engine, budget, "merge", damages)


@AREAS
@pytest.mark.needs("merge-on-read", "log.avro")
@pytest.mark.requirements("LF-035", "META-010")
def test_exchanged_log_files(engine: Client, budget: Budget, area: str, tmp_path: Path) -> None:
    """LF-035: a log file with the blocks of another write, or with the rows of another file group, is an error.

    Log files of one write in one file group are not exchanged: nothing tells them apart.
    """

    def damages(table: Path) -> Iterator[Changes]:
        by_write = {path.name.partition(".log.")[0]: path for path in _data_files(table, _LOG)}
        return _exchanged(by_write.values())

    check_damages(engine, budget, area, damages)
    name = "log.two-groups-in-one-partition"  # log files of one write in two groups, which few tables have
    if area == "log" and (every := Answers(engine).ask(uri := copy_golden_table(name, tmp_path)[0], Query())) is not None:
        logs = _data_files(table_folder(uri), _LOG)
        found: list[Changes] = [{one: other.read_bytes()} for one, other in permutations(logs, 2)]
        assert check_damages_of_table(engine, name, uri, every, lambda _: found)


@pytest.mark.needs("merge-on-read", "log.avro")
@pytest.mark.requirements("LF-035")
def test_exchanged_log_files_of_an_upgraded_table(engine: Client, tmp_path: Path) -> None:
    """LF-035: before version 8 the name of a log file has the instant of its slice. Metadata names the file to which each write
    appends; if the file has no block of the write, but those of another one, it is an error, or the rows stay.
    """
    name = "compatibility.upgraded.mor.pending-compaction.by-hudi-1-2"
    every = engine.read(uri := copy_golden_table(name, tmp_path)[0], Query())
    logs = sorted(path for path in table_folder(uri).rglob(".*.log.*") if re.search(_LOG, path.name))
    found: list[Changes] = [{one: other.read_bytes(), other: one.read_bytes()} for one, other in combinations(logs, 2)]
    assert check_damages_of_table(engine, name, uri, every, lambda _: found)


@pytest.mark.needs("merge-on-read", "log.avro")
@pytest.mark.requirements("LF-035", "TL-036")
@pytest.mark.parametrize("area", ["log", "layout", "timeline"])
def test_log_file_of_a_completed_write_without_its_blocks(engine: Client, budget: Budget, area: str) -> None:
    """LF-035: the blocks of a write have its instant. If a log file that a completed write names is empty, or has the blocks of
    a pending write, the changes of the write are lost: it is an error, or the rows stay.
    """

    def damages(table: Path) -> Iterator[Changes]:
        pending = [path.read_bytes() for path in _pending_logs(table)]
        for path in _data_files(table, _LOG):
            for content in (b"", *pending):
                yield {path: content}

    check_damages(engine, budget, area, damages)


@WHOLE_TABLES
@pytest.mark.requirements("META-009", "META-011", "LAY-020")
def test_data_file_in_the_folder_of_another_partition(engine: Client, budget: Budget, area: str) -> None:
    """META-009: rows have the path of their partition. A data file that was copied into the folder of another partition, or
    moved there, is an error, or the rows stay.
    """

    def damages(table: Path) -> Iterator[Changes]:
        files = _data_files(table, rf"\.parquet$|{_LOG}")
        folders = sorted({path.parent for path in files})
        for path, folder in ((path, folder) for path in files for folder in folders if folder != path.parent):
            yield {folder / path.name: path.read_bytes()}
            yield {folder / path.name: path.read_bytes(), path: None}

    check_damages(engine, budget, area, damages)


@AREAS
@pytest.mark.requirements("TL-007", "BF-009", "TL-005")
def test_exchanged_completed_files(engine: Client, budget: Budget, area: str) -> None:
    """BF-009: the metadata in a completed file names files of its own instant; the metadata of another action is an error."""
    check_damages(engine, budget, area, lambda table: _exchanged(_completed(table)))


@AREAS
@pytest.mark.requirements("TL-007", "TL-005")
def test_completed_file_with_the_content_of_its_inflight_file(engine: Client, budget: Budget, area: str) -> None:
    """TL-007: the workload profile of an inflight file in the completed file is an error; it names no file that was written."""

    def damages(table: Path) -> Iterator[Changes]:
        for path in _completed(table):
            requested = path.name.partition("_")[0]
            for inflight in path.parent.glob(f"{requested}*inflight"):
                yield {path: inflight.read_bytes()}

    check_damages(engine, budget, area, damages)


@AREAS
@pytest.mark.requirements("TL-007", "BF-009")
def test_completed_file_of_a_write_without_files(engine: Client, budget: Budget, area: str) -> None:
    """TL-007: metadata names every file that a write stored. If the completed file of a write with files names none, as that of
    a write without rows, it is an error, or the rows stay.
    """

    def damages(table: Path) -> Iterator[Changes]:
        for path in _completed(table):
            record = read_record(path.read_bytes(), path.name)
            if any(record["partitionToWriteStats"].values()):
                record["partitionToWriteStats"] = {}
                yield {path: write_record(record.schema, record, bytes(16))}

    check_damages(engine, budget, area, damages)


@AREAS
@pytest.mark.requirements("TL-007")
def test_misspelt_column_in_the_schema_of_a_write(engine: Client, budget: Budget, area: str) -> None:
    """TL-007: the metadata of a write has the schema of its files, which name the same columns. A schema in which one bit of a
    column's name is changed is an error, or the rows stay: the column is not null in all of them.
    """

    def damages(table: Path) -> Iterator[Changes]:
        for path in _completed(table):
            record = read_record(path.read_bytes(), path.name)
            schema = json.loads((record["extraMetadata"] or {}).get("schema") or "{}")
            stats = (stat for stats in (record["partitionToWriteStats"] or {}).values() for stat in stats)
            stored = b"".join(file.read_bytes() for stat in stats if (file := table / stat["path"]).is_file())
            for field in schema.get("fields", ())[-1:]:
                is_named = field["name"].encode() in stored  # not in the blocks of updates of other columns
                field["name"] = field["name"][:-1] + chr(ord(field["name"][-1]) ^ 1)
                record["extraMetadata"]["schema"] = json.dumps(schema)
                if is_named:
                    yield {path: write_record(record.schema, record, bytes(16))}

    check_damages(engine, budget, area, damages)


@AREAS
@pytest.mark.requirements("LAY-017", "TL-036")
def test_missing_timeline(engine: Client, budget: Budget, area: str) -> None:
    """LAY-017: a table with data files and without any instant is an error, not an empty table."""

    def damages(table: Path) -> Iterator[Changes]:
        timeline = [path for path in (table / ".hoodie" / "timeline").rglob("*") if path.is_file()]
        if timeline and _data_files(table, r"\.parquet$|\.log\."):
            yield dict.fromkeys(timeline)

    check_damages(engine, budget, area, damages)


@AREAS
@pytest.mark.requirements("LAY-017")
def test_changed_timeline_path(engine: Client, budget: Budget, area: str) -> None:
    """LAY-017: if one bit of `hoodie.timeline.path` is changed, the table is not empty; it is an error."""

    def damages(table: Path) -> Iterator[Changes]:
        path = table / ".hoodie" / "hoodie.properties"
        text = path.read_bytes()
        for place in (found.end() for found in re.finditer(rb"(?m)^hoodie\.timeline\.path=", text)):
            yield {path: text[:place] + bytes([text[place] ^ 1]) + text[place + 1 :]}

    check_damages(engine, budget, area, damages)


@AREAS
@pytest.mark.requirements("TL-036", "META-003")
def test_missing_completed_file_of_an_earlier_write(engine: Client, budget: Budget, area: str) -> None:
    """TL-036: a completed action whose metadata names a write as the one before it shows that the write had completed. If its
    completed file is missing, it is an error or the rows stay.
    """

    def damages(table: Path) -> Iterator[Changes]:
        done = _completed(table)
        for path in done[:-1]:
            requested = path.name.partition("_")[0]
            before = re.compile(rb"(?<!\d)" + requested.encode() + rb"(?!\d)")
            later = [other for other in done if other.name > path.name and before.search(other.read_bytes())]
            if later and any(path.parent.glob(f"{requested}.*")):
                yield {path: None}

    check_damages(engine, budget, area, damages)


@AREAS
@pytest.mark.requirements("TL-046")
def test_misspelt_action_of_a_completed_file(engine: Client, budget: Budget, area: str) -> None:
    """TL-046: a completed file of an unknown action beside pending files of a known one shows a damaged name. It is an error,
    or the rows stay.
    """

    def damages(table: Path) -> Iterator[Changes]:
        for path in _completed(table):
            if any(path.parent.glob(f"{path.name.partition('_')[0]}.*")):
                yield {path: None, path.with_name(path.name.replace("commit", "colmit")): path.read_bytes()}

    check_damages(engine, budget, area, damages)


@pytest.mark.needs("timeline.history")
@pytest.mark.requirements("LSM-009")
def test_emptied_manifest(engine: Client, budget: Budget) -> None:
    """LSM-009: if the manifest that the version file names has no bytes, its files are not forgotten: it is an error,
    or the rows stay.
    """

    def damages(table: Path) -> Iterator[Changes]:
        history = table / ".hoodie" / "timeline" / "history"
        version = history / "_version_"
        if version.is_file() and (manifest := history / f"manifest_{version.read_text().strip()}").is_file():
            yield {manifest: b""}

    check_damages(engine, budget, "timeline", damages)
