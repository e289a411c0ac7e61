"""`smoke` separates faults of adapters from faults of engines."""

import re
import sys

import pyarrow as pa
import pytest
from typer import Typer
from typer.testing import CliRunner

from hudi_conformance.commands.adapters.smoke import smoke
from hudi_conformance.contract import Engine
from hudi_conformance.contract.in_process import InProcessTransport
from hudi_conformance.contract.process import ProcessTransport
from hudi_conformance.engines.reference.engine import Reference
from hudi_conformance.engines.smoke import Smoke


def run(command, *args):
    """Run a command in this process."""
    app = Typer()
    app.command()(command)
    return CliRunner().invoke(app, list(args))


def faults(output):
    """Step and culprit of each fault in the output of smoke."""
    found = re.findall(r"^  (adapter|engine)!\s+(.{10})", output, re.MULTILINE)
    return [(step, who) for who, step in found]


def test_the_reference_passes_every_step():
    """Only the refusal of a query is skipped, because the reference declares all queries."""
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
    """The exit code is 3 for a fault of the adapter, and 1 if only the engine has a fault; each fault has a remedy."""
    done = run(smoke, f"faulty:{fault}")
    assert done.exit_code == code, done.output
    assert findings.items() <= dict(reversed(faults(done.output))).items()
    assert "remedy" in done.output


def test_engine_that_does_not_start_is_a_fault_of_the_engine():
    """The adapter runs and reports why its engine does not start."""

    class NeverStarts(Engine):
        def hello(self):
            raise RuntimeError("no Java here")

    (only,) = Smoke("never-starts", lambda: InProcessTransport(NeverStarts), (1, 1), Reference()).run()
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

    found = Smoke("types", lambda: InProcessTransport(SendsOtherTypes), (1, 1), Reference()).run()
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


def test_buffered_output_is_a_fault_of_the_adapter(tmp_path):
    """An adapter that flushes `hello` only is told to flush; its engine is not blamed."""
    program = tmp_path / "buffers.py"
    program.write_text(
        "import json, sys\nsys.stdout = open(1, 'w')\nfor line in sys.stdin:\n    message = json.loads(line)\n"
        '    if message["op"] == "hello":\n'
        '        names = {"engine": "x", "version": "1", "language": "p", "features": ["read.snapshot"]}\n'
        '        print(json.dumps({"protocol": 1, **names}), flush=True)\n'
        '    elif message["op"] != "bye":\n'
        '        print(json.dumps({"id": message["id"], "error": {"message": "no"}}))\n'
    )
    command, limit = [sys.executable, str(program)], (10.0, 0.5)
    found = [*Smoke("x", lambda: ProcessTransport(command), limit, Reference()).run()]
    late = [finding for finding in found if "it came when standard input was closed" in finding.said]
    assert len(late) >= 4 and {(f.blame, f.remedy) for f in late} == {("adapter", "flush standard output after each answer")}


def test_adapter_that_runs_after_bye_is_a_fault_of_the_adapter(monkeypatch):
    """`bye` is the last step of the protocol."""
    monkeypatch.setattr("hudi_conformance.engines.smoke.GRACE", 0.3)
    code = (
        "import sys, time\nfor line in sys.stdin:\n"
        '    print(\'{"protocol": 1, "engine": "x", "version": "1", "language": "p", "features": []}\', flush=True)\n'
        "    time.sleep(1000)"
    )
    done = run(smoke, f'{sys.executable} -c "{code.replace(chr(34), chr(92) + chr(34))}"', "--message-timeout", "0.5")
    assert ("exits by i", "adapter") in faults(done.output), done.output


def test_unknown_engine_is_a_usage_error():
    """The exit code is 2."""
    done = run(smoke, "refrence")
    assert done.exit_code == 2
    assert "did you mean reference" in done.output
