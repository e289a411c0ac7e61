"""Files whose bytes are not those of the checksums that Hadoop's local file system stored beside them."""

import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
import validated_tables_samples as t

from hudi_conformance.validator.all_checks import ALL, CHEAP
from hudi_conformance.validator.stored.table import load_table
from hudi_conformance.validator.validation import validate


def checksums_of(content: bytes, each: int = 512) -> bytes:
    """What Hadoop stores beside a file with this content."""
    parts = (content[start : start + each] for start in range(0, len(content), each))
    return b"crc\0" + each.to_bytes(4, "big") + b"".join(zlib.crc32(part).to_bytes(4, "big") for part in parts)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A table with a metadata table, and with checksums beside all files, empty ones too."""
    made = t.copy_to_folder(t.with_metadata_table(), tmp_path)
    for file in [path for path in made.rglob("*") if path.is_file()]:
        beside(file).write_bytes(checksums_of(file.read_bytes()))
    return made


def beside(file: Path) -> Path:
    """The file of its checksums."""
    return file.with_name(f".{file.name}.crc")


def found_in(folder: Path, checks=ALL) -> set[tuple[str, str, str, int | None]]:
    """Rule, severity, path and offset of all findings."""
    return {(one.rule, one.severity, one.path, one.offset) for one in validate(load_table(str(folder)), checks).findings}


def test_right_checksums_are_no_finding(folder: Path):
    """S3-001, LAY-024: all files are as their checksums say, also with another number of bytes per checksum, or without one."""
    base = next(folder.glob("*/*.parquet"))
    beside(base).write_bytes(checksums_of(base.read_bytes(), 4096))
    beside(next(folder.glob(".hoodie/timeline/*.inflight"))).unlink()
    result = validate(load_table(str(folder)), ALL)
    assert not result.findings
    assert result.checked["S3-001"] and result.checked["LAY-024"]


def test_a_changed_instant_is_found(folder: Path):
    """S3-001: a text in the metadata of a commit was changed in place; by itself each byte is valid."""
    completed = next(path for path in sorted(folder.glob(".hoodie/timeline/*commit")) if path.stat().st_size > 600)
    content = completed.read_bytes()
    at = content.rindex(b"schema")
    completed.write_bytes(content[:at] + b"Schema" + content[at + 6 :])
    place = f".hoodie/timeline/{completed.name}"
    assert ("S3-001", "wrong-answers", place, at // 512 * 512) in found_in(folder, CHEAP)


def test_properties_of_a_writer_without_checksums_are_found(folder: Path):
    """S3-001: another program added a comment to the properties, so that Apache Hudi refuses the table."""
    properties = folder / ".hoodie" / "hoodie.properties"
    properties.write_bytes(properties.read_bytes() + b"# seen\n")
    assert {(rule, path) for rule, _, path, _ in found_in(folder)} == {("S3-001", ".hoodie/hoodie.properties")}


@pytest.mark.parametrize(
    ("change", "offset"),
    [
        (lambda sums: sums[:-1], "last"),
        (lambda sums: sums[:8], 0),
        (lambda sums: sums[:12] + bytes([sums[12] ^ 1]) + sums[13:], 512),
        (lambda sums: sums + b"more", None),
        (lambda sums: b"CRC\0" + sums[4:8], None),
        (lambda sums: sums[:4] + bytes(4) + sums[8:], None),
        (lambda sums: b"crc", None),
    ],
    ids=["cut", "none", "other", "more", "no magic", "no size", "no header"],
)
def test_checksums_as_hadoop_compares_them(folder: Path, change: Callable[[bytes], bytes], offset: object):
    """LAY-024: missing checksums are wrong ones; those after the end of the file, and files without a header, are ignored."""
    base = next(folder.glob("*/*.parquet"))
    beside(base).write_bytes(change(beside(base).read_bytes()))
    expected = (base.stat().st_size - 1) // 512 * 512 if offset == "last" else offset
    place = str(base.relative_to(folder))
    assert found_in(folder) == (set() if offset is None else {("LAY-024", "wrong-answers", place, expected)})
    assert found_in(folder, CHEAP) == set(), "data files are compared with --deep alone"


def test_large_files_are_compared_in_parts(folder: Path):
    """LAY-024: a file of several times the bytes that are compared at once, with a wrong byte near its end."""
    content = bytes(range(256)) * 80_000
    (folder / "large.bin").write_bytes(content[:-700] + b"\1" + content[-699:])
    beside(folder / "large.bin").write_bytes(checksums_of(content))
    offsets = [offset for rule, _, path, offset in found_in(folder) if (rule, path) == ("S3-001", "large.bin")]
    assert offsets == [(len(content) - 700) // 512 * 512]


def test_checksums_elsewhere_are_not_compared(folder: Path):
    """S3-001: a file system that is not Hadoop's has no use for them: a table that was copied to memory or an object store."""
    properties = folder / ".hoodie" / "hoodie.properties"
    beside(properties).write_bytes(checksums_of(b"other"))
    assert found_in(folder)
    storage = t.MemoryStorage()
    for file in [path for path in folder.rglob("*") if path.is_file()]:
        storage.put(str(file.relative_to(folder)), file.read_bytes())
    assert not t.validated(storage, ALL).findings
