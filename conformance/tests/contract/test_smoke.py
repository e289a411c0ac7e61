"""`smoke` tells adapters from engines, and the page that teaches adapters is true."""

import doctest
import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from typer import Typer
from typer.testing import CliRunner

from hudi_conformance.commands.adapters.smoke import smoke
from hudi_conformance.contract import Engine
from hudi_conformance.contract.in_process import InProcessTransport
from hudi_conformance.contract.smoke import Smoke
from hudi_conformance.contract.validation import ANSWERS, check_answer, check_message
from hudi_conformance.engines.reference.engine import Reference

PAGE = Path(__file__).parents[3] / "docs" / "plug-in-an-engine.md"


def run(command, *args):
    """A command of ours, called in this process."""
    app = Typer()
    app.command()(command)
    return CliRunner().invoke(app, list(args))


def blamed(output):
    """Step and culprit of every fault that smoke has printed."""
    found = re.findall(r"^  (adapter|engine)!\s+(.{10})", output, re.MULTILINE)
    return [(step, who) for who, step in found]


def test_the_reference_passes_every_step():
    """And nothing is skipped but the refusal of a query: it declares them all."""
    done = run(smoke, "reference")
    assert done.exit_code == 0, done.output
    assert "The adapter keeps the contract" in done.output
    assert (done.output.count("not offered"), "every query is declared" in done.output) == (1, True)


@pytest.mark.parametrize(
    ("fault", "findings", "code"),
    [
        ("prints-junk", {"answers an": "adapter", "reads a sm": "adapter"}, 3),
        ("wrong-id", {"answers an": "adapter", "answers ea": "adapter"}, 3),
        ("breaks-the-schema", {"reads a sm": "adapter"}, 3),
        ("starts-late", {"starts and": "adapter"}, 3),
        ("crashes", {"answers an": "adapter", "reads a sm": "engine"}, 3),
        ("always-refuses", {"reads a sm": "adapter", "creates a ": "adapter"}, 3),
        ("reads-stale-rows", {"reads a sm": "engine", "inspects t": "engine"}, 1),
        ("loses-writes", {"creates a ": "engine"}, 1),
    ],
)
def test_faults_of_adapters_are_distinct_from_faults_of_engines(fault, findings, code):
    """The exit code is 3 while the adapter is at fault, 1 if only the engine is; each fault comes with its remedy."""
    done = run(smoke, f"faulty:{fault}")
    assert done.exit_code == code, done.output
    assert findings.items() <= dict(reversed(blamed(done.output))).items()
    assert "remedy" in done.output


def test_an_engine_that_does_not_start_is_blamed_for_it():
    """The adapter runs and reports why its engine does not start."""

    class NeverStarts(Engine):
        def hello(self):
            raise RuntimeError("no Java here")

    (only,) = Smoke("never-starts", lambda: InProcessTransport(NeverStarts), (1, 1), Reference()).findings()
    assert (only.blame, only.said) == ("engine", "RuntimeError: no Java here")


@pytest.mark.parametrize(
    ("kind", "said", "remedy"),
    [
        (pa.float64(), "column n is sent as double, expected int64", "Avro int and long as Arrow integers"),
        (pa.string(), "column n is sent as string, expected int64", "Avro int and long as Arrow integers"),
    ],
)
def test_a_column_of_another_type_is_the_adapters_fault(kind, said, remedy):
    """Numbers of JavaScript are doubles; equal values of another type would pass here and fail in the suite."""

    class SendsOtherTypes(Reference):
        def read(self, table, query):
            rows = super().read(table, query)
            return rows.set_column(1, "n", rows["n"].cast(kind))

    found = Smoke("types", lambda: InProcessTransport(SendsOtherTypes), (1, 1), Reference()).findings()
    finding = next(one for one in found if one.step.startswith("reads a small"))
    assert (finding.blame, finding.said) == ("adapter", said)
    assert remedy in finding.remedy


def test_hello_is_shown_with_its_links_and_without_escape_sequences(tmp_path):
    """Members that are not known are accepted."""
    program = tmp_path / "links.py"
    program.write_text(
        "import sys\nfor line in sys.stdin:\n"
        '    print(\'{"protocol": 1, "engine": "x\\\\u001b[31m", "version": "1", "language": "p", "features": [],\'\n'
        '          \'"homepage": "https://example.org", "mood": 3}\', flush=True)\n'
    )
    done = run(smoke, f"{sys.executable} {program}", "--message-timeout", "2")
    assert "x\\x1b[31m 1 in p, 0 features, homepage https://example.org" in done.output and "\x1b" not in done.output


def test_an_adapter_that_stays_after_bye_is_blamed_for_it(monkeypatch):
    """The last promise of the dialogue."""
    monkeypatch.setattr("hudi_conformance.contract.smoke.GRACE", 0.3)
    code = (
        "import sys, time\nfor line in sys.stdin:\n"
        '    print(\'{"protocol": 1, "engine": "x", "version": "1", "language": "p", "features": []}\', flush=True)\n'
        "    time.sleep(1000)"
    )
    done = run(smoke, f'{sys.executable} -c "{code.replace(chr(34), chr(92) + chr(34))}"', "--message-timeout", "0.5")
    assert ("exits by i", "adapter") in blamed(done.output), done.output


def test_a_name_that_means_nothing_is_an_error_of_usage():
    """Exit code 2, as everywhere."""
    done = run(smoke, "refrence")
    assert done.exit_code == 2
    assert "did you mean reference" in done.output


def blocks():
    """The fenced blocks of the page, as (language, text)."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)


@pytest.fixture
def commands_on_path(tmp_path, monkeypatch):
    """`hudi-conformance` and `python` are those of this test, from whichever environment it runs."""
    folder = tmp_path / "bin"
    folder.mkdir()
    call = "from hudi_conformance.cli import app; app()"
    for name, rest in (("python", ""), ("hudi-conformance", f' -c "{call}"')):
        script = folder / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}"{rest} "$@"\n')
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


def test_the_page_builds_the_adapter_that_it_shows(tmp_path, commands_on_path):
    """Every file of the page is written, every command run, and every output is the one printed there (... is anything)."""
    folder = tmp_path / "page"
    folder.mkdir()
    same = doctest.OutputChecker().check_output
    ran = 0
    for language, text in blocks():
        if language == "python":
            (folder / text.split("\n", 1)[0].removeprefix("# ")).write_text(text)
        elif language == "console":
            commands = [line[2:] for line in text.splitlines() if line.startswith("$ ")]
            expected = "\n".join(line for line in text.splitlines() if not line.startswith("$ ")) + "\n"
            done = subprocess.run(
                "; ".join(commands),
                shell=True, cwd=folder, capture_output=True, text=True, timeout=120, check=False,
            )  # fmt: skip
            assert same(expected, done.stdout, doctest.ELLIPSIS), f"{commands}\n{done.stdout}{done.stderr}"
            ran += 1
    assert ran >= 6


def test_the_messages_and_answers_of_the_page_keep_their_schemas():
    """The tables show one message of each kind and one answer of each kind."""
    shown = [json.loads(text) for text in re.findall(r"^\| `(\{.*?\})` \|", PAGE.read_text(), re.MULTILINE)]
    messages = [one for one in shown if "op" in one]
    for message in messages:
        check_message(message)
    assert [message["op"] for message in messages] == list(ANSWERS)
    kinds = [
        check_answer({7: "read", 8: "inspect", 10: "write", 11: "compute"}[one["id"]], one) for one in shown if "op" not in one
    ]
    assert set(kinds) == {kind for kinds in ANSWERS.values() for kind in kinds} - {"hello"}
