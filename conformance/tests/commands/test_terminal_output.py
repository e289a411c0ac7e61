"""No control character of a table, an engine or a file reaches standard output or standard error."""

import json
import re
import subprocess
import sys

import pyarrow as pa
import pytest
from typer.testing import CliRunner

from hudi_conformance.cli import app
from hudi_conformance.console import SafeConsole
from hudi_conformance.contract.text import make_printable
from hudi_conformance.terminal import GuardedStream, guarded_streams
from hudi_reference import create_table

#: Clear screen, an 8-bit CSI, delete, right-to-left override, a title, carriage return, a zero-width space.
HOSTILE = "a\x1b[2J\x9b2J\x7f\u202eb\x1b]0;t\x07\r\u200b"
#: What must not be in any output.
RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069]")
SCHEMA = json.dumps(
    {"type": "record", "name": "row", "fields": [{"name": name, "type": "string"} for name in ("part", "key", "value")]}
)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A table whose rows, partition, properties and files hold control characters."""
    folder = tmp_path_factory.mktemp("hostile") / "table"
    made = create_table(
        str(folder), name="t", schema=SCHEMA, record_key=["key"], partition=["part"], table_type="MERGE_ON_READ",
        properties={"hoodie.hostile": HOSTILE},
    )  # fmt: skip
    made.upsert(pa.table({"part": ["p\x1b[31m\u202e"], "key": [HOSTILE], "value": [HOSTILE]}))
    made.upsert(pa.table({"part": ["p\x1b[31m\u202e"], "key": [HOSTILE], "value": [f"{HOSTILE}2"]}))
    (folder / f"stray{HOSTILE}.parquet").write_bytes(b"PAR1 nothing")
    return folder


def commands(table):
    """Every command that shows a table or a file, and errors that quote what they were given."""
    yield from (["read", str(table), "--format", kind] for kind in ("table", "csv", "jsonl"))
    yield from (["read", str(table), "--format", "table", "--where", where] for where in ("value = 'x'", f"{HOSTILE} = 1"))
    yield from (["inspect", str(table), *more] for more in ([], ["--json"], ["--all"]))
    for path in sorted(path for path in table.rglob("*") if path.is_file()):
        yield from (["inspect", str(path), *more] for more in ([], ["--json"], ["--content"], ["--hex", "0:64"]))
    yield from (["validate", str(table), *more] for more in ([], ["--json"]))
    yield ["service", str(table), "clean"]
    yield ["migrate", str(table)]
    yield from ([command, f"no{HOSTILE}"] for command in ("read", "inspect", "validate", "explain", "run", "smoke", "migrate"))
    yield ["fixtures", "list", "--only", HOSTILE]
    yield ["mutants", "--only", HOSTILE]
    yield ["object-store", "--replay", HOSTILE]
    yield ["explore", "--replay", HOSTILE]
    yield [HOSTILE]


def test_every_command(table):
    """The bytes of both streams hold no control character except line feeds and tabs, whatever the command."""
    wrong = []
    for arguments in commands(table):
        if "\x00" not in "".join(arguments):
            result = CliRunner().invoke(app, arguments)
            wrong += [(arguments, found[0]) for found in [RAW.search(result.stdout), RAW.search(result.stderr)] if found]
    assert wrong == []


def test_json_keeps_the_value(table):
    """Rows in jsonl are lossless: control characters are escapes of JSON."""
    result = CliRunner().invoke(app, ["read", str(table), "--format", "jsonl"])
    assert json.loads(result.stdout)["key"] == HOSTILE


def test_every_character_is_lossless_in_json():
    """JSON text has the same value when it is printable."""
    every = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x10000), *range(0xE0000, 0xE0100)]))
    text = make_printable(json.dumps(every, ensure_ascii=False))
    assert json.loads(text) == every
    assert RAW.search(text) is None


def test_adapter(tmp_path):
    """What an adapter says of itself, its errors and its standard error are escaped in `smoke` and `run`."""
    adapter = tmp_path / "adapter.py"
    adapter.write_text(
        "import json, sys\n"
        f"said = {HOSTILE!r}\n"
        "print(said, file=sys.stderr, flush=True)\n"
        "for line in sys.stdin:\n"
        "    message = json.loads(line)\n"
        "    answer = {'id': message.get('id'), 'error': {'message': said, 'trace': said}}\n"
        "    if message['op'] == 'hello':\n"
        "        answer = {'protocol': 1, 'engine': said, 'version': said, 'language': said, 'features': ['read.snapshot']}\n"
        "    print(json.dumps(answer), flush=True)\n"
    )
    for arguments in (["smoke"], ["run", "--only", "merge.*", "--tier", "golden", f"--report={tmp_path / 'report'}"]):
        code = "import sys; from hudi_conformance.cli import app; app()"
        command = [sys.executable, "-c", code, *arguments, f"{sys.executable} {adapter}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, timeout=300)
        assert RAW.search(done.stdout + done.stderr) is None
        assert "\\x1b" in done.stdout + done.stderr


def test_traceback_is_guarded():
    """An unexpected error whose text holds control characters is printed escaped."""
    code = (
        "import sys\nfrom hudi_conformance import cli\n"
        f"def broken(name):\n    raise RuntimeError({HOSTILE!r})\n"
        "cli.load = broken\ncli.app(['engines'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "RuntimeError" in done.stderr and RAW.search(done.stdout + done.stderr) is None


def test_guard_and_console(capsys):
    """Printing is escaped, colours of the console pass, text on the console is escaped, in cells too."""
    with guarded_streams():
        print(HOSTILE)
        console = SafeConsole(force_terminal=True, color_system="standard")
        console.print(f"[bold]{make_printable('x')}[/bold]", HOSTILE)
        assert isinstance(sys.stdout, GuardedStream)
    printed = capsys.readouterr().out
    assert "\x1b[1mx\x1b[0m" in printed
    assert RAW.search(re.sub("\x1b\\[[0-9;]*m", "", printed)) is None
