"""`inspect FILE` shows the content of one file, the wrong bytes, and the required reaction of a reader."""

import io
import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import orc
from rich.console import Console
from typer.testing import CliRunner, Result

from hudi_conformance.cases.schema import fixtures_root
from hudi_conformance.cli import app
from hudi_conformance.contract.validation import find_violation
from hudi_conformance.render.log import show_log
from hudi_reference.files.inspection.file_type import identify
from hudi_reference.storage import MemoryStorage, storage_of

LOGS = fixtures_root() / "log"
METADATA = fixtures_root() / "layout" / "with-metadata-table" / "table" / ".hoodie" / "metadata"
INSTANT = "20261121143554284"


def call(*arguments: object, width: int = 100, **env: str) -> Result:
    """`hudi-conformance inspect ...` in this process."""
    return CliRunner().invoke(app, ["inspect", *map(str, arguments)], env={"COLUMNS": str(width), **env})


def flat(found: Result) -> str:
    """The output without line breaks."""
    return " ".join(found.stdout.split())


def answer(*arguments: object) -> dict[str, Any]:
    """The answer in the contract's form, validated by its schema."""
    found: dict[str, Any] = json.loads(call(*arguments, "--json").stdout)
    assert find_violation("file-inspection", found) is None
    return found


def log_of(case: str, number: int = 0) -> Path:
    """A log file of a golden table, by name."""
    return sorted((LOGS / case / "table").rglob(".*.log.*"))[number]


def command_log() -> Path:
    """A log file of one rollback command, 105 bytes."""
    (file,) = (LOGS / "rollback-command" / "table").glob(".*.log.2_*")
    return file


def test_log_file_page():
    """Parts of the name, offsets, type, instant, headers; the schema as fields, positions with their base file."""
    page = flat(call(log_of("data-and-delete-in-one-file")))
    (first, second) = answer(log_of("data-and-delete-in-one-file"))["blocks"]
    assert "log file" in page and "2 blocks" in page and "file id" in page and "write token" in page
    assert f"block 1 delete bytes {second['offset']} (0x{second['offset']:x})" in page
    assert f"INSTANT_TIME {first['header']['INSTANT_TIME']}" in page and "5 meta columns, id, ts, name" in page
    base = first["header"]["BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS"]
    assert f"RECORD_POSITIONS {len(first['positions'])}: {first['positions'][0]}" in page
    assert f"rows of the base file of {base}" in page


def test_option_rows_shows_rows_and_deletes():
    """Up to --rows of each block; an ordering value has its type, because Integer 0 means none and Long 0 is a value."""
    file = log_of("delete-block-of-keys")
    assert "int 0" not in call(file).stdout
    assert 'a "" int 0' in flat(call(file, "--content"))
    assert "1 more delete" in call(file, "--rows", 1).stdout
    assert answer(file)["blocks"][0]["deletes"][0] == {"key": "a", "partition": "", "ordering": {"type": "int", "value": 0}}


def test_rollback_command_page():
    """The target, and the name of the command."""
    page = flat(call(command_log()))
    target = answer(command_log())["blocks"][0]["header"]["TARGET_INSTANT_TIME"]
    assert f"undoes {target}" in page and "COMMAND_BLOCK_TYPE 0 rollback" in page


def test_empty_log_file_is_valid():
    """It is a log file by its name, and has no blocks."""
    (empty,) = (file for file in (LOGS / "left-over.empty-log-file").rglob(".*.log.*") if not file.stat().st_size)
    found = call(empty)
    assert (found.exit_code, answer(empty)) == (0, {"format": "log", "blocks": []})
    assert "no blocks" in found.stdout


def test_corrupt_block_page():
    """Its position, the wrong bytes and their expected values, the rule, and the offset at which a reader continues."""
    file = log_of("blocks.damage-between-two-committed-appends")
    found = call(file)
    corrupt = answer(file)["blocks"][1]
    end = corrupt["offset"] + corrupt["length"]
    page = flat(found)
    assert found.exit_code == 0 and corrupt["type"] == "corrupt"
    assert "xx corrupt xx" in page and "2 blocks, 1 corrupt" in page and corrupt["reason"] in page
    assert "content length 87 expected 0 to 39, where the next block begins LF-019" in page
    assert f"continue at the next magic, byte {end} (0x{end:x})" in page and "BLK-015" in page
    assert "00 00 00 57" in page and "^^ ^^ ^^ ^^" in page


def test_wrong_trailer_is_shown_with_the_expected_one():
    """LF-024: the found value, the value that follows from the block length, and the eight bytes."""
    page = flat(call(log_of("damaged.trailing-length-differs")))
    assert "trailer 12345 expected 947, the block length and 6 LF-024" in page
    assert "30 39" in page and "explain LF-024" in page


@pytest.mark.parametrize(
    ("case", "says"),
    [
        ("damaged.bad-magic", "magic #HUDJ# expected #HUDI# LF-012"),
        ("damaged.unknown-block-type", "type 99 unknown expected 0 to 6, not 2 LF-015"),
        ("damaged.unknown-format-version", "version 7 expected 1, or 0 LF-027"),
        ("blocks.of-the-reserved-type", "type 2 CORRUPT expected 0 to 6, not 2 LF-015"),
    ],
)
def test_file_to_refuse_has_exit_code_1(case: str, says: str):
    """The page is still complete; the contract's answer is an error."""
    file = log_of(case)
    found = call(file)
    assert found.exit_code == 1 and says in flat(found) and "refuse the file" in flat(found)
    as_json = call(file, "--json")
    assert as_json.exit_code == 1 and "rule" in as_json.stderr and not as_json.stdout


def test_only_the_wrong_byte_of_a_magic_is_marked():
    """The mark is below the fifth byte."""
    lines = call(log_of("damaged.bad-magic")).stdout.splitlines()
    (at,) = (number for number, line in enumerate(lines) if "23 48 55 44 4a 23" in line and "00000000" in line)
    assert lines[at + 1].strip() == "^^" and lines[at + 1].index("^^") == lines[at].index("4a")


def test_block_with_undecodable_content_has_offset_and_headers():
    """Offset, headers and the following blocks are shown, together with the error of the content."""
    (file,) = (LOGS / "file.avro.no-schema" / "bytes").iterdir()
    found = call(file)
    first, second = answer(file)["blocks"]
    assert found.exit_code == 1 and "cannot be decoded" in flat(found) and "SCHEMA" in flat(found)
    assert "error" in first and "rows" not in first and len(second["rows"]) == 1


def test_hfile_page_of_a_metadata_table():
    """Trailer, blocks, index, file info, bloom filter; entries are decoded, and lookups show found and missing keys."""
    (file,) = (METADATA / "files").glob("*.hfile")
    page = flat(call(file, "--keys", "__all_partitions__,nowhere"))
    for part in ("root index IDXROOT2", "CRC32C", "compression 1 gz", "index levels 1", "minRecordKey __all_partitions__"):
        assert part in page
    assert "bits 2,587,966" in page and "30 bits set" in page
    assert "nowhere certainly not held" in page and "nowhere: not in the file" in page
    found = answer(file, "--keys", "__all_partitions__,nowhere")
    assert [entry["key"] for entry in found["found"]] == ["__all_partitions__"]
    assert found["bloom"]["may_hold"] == [True, False] and found["levels"] == 1


def test_hfile_log_block_page():
    """Files with their sizes, statistics with their bounds; the rows of the contract have every field."""
    (files,) = (METADATA / "files").glob(f".*{INSTANT}.log.*")
    page = flat(call(files, "--content", width=200))
    assert "__all_partitions__ partitions south, north" in page and ".parquet 3,624 bytes" in page
    statistics = sorted((METADATA / "column_stats").glob(f".*{INSTANT}.log.*"))[0]
    rows = answer(statistics)["blocks"][0]["rows"]
    assert rows[0]["ColumnStatsMetadata"]["minValue"] == {"value": INSTANT}
    assert rows[0]["ColumnStatsMetadata"]["nullCount"] == "0" and rows[0]["type"] == 3


def test_options_prefix_and_keys_return_each_entry_once():
    """--prefix and --keys together return each entry once, in the order of the file."""
    (log,) = (METADATA / "files").glob("*.hfile")
    found = answer(log, "--prefix", "__", "--keys", "__all_partitions__")["found"]
    assert [entry["key"] for entry in found] == ["__all_partitions__"]


def damaged_hfile(folder: Path, change: str) -> Path:
    """The HFile with one flipped payload byte, or without its end."""
    (file,) = (METADATA / "files").glob("*.hfile")
    data = bytearray(file.read_bytes())
    if change == "byte":
        data[60] ^= 0xFF
    damaged = folder / file.name
    damaged.write_bytes(data if change == "byte" else data[:-100])
    return damaged


def test_damaged_hfile_page(tmp_path: Path):
    """The stored checksum and the expected one; the other blocks are in the map."""
    found = call(damaged_hfile(tmp_path, "byte"))
    assert found.exit_code == 1 and "fails its CRC32C check" in flat(found) and "checksums CRC32C" in flat(found)
    assert "|xxxx|" in found.stdout and "meta" in found.stdout and "by what is stored" in flat(found)


def test_truncated_hfile_page(tmp_path: Path):
    """The blocks before the trailer are shown even if the trailer is not at its offset."""
    found = call(damaged_hfile(tmp_path, "cut"))
    assert found.exit_code == 1 and "expected 4096 bytes before the end, not 3996" in flat(found)


def base_file() -> Path:
    """A base file that Apache Hudi wrote, with a bloom filter in its footer."""
    return sorted((METADATA.parents[1] / "north").glob(f"*_{INSTANT}.parquet"))[0]


def test_base_file_page():
    """Minimum and maximum key, parameters and fill of the filter, row groups, columns, the first rows."""
    page = flat(call(base_file(), "--keys", "a,b", width=200))
    assert "hoodie_min_record_key a" in page and "type SIMPLE" in page and "b certainly not held" in page
    assert "1 row group" in page and "ts int64" in page and "rows" in page
    found = answer(base_file(), "--keys", "a,b")
    assert found["bloom"] == {"type": "SIMPLE", "hashes": 30, "bits": "432", "may_hold": [True, False]}
    assert found["rows"][0]["ts"] == "1" and found["footer"]["hoodie_max_record_key"] == "a"


def test_truncated_base_file_page():
    """The last four bytes, which must be PAR1."""
    folder = fixtures_root() / "layout" / "broken.base-file.cut" / "table"
    (file,) = (file for file in folder.glob("*.parquet") if not file.read_bytes().endswith(b"PAR1"))
    found = call(file)
    assert found.exit_code == 1
    assert "PAR1 at both ends" in flat(found) and found.stdout.splitlines()[-1].split() == ["^^"] * 4


def test_orc_file_page(tmp_path: Path):
    """The same page for ORC."""
    file = tmp_path / "f0000000-0000-4000-8000-000000000001-0_0-1-2_20250101000001000.orc"
    orc.write_table(pa.table({"id": ["a", "b"], "n": pa.array([1, None], pa.int64())}), str(file))
    page = flat(call(file))
    assert "ORC file" in page and "1 stripe" in page and "b null" in page
    assert answer(file)["rows"] == [{"id": "a", "n": "1"}, {"id": "b", "n": None}]


def test_name_that_contradicts_the_bytes_is_reported(tmp_path: Path):
    """The bytes decide what is shown; a reader uses the name, so that the contract's answer is an error."""
    file = tmp_path / "f0000000-0000-4000-8000-000000000001-0_0-1-2_20250101000001000.orc"
    file.write_bytes(base_file().read_bytes())
    assert "! named like an ORC file, but its bytes are those of a Parquet file (BF-010)" in flat(call(file))
    assert call(file, "--json").exit_code == 1


@pytest.mark.parametrize(
    ("wanted", "first", "last"),
    [
        ("0:6", "00000000  23 48 55 44 49 23", "#HUDI#"),
        ("0x3:2", "00000000           44 49", "DI"),
        ("-8", "00000060     00 00 00 00 00 00 00  61", "a"),
    ],
)
def test_option_hex_dumps_bytes(wanted: str, first: str, last: str):
    """By offset and length, hexadecimal or decimal, or from the end."""
    lines = call(command_log(), f"--hex={wanted}").stdout.splitlines()
    assert lines[0].lstrip().startswith(first) and lines[-1].endswith(last)


@pytest.mark.parametrize("wanted", ["x", "1:y", "99999", "0:-1"])
def test_invalid_range_is_a_usage_error(wanted: str):
    """Exit code 2, and the option is named."""
    found = call(log_of("rollback-command"), f"--hex={wanted}")
    assert found.exit_code == 2 and "--hex" in found.stderr


@pytest.mark.parametrize(
    ("case", "shown", "cure"),
    [
        ("layout/version-9.version-10", "version 10, shown by the rules of version 9", "hoodie.write.table.version=9"),
        ("compatibility/refuse.version-7", "version 7, shown by the rules of version 6", "upgrade the table to version 8"),
    ],
)
def test_table_of_an_unknown_version_page(case: str, shown: str, cure: str):
    """COMPAT-004: the page has the stored version and the one by whose rules it is shown, the timeline, the error and its cure."""
    page = call(fixtures_root() / case / "table", width=200)
    assert page.exit_code == 1
    assert shown in flat(page) and "timeline" in flat(page) and "file groups" in flat(page) and cure in flat(page)


def test_file_options_are_refused_for_tables():
    """A folder has no bytes to dump."""
    assert call(fixtures_root(), "--hex", "0").exit_code == 2


def test_inapplicable_options_are_usage_errors():
    """Options that do not apply are errors and are not ignored."""
    assert call(command_log(), "--keys", "a").exit_code == 2 and call(base_file(), "--prefix", "a").exit_code == 2


def test_missing_file_is_a_usage_error(tmp_path: Path):
    """The path is not treated as a table folder."""
    found = call(tmp_path / "nothing.parquet")
    assert found.exit_code == 2 and "there is no file" in " ".join(found.stderr.replace("│", " ").split())


def test_file_of_unknown_type_is_refused(tmp_path: Path):
    """Neither bytes nor name are those of a known format: the message names the four magics."""
    file = tmp_path / "notes.txt"
    file.write_text("no table")
    found = call(file)
    assert found.exit_code == 1 and "#HUDI#" in found.stderr and "DATABLK*" in found.stderr and "Traceback" not in found.stderr


def test_output_is_coloured_on_terminals_only():
    """Plain text in a pipe, without trailing blanks; FORCE_COLOR adds colours to the same text."""
    file = log_of("damaged.bad-magic")
    plain, painted = call(file).stdout, call(file, FORCE_COLOR="1").stdout
    assert "\x1b[" not in plain and "\x1b[" in painted
    assert not [line for line in plain.splitlines() if line != line.rstrip()]


@pytest.mark.parametrize("width", [60, 80, 120])
def test_page_fits_the_terminal(width: int):
    """No line is wider than the terminal, except dumps, which have 80 columns, and names."""
    for file in (log_of("blocks.damage-between-two-committed-appends"), base_file()):
        lines = call(file, "--rows", 2, width=width).stdout.splitlines()
        assert max(map(len, lines)) <= max(width, 84)


def test_file_on_an_object_store():
    """Any URI that can name a table can also name a file."""
    storage_of("memory:///inspected").put("x.log.1", command_log().read_bytes())
    assert answer("memory:///inspected/x.log.1")["blocks"][0]["type"] == "command"


def every_damage(data: bytes) -> list[bytes]:
    """Truncated copies, and copies with one flipped byte at every third offset."""
    turned = [data[:i] + bytes([data[i] ^ 0xFF]) + data[i + 1 :] for i in range(0, len(data), 3)]
    return [data[:i] for i in range(0, len(data), 3)] + turned


def test_damaged_copies_have_a_page():
    """Each damaged copy of a small log file has a page; a damaged envelope is never shown as a valid block."""
    whole, storage = command_log(), MemoryStorage()
    for number, data in enumerate(every_damage(whole.read_bytes())):
        storage.put(whole.name, data)
        out = io.StringIO()
        refused = show_log(Console(file=out, width=100), identify(storage, whole.name), 5)
        page = out.getvalue()
        assert "write token" in page, number
        if len(data) < 105 and data:
            assert "1 corrupt" in page or refused is not None, number


@pytest.mark.parametrize(
    ("file", "options"),
    [
        (LOGS / "left-over.cut-block-before-a-whole-one", []),
        (METADATA / "files" / "files-0000-0_0-1064-992_00000000000000000.hfile", ["--keys", "__all_partitions__,nowhere"]),
    ],
)
def test_guide_shows_current_output(file: Path, options: list[str]):
    """docs/inspect.md has the output of the command for these files."""
    guide = (fixtures_root().parent / "docs" / "inspect.md").read_text(encoding="utf-8")
    shown = log_of(file.name) if file.is_dir() else file
    assert call(shown, *options).stdout.rstrip() in guide


@pytest.mark.parametrize("case", ["states.compaction.requested.mor", "history.of-all-actions.cow"])
def test_guide_shows_current_timelines(case: str):
    """docs/inspect.md has the timelines that the command shows of these tables."""
    guide = (fixtures_root().parent / "docs" / "inspect.md").read_text(encoding="utf-8")
    page = call(fixtures_root() / "timeline" / case / "table", width=120).stdout
    assert page[page.index("\ntimeline") : page.index("\nfile groups")].rstrip() in guide


@pytest.mark.parametrize(
    ("case", "words", "code"),
    [
        ("clean.completed", ("clean · COMPLETED", "HoodieCleanMetadata", "successDeleteFiles", "took"), 0),
        ("savepoint.inflight", ("savepoint · INFLIGHT", "empty, which is allowed"), 0),
        ("clean.requested.empty", ("MalformedMetadata", "the file is empty", "TL-002", "refuse the file"), 1),
    ],
)
def test_action_file_page(case: str, words: tuple[str, ...], code: int) -> None:
    """Action, state, times and record; for an invalid file the rule, and exit code 1."""
    (path,) = (fixtures_root() / "actions" / case / "bytes").iterdir()
    done = CliRunner().invoke(app, ["inspect", str(path)])
    assert done.exit_code == code
    for word in words:
        assert word in done.output


def test_a_table_without_properties_is_not_said_to_have_a_version(tmp_path: Path):
    """What is shown by the rules of version 8 has no known version and no known type."""
    table = shutil.copytree(fixtures_root() / "queries" / "chosen.mor" / "table", tmp_path / "table")
    (table / ".hoodie" / "hoodie.properties").unlink()
    assert "(without a type) · version unknown, shown by the rules of version 8" in flat(call(table))


def test_a_partition_without_file_groups_is_named():
    """A mistyped path is not an empty partition."""
    table = fixtures_root() / "queries" / "chosen.mor" / "table"
    assert "no file group is in partition nope" in flat(call(table, "--partition", "nope"))
