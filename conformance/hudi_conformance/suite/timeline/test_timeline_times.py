"""Instants of consecutive writes, also on a timeline that is ahead of the clock; and reads, which change no file."""

import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.contract.messages import Query
from hudi_conformance.suite.support.concurrent.in_process import only_in_process
from hudi_conformance.suite.support.programs.write_programs import Program, Step, as_arrow, row
from hudi_conformance.suite.support.tables.older_tables import golden_table
from hudi_conformance.suite.support.tables.written_tables import INSERT, UPDATE, completed_files, table_folder, write_table
from hudi_reference import migrate

WRITES = pytest.mark.needs("create", "write.insert", "write.upsert", "copy-on-write", "partition.plain")
#: How far the timeline is set ahead of the clock: longer than a write takes, shorter than a test should wait.
AHEAD = timedelta(seconds=2)
#: The setting of the greatest difference between the clocks of writers, in milliseconds.
SKEW = "hoodie.time.generator.max_expected_clock_skew_ms"


def completed_times(uri: str) -> list[str]:
    """Return requested and completion time of each completed instant, in the order of requested times."""
    return [time for file in completed_files(uri) for time in file.name.partition(".")[0].split("_")]


@WRITES
@pytest.mark.requirements("TT-002", "TT-004", "TL-034", "TL-004")
def test_every_time_is_later_than_those_before(engine: Client, new_uri: Callable[[], str]) -> None:
    """TT-002: consecutive writes get requested and completion times that only increase, each of them once."""
    uri = new_uri()
    write_table(engine, uri, INSERT, *(Step("upsert", (row("a", n, "y"),)) for n in range(2, 6)))
    found = completed_times(uri)
    assert len(found) == 2 * 5
    assert found == sorted(set(found))


@WRITES
@pytest.mark.requirements("TT-002", "TT-004", "TT-009")
def test_a_clock_behind_the_timeline_gives_later_times(engine: Client, new_uri: Callable[[], str]) -> None:
    """TT-009: after an instant that completed ahead of this machine's clock the next write still gets later times."""
    uri = new_uri()
    write_table(engine, uri, INSERT)
    (done,) = completed_files(uri)
    requested, rest = done.name.split("_")
    completion, action = rest.split(".")
    ahead = (datetime.strptime(completion, "%Y%m%d%H%M%S%f") + AHEAD).strftime("%Y%m%d%H%M%S%f")[:17]
    done.rename(done.with_name(f"{requested}_{ahead}.{action}"))
    engine.write(uri, "upsert", as_arrow(UPDATE.rows))
    assert len(completed_times(uri)) == 4
    assert completed_times(uri) == sorted(set(completed_times(uri)))


@WRITES
@pytest.mark.requirements("TT-005", "TT-008", "TT-010")
def test_a_write_waits_for_the_clock_skew_that_is_set(engine: Client, new_uri: Callable[[], str]) -> None:
    """TT-008: a process waits as long as its clock may differ from others before it releases the lock, so that the completion
    time of a write is later than its requested time by more than that.
    """
    uri, skew = new_uri(), timedelta(milliseconds=900)
    engine.create(uri, Program("COPY_ON_WRITE", "EVENT_TIME_ORDERING", True).spec())
    engine.write(uri, "upsert", as_arrow(INSERT.rows), options={SKEW: str(skew // timedelta(milliseconds=1))})
    requested, completion = (datetime.strptime(time, "%Y%m%d%H%M%S%f") for time in completed_times(uri))
    assert completion - requested >= skew


def read_files(uri: str) -> dict[str, bytes]:
    """Return every file of a table with its content, without the checksum files of a local file system."""
    home = table_folder(uri)
    found = (path for path in home.rglob("*") if path.is_file() and path.suffix != ".crc")
    return {path.relative_to(home).as_posix(): path.read_bytes() for path in found}


@WRITES
@pytest.mark.needs("read.snapshot")
@pytest.mark.requirements("RDR-001", "RDR-004")
def test_reading_changes_no_file(engine: Client, new_uri: Callable[[], str]) -> None:
    """RDR-001: a snapshot of a table with an inflight write changes no file and creates none."""
    uri = new_uri()
    write_table(engine, uri, INSERT, UPDATE)
    completed_files(uri)[-1].unlink()
    before = read_files(uri)
    assert engine.read(uri, Query("snapshot")).num_rows == len(INSERT.rows)
    assert read_files(uri) == before


@pytest.fixture
def in_kolkata(engine: Client, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Set the time zone of this process, which is five and a half hours ahead of UTC."""
    only_in_process(engine)
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def digits_of(moment: float, zone: str) -> str:
    """Return the instant time of seconds since 1970 in a zone."""
    return datetime.fromtimestamp(moment, ZoneInfo(zone)).strftime("%Y%m%d%H%M%S%f")[:17]


#: The zone of a timeline in the properties, and its name.
ZONES = {"LOCAL": "Asia/Kolkata", "UTC": "UTC"}


@WRITES
@pytest.mark.needs("read.as-of")
@pytest.mark.requirements("TT-005", "TYP-008")
@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.usefixtures("in_kolkata")
def test_times_are_in_the_zone_of_the_table(engine: Client, new_uri: Callable[[], str], zone: str) -> None:
    """TT-005: the times of instants are in the zone that the table names, and so is a time in a query that is given in
    milliseconds since 1970.
    """
    uri, spec = new_uri(), Program("COPY_ON_WRITE", "EVENT_TIME_ORDERING", True).spec()
    engine.create(uri, replace(spec, properties={"hoodie.table.timeline.timezone": zone}))
    begin = time.time()
    engine.write(uri, "upsert", as_arrow(INSERT.rows))
    assert digits_of(begin, ZONES[zone]) <= completed_times(uri)[0] <= digits_of(time.time(), ZONES[zone])
    now = str(int(time.time() * 1000))
    engine.write(uri, "upsert", as_arrow([row("z", 1, "later")]))
    assert engine.read(uri, Query("as-of", as_of=now)).num_rows == len(INSERT.rows)


@pytest.mark.needs("table-version.6", "read.snapshot")
@pytest.mark.requirements("COMPAT-006", "TT-005")
@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.usefixtures("in_kolkata")
def test_a_migration_takes_times_of_files_in_the_zone_of_the_table(
    engine: Client, new_uri: Callable[[], str], zone: str
) -> None:
    """TT-005: at version 6 an action completed at the modification time of its file; a migration writes it in the table's
    zone.
    """
    folder, modified = table_folder(uri := new_uri()), datetime(2030, 1, 1).timestamp()
    shutil.copytree(golden_table("v6.cow"), folder)
    properties = folder / ".hoodie" / "hoodie.properties"
    properties.write_text(properties.read_text().replace("timezone=LOCAL", f"timezone={zone}"))
    newest = max((folder / ".hoodie").glob("*.commit"))
    os.utime(newest, (modified, modified))
    migrate(uri)
    (completed,) = (folder / ".hoodie" / "timeline").glob(f"{newest.stem}_*.commit")
    assert completed.stem == f"{newest.stem}_{digits_of(modified, ZONES[zone])}"
