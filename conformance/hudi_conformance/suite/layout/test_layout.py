"""Where the files of a table are stored, that they never change, and that a table consists of nothing else, on any storage."""

import hashlib
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from uuid import uuid4

import pytest

from hudi_conformance.contract import Query
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import Refused
from hudi_conformance.contract.messages import Service
from hudi_conformance.engines.registry import connect, find
from hudi_conformance.suite.support.programs.write_programs import TYPES, Program, Step, as_arrow, expect_rows, row
from hudi_conformance.suite.support.tables.written_tables import table_folder

WRITES = ("create", "write.upsert", "write.delete", "read.snapshot", "read.projection", "partition.plain")
NEEDS = pytest.mark.needs(*WRITES)
BOTH = pytest.mark.parametrize(
    "type",
    [
        pytest.param("COPY_ON_WRITE", marks=pytest.mark.needs("copy-on-write")),
        pytest.param("MERGE_ON_READ", marks=pytest.mark.needs("merge-on-read", "log.avro", "log.delete")),
    ],
)

STEPS = (
    Step("upsert", (row("a", 1, "x"), row("b", 1, "x"), row("c", 1, "x", "rio"))),
    Step("upsert", (row("a", 2, "y"), row("d", 2, "new", "lima"))),
    Step("delete", (row("b", 3, ""),)),
    Step("upsert", (row("a", 4, "z"), row("c", 4, "z", "rio"))),
)
#: Services in the order in which they are tried; those that an engine refuses are left out. {0} is the first instant.
SERVICES: tuple[tuple[Service, str | None, Mapping[str, str]], ...] = (
    ("savepoint", "{3}", {}),
    ("compaction", None, {"hoodie.compact.inline.max.delta.commits": "1"}),
    ("clustering", None, {}),
    ("clean", None, {"hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS", "hoodie.clean.fileversions.retained": "1"}),
    ("archive", None, {"hoodie.keep.max.commits": "3", "hoodie.keep.min.commits": "2", "hoodie.clean.commits.retained": "1"}),
)
DATA_FILE = re.compile(
    r"[^_/]+_\d+-\d+-\d+_\d{17}\.(parquet|orc|hfile)"
    r"|\.[^_/]+_\d{17}\.log\.\d+_\d+-\d+-\d+(\.cdc)?"
    r"|\.hoodie_partition_metadata(\.parquet|\.orc)?",
    re.ASCII,
)

#: Folders that Apache Hudi makes with a table.
META_FOLDERS = (".hoodie/", ".hoodie/.aux/", ".hoodie/.temp/", ".hoodie/timeline/", ".hoodie/timeline/history/")

Digests = dict[str, str]


def make_program(type: str) -> Program:
    """Return a program of a partitioned table with these writes."""
    return Program(type, "EVENT_TIME_ORDERING", True, STEPS)  # type: ignore[arg-type]


def writes_and_services(engine: Client, uri: str, type: str) -> Iterator[str]:
    """Create the table and carry out all writes and services of the engine; yield the name of each step before it."""
    made, instants = make_program(type), []
    engine.create(uri, made.spec())
    for step in made.steps:
        yield step.operation
        instants.append(engine.write(uri, step.operation, as_arrow(step.rows)))
    for service, of, options in SERVICES:
        if service == "compaction" and type == "COPY_ON_WRITE":
            continue
        yield service
        try:
            engine.service(uri, service, instant=of and of.format(*instants), options=options)
        except Refused:
            continue
    yield "nothing"


def model_rows(type: str) -> list[dict[str, Any]]:
    """Return the rows of the program in the model."""
    model = make_program(type).model()
    for number, step in enumerate(STEPS):
        model.apply(step.operation, step.rows, f"{number:017}")
    return [dict(found) for found in model.snapshot()]


def files_outside_reserved_folder(uri: str) -> Digests:
    """Return a hash of every file outside the reserved folder; checksum files of Hadoop are not part of the table."""
    home = table_folder(uri)
    paths = (path for path in home.rglob("*") if path.is_file() and path.suffix != ".crc")
    names = {path.relative_to(home).as_posix(): path for path in paths}
    return {
        name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in names.items() if not name.startswith(".hoodie/")
    }


@NEEDS
@BOTH
@pytest.mark.requirements("LAY-011", "LAY-018", "LAY-019")
def test_only_data_lies_outside_the_reserved_folder(engine: Client, new_uri: Callable[[], str], type: str) -> None:
    """LAY-011: after writes of all kinds and every service of the engine, everything outside .hoodie is a base file, a log file
    or the metadata file of a partition.
    """
    uri = new_uri()
    for _ in writes_and_services(engine, uri, type):
        strange = [name for name in files_outside_reserved_folder(uri) if not DATA_FILE.fullmatch(name.rpartition("/")[2])]
        assert strange == []
    expect_rows(engine, uri, model_rows(type), "after writes and services")


@NEEDS
@BOTH
@pytest.mark.requirements("LAY-012", "LAY-011")
@pytest.mark.leaves_damage("it stores a data file below .hoodie")
def test_files_below_the_meta_folder_have_no_rows_of_the_table(engine: Client, new_uri: Callable[[], str], type: str) -> None:
    """LAY-012: a base file below .hoodie, with the name of a file group of its own and the instant of an archived write, is no
    part of the table, as the files of the metadata table are none.
    """
    uri = new_uri()
    for _ in writes_and_services(engine, uri, type):
        pass
    base = next(path for path in table_folder(uri).rglob("*.parquet") if ".hoodie" not in path.parts)
    folder = table_folder(uri) / ".hoodie" / "metadata" / "files"
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(base, folder / f"{uuid4()}-0_0-0-0_20200101000000000.parquet")
    expect_rows(engine, uri, model_rows(type), "with a base file below .hoodie")


@NEEDS
@BOTH
@pytest.mark.requirements("LAY-024", "BF-009", "LF-003")
def test_data_files_are_immutable(engine: Client, new_uri: Callable[[], str], type: str) -> None:
    """LAY-024: no write and no service changes a byte of an existing data file; only a clean deletes files."""
    uri, before, step = new_uri(), Digests(), ""
    for following in writes_and_services(engine, uri, type):
        after = files_outside_reserved_folder(uri)
        changed = [name for name, digest in before.items() if after.get(name, digest) != digest]
        assert changed == [], f"changed by {step}"
        gone = before.keys() - after.keys()
        assert not gone or step == "clean", f"removed by {step}"
        before, step = after, following
    assert before


@NEEDS
@BOTH
@pytest.mark.requirements("LAY-001", "PROP-001", "PROP-007")
def test_a_copy_of_the_files_is_a_complete_table(engine: Client, new_uri: Callable[[], str], type: str) -> None:
    """LAY-001: a copy of the files at another place can be read and written by its path alone: key, partitions, type and schema
    are in it, and nothing that the engine knew at the first place is needed, or still valid, at the second.
    """
    first, second = new_uri(), new_uri()
    for _ in writes_and_services(engine, first, type):
        pass
    shutil.copytree(table_folder(first), table_folder(second))
    shutil.rmtree(table_folder(first))
    with connect(engine.name) as other:
        expect_rows(other, second, model_rows(type), "of the copy")
        other.write(second, "upsert", as_arrow([row("a", 9, "changed in the copy"), row("e", 9, "new in the copy", "rio")]))
    rows = [found for found in model_rows(type) if found["id"] != "a"]
    fresh = [row("a", 9, "changed in the copy"), row("e", 9, "new in the copy", "rio")]
    expect_rows(engine, second, [*rows, *fresh], "of the copy after a write")


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The URI of a bucket of an object store on this machine: objects have names, and there are no folders."""
    server_module = pytest.importorskip("moto.server", reason="the emulation of an object store is not installed")
    import boto3

    server = server_module.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for key, value in {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_REGION": "us-east-1", "AWS_ALLOW_HTTP": "true",
    }.items():  # fmt: skip
        monkeypatch.setenv(key, value)
    name = f"layout-{uuid4()}"
    boto3.client("s3", region_name="us-east-1").create_bucket(Bucket=name)
    yield f"s3://{name}"
    server.stop()


def table_shape(engine: Client, uri: str) -> Any:
    """Return rows and timeline without times: instants in their order with action, place and state; how many slices groups
    have.
    """
    found = engine.inspect(uri)
    timeline, groups = found["timeline"], found["file_groups"]
    return (
        sorted(map(str, engine.read(uri, Query(columns=tuple(TYPES))).to_pylist())),
        [(instant["action"], instant["where"]) for instant in timeline["completed"]],
        [(instant["action"], instant["state"]) for instant in timeline["pending"]],
        {partition: sorted(len(g["slices"]) for g in found.values()) for partition, found in groups.items()},
    )


@pytest.mark.needs(*WRITES, "inspect.table", "storage.s3")
@BOTH
@pytest.mark.requirements("LAY-004", "S3-001")
@pytest.mark.long
def test_a_table_is_the_same_in_folders_and_in_an_object_store(
    engine: Client, new_uri: Callable[[], str], bucket: str, type: str
) -> None:
    """LAY-004: the same writes and services, on a local file system and on a store with only put, get, list by prefix and
    delete, give the same rows, the same actions in the same states, and the same slices after each step.
    """
    if find(engine.name).factory is None:
        pytest.skip("the engine runs in another process, which has no access to this object store")
    local, remote = new_uri(), f"{bucket}/table"
    for here, there in zip(writes_and_services(engine, local, type), writes_and_services(engine, remote, type), strict=True):
        assert here == there
        assert table_shape(engine, local) == table_shape(engine, remote), f"before {here}"


@pytest.mark.needs("read.snapshot", "read.projection", "partition.plain", "merge.event-time", "storage.s3")
@BOTH
@pytest.mark.versions(8)
@pytest.mark.requirements("LAY-004")
def test_an_object_of_a_folder_is_no_file(engine: Client, bucket: str, type: str) -> None:
    """LAY-004: Hadoop's file systems and the consoles of stores make an empty object `a/b/` for the folder `a/b`. A reader
    takes none of them for a file, and none of the empty folders for a partition.
    """
    import boto3

    table, made = f"{bucket}/table", make_program(type)
    with connect("reference") as writer:
        writer.create(table, made.spec())
        for step in made.steps:
            writer.write(table, step.operation, as_arrow(step.rows))
    client = boto3.client("s3", region_name="us-east-1")
    for folder in ("", *META_FOLDERS, *{f"{one['city']}/" for step in made.steps for one in step.rows}, "empty/"):
        client.put_object(Bucket=bucket.removeprefix("s3://"), Key=f"table/{folder}", Body=b"")
    with connect(engine.name) as reader:
        expect_rows(reader, table, model_rows(type), "with objects of folders")
