"""The site: links, pages of all rules and cases, escaping, badges, and the folder that it replaces."""

import errno
import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

import pytest
from sample_site import CONTENT, WHOLE
from typer.testing import CliRunner

from hudi_conformance.cases.verdict import Outcome
from hudi_conformance.cli import app
from hudi_conformance.report.evidence.evidence import CitedCase, Evidence
from hudi_conformance.report.evidence.track_record import known_faults
from hudi_conformance.report.published import compare_with_published, published_engine
from hudi_conformance.report.site import folder
from hudi_conformance.report.site.build import render_pages
from hudi_conformance.report.site.content import Content, page_file_name
from hudi_conformance.report.site.trend import compute_trends
from hudi_conformance.requirements.requirement import requirements
from hudi_conformance.runner.expected_failures import ExpectedFailure


def quietly(*_: object) -> None:
    """Report no progress."""


@pytest.fixture(scope="module")
def site() -> dict[str, str]:
    """All files of the whole site."""
    found = list(render_pages(WHOLE, quietly))
    assert len({name for name, _ in found}) == len(found)
    return dict(found)


def links(name: str, text: str) -> Iterator[tuple[str, str]]:
    """Target file and anchor of each link of a page to the site."""
    for address in re.findall(r'(?:href|src)="([^"]*)"', text):
        if not address.startswith(("https://", "http://", "data:")):
            path, _, anchor = unquote(unescape(address)).partition("#")
            parts: list[str] = []
            for part in (PurePosixPath(name).parent / path if path else PurePosixPath(name)).parts:
                parts = parts[:-1] if part == ".." else [*parts, part]
            yield "/".join(parts), anchor


def test_each_internal_link_leads_to_a_page(site: dict[str, str]):
    """Links are relative; file and anchor exist."""
    anchors = {name: set(re.findall(r' id="([^"]*)"', text)) for name, text in site.items()}
    broken = [
        (name, target, anchor)
        for name, text in site.items()
        for target, anchor in set(links(name, text))
        if target not in site or (anchor and anchor not in anchors[target])
    ]
    assert broken == []


def test_each_rule_and_case_has_a_page(site: dict[str, str]):
    """Also those without results."""
    assert {f"rules/{id_}.html" for id_ in requirements()} <= site.keys()
    assert {f"cases/{page_file_name(case.id)}.html" for case in WHOLE.evidence.cases} <= site.keys()
    assert len([name for name in site if name.startswith("cases/")]) == len(WHOLE.evidence.cases)


def test_site_is_small_and_loads_nothing_from_elsewhere(site: dict[str, str]):
    """No script at all, no style sheet, font or image of another host, below 40 MB."""
    assert sum(len(text.encode()) for text in site.values()) < 40e6
    loading = re.compile(r'<script|src="(?:https?:)?//|@import|url\(|<link[^>]*href="(?:https?:)?//')
    assert [name for name, text in site.items() if loading.search(text)] == []


def test_badges_have_the_numbers_of_the_matrix(site: dict[str, str]):
    """A badge shows passed of asked, as the last line of the matrix does."""
    for engine, cell in zip(WHOLE.engines, WHOLE.matrix[-1].cells, strict=True):
        mine = [found for found in WHOLE.evidence.verdicts[engine.name].items() if found[0] in WHOLE.cases]
        passed = sum(outcome == "pass" for _, outcome in mine)
        asked = sum(Outcome(outcome).is_asked for _, outcome in mine)
        assert cell.score == f"{passed} of {asked}"
        assert f">{passed} of {asked}</text>" in site[f"badges/{page_file_name(engine.name)}.svg"]
        assert f'<span class="score">{passed} of {asked}</span>' in site["index.html"]


def test_page_of_a_case(site: dict[str, str]):
    """Question, picture, right rows, and the answer of each engine with its cause."""
    text = unescape(site["cases/merge.delete.then-older-row.mor.html"])
    assert "Read the table: snapshot query." in text
    assert '<span class="file base">' in text
    assert "<td>written again with a smaller ordering value</td>" in text
    assert "The delete by key is forgotten when a row with a smaller ordering value follows it" in text
    assert 'href="../errata.html#ER-051"' in text


def test_wrong_answers_come_first(site: dict[str, str]):
    """The sections of the known failures are in the order of danger."""
    assert re.findall(r'<h2 id="([a-z]+)">', site["engines-today.html"])[0] == "fail"


def test_reported_faults_link_to_their_cases(site: dict[str, str]):
    """Each reported fault has its links upstream, and links to its cases or a reason."""
    text = unescape(site["track-record.html"])
    for fault in known_faults():
        assert f'<tr id="{fault.id}">' in text
        assert all(f'href="{link}"' in text for link in fault.links)
        assert all(f'href="cases/{page_file_name(case)}.html"' in text for case in fault.cases)
        assert fault.reason in text


def test_hostile_values_are_escaped():
    """Texts of cases, engines and lists are never markup, and file names stay in the folder."""
    bad = '"><script>alert(1)</script>'
    case = CitedCase(f"../../test_x::{bad}", ("MRG-029",), (), "conformance/x/merging/test_x.py", bad)
    entry = ExpectedFailure(case.id, Outcome.FAIL, bad, bad, bad)
    content = Content(Evidence(cases=(case,), verdicts={f"e {bad}": {case.id: "fail"}}), {f"e {bad}": (entry,)})
    for name, text in render_pages(content, quietly):
        assert "<script" not in text, name
        assert ".." not in PurePosixPath(name).parts
        assert re.fullmatch(r"[\w./@-]+", name)


def test_trend_counts_cases_that_changed():
    """Cases are compared that have results of both releases."""
    verdicts = {"x@1.9": {"a": "fail", "b": "pass", "c": "pass"}, "x@1.10": {"a": "pass", "b": "error", "d": "pass"}}
    cases = tuple(CitedCase(id_, ("MRG-029",), (), "merging/test_x.py", "") for id_ in "abcd")
    (trend,) = compute_trends(Content(Evidence(cases=cases, verdicts=verdicts), {}).results)
    (step,) = trend.steps
    assert (step.before.name, step.after.name, step.shared) == ("x@1.9", "x@1.10", 2)
    assert [c.case for c in step.repaired] == ["a"]
    assert [c.case for c in step.broken] == ["b"]
    assert [cell.score for cell in trend.lines[-1].cells] == ["1 of 2", "1 of 2"]


def test_a_run_is_compared_with_published_engines():
    """Columns of the run and of the published engines have the same cases; parameters of a test are one case."""
    known = {"other@1": {"test_x::t": "pass", "merge.a": "fail", "merge.b": "pass"}}
    mine = [
        replace(WHOLE.results[0], engine="mine", case=id_, outcome=Outcome.PASS) for id_ in ("test_x::t[1]", "test_x::t[2]")
    ]
    found = compare_with_published([*mine, replace(mine[0], case="merge.a")], [published_engine("mine")], known)
    assert found is not None
    assert [cell.score for cell in found.lines[-1].cells] == ["2 of 2", "1 of 2"]
    assert compare_with_published([replace(mine[0], case="merge.z")], [published_engine("mine")], known) is None


def test_only_an_earlier_site_is_replaced(tmp_path: Path):
    """A folder with other files stays as it is, and the error names it."""
    ours = tmp_path / "site"
    folder.write_site(ours, [("index.html", "first"), ("old.html", "")])
    folder.write_site(ours, [("index.html", "second")])
    assert sorted(p.name for p in ours.iterdir()) == [folder.MARKER, "index.html"]
    theirs = tmp_path / "home"
    theirs.mkdir()
    (theirs / "letter.txt").write_text("dear")
    found = CliRunner().invoke(app, ["site", "-o", str(theirs)])
    assert (found.exit_code, found.stdout) == (2, "")
    assert found.stderr.startswith(f"{theirs} is not empty and is not a site")
    assert [p.name for p in theirs.iterdir()] == ["letter.txt"]


@pytest.mark.parametrize("step", [1, 2])
def test_an_earlier_site_stays_if_it_cannot_be_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int):
    """Whichever rename fails, the earlier site is whole, and the next command replaces it."""
    ours, rename, calls = tmp_path / "site", Path.rename, []

    def failing(path: Path, to: Path) -> Path:
        calls.append(path)
        if len(calls) == step:
            raise OSError(errno.EIO, "Input/output error", str(path))
        return rename(path, to)

    folder.write_site(ours, [("index.html", "first")])
    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", failing)
        with pytest.raises(OSError, match="Input"):
            folder.write_site(ours, [("index.html", "second")])
    assert (ours / "index.html").read_text() == "first"
    assert [path.name for path in tmp_path.iterdir()] == ["site"]
    folder.write_site(ours, [("index.html", "second")])
    assert (ours / "index.html").read_text() == "second"


def test_an_earlier_site_that_cannot_be_deleted_is_no_broken_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The new site has the name, whatever is left of the earlier one."""
    ours = tmp_path / "site"
    folder.write_site(ours, [("index.html", "first")])
    with monkeypatch.context() as patched:
        patched.setattr("os.unlink", lambda *_, **__: (_ for _ in ()).throw(OSError(errno.EIO, "Input/output error")))
        folder.write_site(ours, [("index.html", "second")])
    assert (ours / "index.html").read_text() == "second"


def test_missing_reports_are_an_error(tmp_path: Path):
    """One line names the folder and the command that writes a report."""
    found = CliRunner().invoke(app, ["site", "-o", str(tmp_path / "site"), "--add", str(tmp_path)])
    assert found.exit_code == 2
    assert found.stderr.count("\n") == 1
    assert "is no report folder" in found.stderr and "Errno" not in found.stderr
    assert not (tmp_path / "site").exists()


def test_small_site_has_only_its_cases():
    """A site of some cases links no others."""
    found = dict(render_pages(CONTENT, quietly))
    assert all(target in found for name, text in found.items() for target, _ in links(name, text))
