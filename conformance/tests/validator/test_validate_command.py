"""`hudi-conformance validate`: formats, selection and exit codes."""

import doctest
import json
import re
import shutil
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from typer.testing import CliRunner, Result

from hudi_conformance.cases.schema import fixtures_root
from hudi_conformance.cli import app
from hudi_conformance.report.validation.folded import fold
from hudi_conformance.report.validation.sarif import to_sarif
from hudi_conformance.requirements.requirement import requirement
from hudi_conformance.validator import all_checks
from hudi_conformance.validator.checks.finding import Check, Finding, finding_of
from hudi_conformance.validator.validation import Validation
from hudi_reference.errors import MalformedTable

PAGE = Path(__file__).parents[3] / "docs" / "validate.md"
SOUND = fixtures_root() / "timeline" / "compaction.pending" / "table"
CUT = fixtures_root() / "log" / "damaged.cut-in-the-middle" / "table"
LEFTOVER = fixtures_root() / "layout" / "base-file-of-another-attempt" / "table"


def call(*arguments: object) -> Result:
    """`hudi-conformance validate ...` in this process."""
    return CliRunner().invoke(app, ["validate", *map(str, arguments)], env={"COLUMNS": "100"})


def answer(*arguments: object) -> dict[str, Any]:
    """The JSON."""
    found: dict[str, Any] = json.loads(call(*arguments, "--json").stdout)
    return found


@pytest.mark.parametrize(("table", "code"), [(SOUND, 0), (LEFTOVER, 0), (CUT, 1), (Path("/nothing/there"), 1)])
def test_exit_code(table: Path, code: int):
    """1 only for wrong answers and lost data, and for no table; left-over files are no fault."""
    assert call(table).exit_code == code


@pytest.mark.parametrize("arguments", [("--only", "XX-1"), ("--json", "--format", "html"), ("--sample", "0")])
def test_usage_errors(arguments: tuple[str, ...]):
    """An unknown rule, two formats, and an empty sample are usage errors."""
    assert call(CUT, *arguments).exit_code == 2


def test_a_failing_check_does_not_hide_the_findings_of_others(monkeypatch: pytest.MonkeyPatch):
    """The others' findings are printed, the failure is named, and the exit code is 3."""

    def fail(*_: object) -> Any:
        raise KeyError("boom")

    monkeypatch.setattr(all_checks, "ALL", (Check("broken.check", ("TL-001",), "cheap", fail), *all_checks.CHEAP))
    found = call(CUT, "--json")
    assert found.exit_code == 3
    result = json.loads(found.stdout)
    assert "BLK-015" in {finding["rule"] for finding in result["findings"]}
    assert "broken.check" in result["broken"][0]


def test_json_has_the_documented_shape():
    """Table, version, findings with all members, and the number of objects that each rule was examined on."""
    found = answer(CUT)
    assert (found["table"], found["version"], found["sound"]) == (str(CUT), 8, False)
    members = {"rule", "severity", "path", "key", "offset", "expected", "found", "meaning", "remedy"}
    assert all(finding.keys() == members for finding in found["findings"])
    assert {finding["rule"]: finding["severity"] for finding in found["findings"]} == {
        "BLK-015": "data-lost",
        "TL-005": "data-lost",
    }
    assert found["checked"]["LF-012"] > 0 and found["checked"]["LSM-010"] == 0


def test_sarif_names_place_and_rule():
    """Each finding is a result with level, path, offset and a rule that is described once."""
    (run,) = json.loads(call(CUT, "--format", "sarif").stdout)["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    block = next(result for result in run["results"] if result["ruleId"] == "BLK-015")
    place = block["locations"][0]["physicalLocation"]
    assert rules == ["BLK-015", "TL-005"] and block["level"] == "error"
    assert place["artifactLocation"]["uri"].startswith(".b2453432") and place["region"]["byteOffset"] == 0


@pytest.mark.parametrize("table", [SOUND, LEFTOVER, CUT])
def test_sarif_has_the_form_of_its_schema(table: Path):
    """The log is valid by the published schema, with and without findings."""
    schema = json.loads((Path(__file__).parents[1] / "support" / "sarif-2.1.0.json").read_text())
    jsonschema.Draft4Validator(schema).validate(json.loads(call(table, "--format", "sarif").stdout))


def test_places_in_sarif_are_uris():
    """Paths with spaces, percent signs, colons and other letters are encoded, and the table is an absolute URI."""
    paths = ("a b/50%/ä:x.parquet", "s3://bucket/a table", "2026-01-01T00:00/x")
    findings = tuple(Finding("TL-036", "data-lost", path, "m", "e", "f", "r") for path in paths)
    (run,) = json.loads(to_sarif(Validation("some/folder", 8, findings)))["runs"]
    places = [one["locations"][0]["physicalLocation"]["artifactLocation"] for one in run["results"]]
    assert [one["uri"] for one in places] == ["a%20b/50%25/%C3%A4%3Ax.parquet", "s3://bucket/a%20table", "2026-01-01T00%3A00/x"]
    assert [one.get("uriBaseId") for one in places] == ["TABLE", None, "TABLE"]
    assert run["originalUriBaseIds"]["TABLE"]["uri"] == f"{Path('some/folder').absolute().as_uri()}/"


def test_html_page_is_self_contained(tmp_path: Path):
    """Findings, the picture of timeline and file groups, and nothing that is loaded from elsewhere."""
    assert call(CUT, "--format", "html", "-o", tmp_path / "page.html").exit_code == 1
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "BLK-015" in page and "20261121143957018" in page and 'class="file base"' in page
    assert not re.search(r'(src|href)="(?!data:)', page)


def test_text_begins_with_the_summary():
    """The verdict is on the second line; severities follow in their order, each finding with its remedy."""
    lines = call(CUT).stdout.splitlines()
    assert lines[1].startswith("not sound · version 8 · 2 × data lost")
    assert "data lost" in lines and any(line.strip().startswith("remedy") for line in lines)


def test_pending_actions_are_shown_and_are_no_finding():
    """A planned compaction is shown with what waits for it."""
    (pending,) = answer(SOUND)["pending"]
    assert (pending["action"], pending["state"]) == ("compaction", "requested")
    assert "clustering of its file groups" in pending["blocks"]
    assert answer(SOUND)["findings"] == []


def test_only_one_rule_is_examined():
    """Other findings of the same check are left out."""
    found = answer(CUT, "--only", "TL-005")
    assert found["checked"].keys() == {"TL-005"} == {finding["rule"] for finding in found["findings"]}


def test_only_one_partition_is_examined():
    """Findings in other partitions are left out, and their files are not counted."""
    table = fixtures_root() / "layout" / "folder-without-partition-metadata" / "table"
    assert [finding["rule"] for finding in answer(table, "--partition", "south")["findings"]] == ["LAY-003"]
    assert answer(table, "--partition", "north/")["findings"] == []
    assert answer(table, "--partition", "north")["checked"]["BF-002"] < answer(table)["checked"]["BF-002"]


def test_a_sample_opens_fewer_files():
    """With --sample 1 each check opens one file."""
    table = fixtures_root() / "layout" / "partition.hive-style.cow" / "table"
    assert answer(table)["checked"]["BF-002"] > 1 == answer(table, "--sample", 1)["checked"]["BF-002"]


def test_equal_findings_are_folded():
    """Findings of one rule with one meaning are one entry; another meaning is another one."""

    def finding(path: str, meaning: str) -> Finding:
        return Finding("TL-036", "data-lost", path, meaning, "a", "b", "c")

    folded = fold([finding("x", "one"), finding("y", "one"), finding("z", "two")])
    assert [len(one.findings) for one in folded] == [2, 1]


@pytest.mark.parametrize("example", re.findall(r"^```\n\$ (.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL))
def test_the_examples_of_the_page_are_true(monkeypatch: pytest.MonkeyPatch, example: str):
    """Each command of docs/validate.md prints what is printed there; ... is anything."""
    monkeypatch.chdir(fixtures_root().parent)
    command, _, shown = example.partition("\n")
    found = call(*command.removeprefix("hudi-conformance validate ").split()).output
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert doctest.OutputChecker().check_output(shown, found, options), found


def test_a_partition_that_the_table_does_not_have_is_a_usage_error():
    """A mistyped path must not look like a sound partition; one whose files are all gone is examined."""
    table = fixtures_root() / "layout" / "folder-without-partition-metadata" / "table"
    found = call(table, "--partition", "sotuh")
    assert (found.exit_code, "--partition sotuh" in found.output) == (2, True)


def test_a_partition_without_its_folder_is_examined(tmp_path: Path):
    """The writes of the timeline name its files."""
    table = shutil.copytree(fixtures_root() / "layout" / "folder-without-partition-metadata" / "table", tmp_path / "table")
    shutil.rmtree(table / "south")
    assert "TL-036" in [finding["rule"] for finding in answer(table, "--partition", "south")["findings"]]


def test_what_was_expected_is_never_what_is_wrong(tmp_path: Path):
    """A block whose header is no text: the expectation is stated as one."""
    table = shutil.copytree(fixtures_root() / "queries" / "chosen.mor" / "table", tmp_path / "table")
    log = next(path for path in sorted(table.iterdir()) if ".log." in path.name)
    data = bytearray(log.read_bytes())
    data[data.index(b'{"type"')] = 0xFF
    log.write_bytes(data)
    (finding,) = answer(table)["findings"]
    assert finding["rule"] == "LF-010"
    assert finding["expected"] not in finding["found"]


def test_a_fault_without_an_expectation_gets_that_of_its_rule():
    """The sentence of the rule is what is expected."""
    found = finding_of(MalformedTable("x", rule="LF-010"), "wrong-answers", "m", rule="LF-010", path="p")
    assert found.expected == requirement("LF-010").text
