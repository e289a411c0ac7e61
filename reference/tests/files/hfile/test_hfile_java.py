"""Apache Hudi's own classes read HFiles of the reference: both of its readers, of both releases."""

import base64
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hfile_samples import DATA

from hudi_conformance.engines.support.environments import python_for
from hudi_reference.files.hfile.block import Compression
from hudi_reference.files.hfile.cell import Entry
from hudi_reference.files.hfile.checksum import ChecksumType
from hudi_reference.files.hfile.reader import hfile_of
from hudi_reference.files.hfile.records import encode_records
from hudi_reference.files.hfile.writer import Layout, base_file_info, encode_hfile

pytestmark = [pytest.mark.apache_hudi, pytest.mark.slow]

SCHEMA = {
    "type": "record",
    "name": "r",
    "fields": [{"name": "key", "type": "string"}, {"name": "n", "type": "int"}],
}
KEYS = [f"key-{i:04}" for i in range(60)] + ["é", "\ue000", "😀", "x" * 300]
LAYOUTS = {
    "as deployed": Layout(),
    "many blocks": Layout(Compression.NONE, 500),
    "CRC32": Layout(Compression.GZ, 700, ChecksumType.CRC32),
    "as newer releases": Layout(Compression.NONE, 300, ChecksumType.NONE, 0),
    "two levels": Layout(Compression.GZ, 100, index_block_size=300, index_entries=2),
    "three levels": Layout(Compression.GZ, 100, index_block_size=110, index_entries=2, short_index_keys=True),
    "many levels": Layout(Compression.NONE, 60, index_block_size=60, index_entries=2),
}
#: The last entry of a block of 300 kB would lie where the native reader does not look, were it in that block.
LONG_AND_SHORT = [Entry(b"a", bytes(100_000)), Entry(b"b", bytes(100_000)), Entry(b"c", bytes(100_000)), Entry(b"d", b"1")]


def written(folder: Path) -> dict[str, Path]:
    """Files of the reference in each layout, one without entries, and those of HBase and Apache Hudi as they are."""
    found = encode_records(((key, {"key": key, "n": n}) for n, key in enumerate(KEYS)), SCHEMA)
    info = base_file_info(found) | {"schema": json.dumps(SCHEMA).encode()}
    contents = {name: encode_hfile(found, info, {"bloomFilter": b"x"}, layout) for name, layout in LAYOUTS.items()}
    contents |= {"empty": encode_hfile([]), "long and short": encode_hfile(LONG_AND_SHORT, layout=Layout(Compression.NONE))}
    contents |= {name: (DATA / name).read_bytes() for name in ("hbase-three-levels.hfile", "native-1.2.0.hfile")}
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return {name: folder / name for name in contents}


@pytest.fixture(scope="module", params=["1.0.2", "1.2.0"])
def read(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the classes of a release found in each file, and the entries that are there."""
    files = written(tmp_path_factory.mktemp("hfiles"))
    keys = ["key-0001", "key-003", "nothing", "é", "😀"]
    jobs = [
        {"path": str(path), "keys": keys, "schema": json.dumps(SCHEMA) if name in LAYOUTS else None}
        for name, path in files.items()
    ]
    script = Path(__file__).with_name("java_hfile.py")
    command = [str(python_for("apache-hudi")), str(script), request.param]
    run = subprocess.run(command, input=json.dumps(jobs), capture_output=True, text=True, timeout=300, check=False)
    print(run.stderr[-3000:], file=sys.stderr)
    assert run.returncode == 0
    return {
        name: answer | {"expected": expected(path)}
        for (name, path), answer in zip(files.items(), json.loads(run.stdout), strict=True)
    }


def test_number_of_levels_of_the_test_files(tmp_path: Path) -> None:
    """BF-002: so that what the readers below are asked is what it seems."""
    files = written(tmp_path)
    levels = {name: hfile_of(files[name].read_bytes(), name).trailer.data_index_levels for name in LAYOUTS}
    assert [levels[name] for name in ("as deployed", "many blocks", "two levels", "three levels")] == [1, 1, 2, 3]
    assert levels["many levels"] > 3


def expected(path: Path) -> list[list[str]]:
    """The entries of a file as the reference reads them."""
    return [[e.row.decode(), base64.b64encode(e.value).decode()] for e in hfile_of(path.read_bytes(), path.name)]


def test_the_native_reader_finds_every_entry(read: dict[str, Any]) -> None:
    """BF-002, BLK-024: entries, their number, file info, meta block, and point look-ups of Apache Hudi's own reader."""
    for name, found in read.items():
        native = found["native"]
        assert native["entries"] == found["expected"], name
        assert native["count"] == len(found["expected"]), name
        rows = {row for row, _ in found["expected"]}
        assert native["found"] == {key: key in rows for key in native["found"]}, name
    for name in LAYOUTS:
        assert read[name]["native"]["schema"] == json.dumps(SCHEMA)
        assert read[name]["native"]["meta"] == "x"


def test_the_reader_of_hbase_finds_every_entry(read: dict[str, Any]) -> None:
    """BF-002, BLK-024: what releases 1.0 use by default."""
    for name, found in read.items():
        if "hbase" in found:
            assert found["hbase"]["entries"] == found["expected"], name


def test_records_through_apache_hudi(read: dict[str, Any]) -> None:
    """BLK-024, BLK-026: its reader of Avro records gives the keys back and finds them by key and by prefix."""
    rows = sorted(({"key": key, "n": n} for n, key in enumerate(KEYS)), key=lambda row: str(row["key"]).encode())
    for name in LAYOUTS:
        if "records" in read[name]:
            found = read[name]["records"]
            assert found["all"] == rows, name
            assert [row["key"] for row in found["by_key"]] == ["key-0001", "é", "😀"], name
            prefixes = ("key-0001", "key-003", "é", "😀")
            assert [row["key"] for row in found["by_prefix"]] == [k for k in KEYS if k.startswith(prefixes)], name
            assert found["range"] == ["key-0000", "😀"], name
