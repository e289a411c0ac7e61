"""The report page in a browser: without a network, with mouse and keyboard, in light and dark mode."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from page_checks import BROWSER, FAINT
from sample_report import PUBLISHED, RESULTS, RUN

from hudi_conformance.report import published
from hudi_conformance.runner import run_report

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no chromium, chromium-browser or google-chrome on the PATH")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the sample report."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(published, "_recorded", lambda: PUBLISHED)
        return run_report.write_report(tmp_path_factory.mktemp("report"), RUN, RESULTS)


@pytest.fixture(params=["light", "dark"])
def page(browser: Any, report: Path, request: pytest.FixtureRequest) -> Iterator[Any]:
    """The open page; it must not log errors or request other resources."""
    opened = browser.new_page(color_scheme=request.param, viewport={"width": 1280, "height": 900})
    asked: list[str] = []
    complaints: list[str] = []
    opened.on("request", lambda r: asked.append(r.url))
    opened.on("console", lambda m: complaints.append(m.text))
    opened.on("pageerror", lambda e: complaints.append(str(e)))
    opened.goto(report.as_uri())
    yield opened
    opened.close()
    assert [url for url in asked if not url.startswith("data:")] == [report.as_uri()]
    assert complaints == []


def visible(page: Any) -> list[str]:
    """Ids of the cases that the filter shows."""
    found: list[str] = page.locator("details.case:visible .id").all_inner_texts()
    return found


def test_matrix_is_visible_without_scrolling(page: Any):
    """The matrix of chapters and engines."""
    matrix = page.get_by_role("table", name="Chapters and engines")
    assert matrix.get_by_role("columnheader").all_inner_texts()[1:3] == ["reference\npython", "apache-hudi 1.0.2\njava"]
    assert matrix.locator("tbody th").all_inner_texts() == ["all", "log format", "merge modes and payloads", "model"]
    assert matrix.bounding_box()["y"] < 600


def test_click_on_a_cell_filters_cases(page: Any):
    """A click on a cell shows its cases, and the button shows all again."""
    page.get_by_role("button", name="merge modes and payloads, apache-hudi 1.0.2").click()
    page.wait_for_function("document.getElementById('count').value === '2 cases'")
    assert visible(page) == ["merge.late", "merge.known"]
    page.get_by_role("button", name="all cases").click()
    page.wait_for_function("document.getElementById('count').value === '5 cases'")


def test_filter_by_words_and_outcome(page: Any):
    """Rule, id or any word of a case; engine and outcome together mean the outcome of this engine."""
    page.get_by_label("text").fill("MRG-029")
    assert len(visible(page)) == 5
    page.get_by_label("text").fill("log.o")
    assert visible(page) == ["log.other"]
    page.get_by_label("text").fill("")
    page.get_by_role("combobox", name="engine").select_option("reference")
    page.get_by_role("combobox", name="outcome").select_option("fail")
    assert visible(page) == []
    page.get_by_role("combobox", name="engine").select_option("apache-hudi@1.0.2")
    assert visible(page) == ["merge.late"]
    page.get_by_role("combobox", name="engine").select_option("")
    page.get_by_role("combobox", name="outcome").select_option("surprise")
    assert visible(page) == ["merge.late", "model.program"]


def test_case_opens_with_the_keyboard(page: Any):
    """Expected and found rows, marked differences, and the command that repeats the case."""
    page.locator("details.case", has_text="merge.late").locator("summary").first.press("Enter")
    rows = page.locator("details.case[open] .diff tbody tr")
    assert rows.all_inner_texts() == [
        "expected\t1\tnew\t10",
        "found\t1\tlate <b>\t9",
        "expected\t2\tnull\t1",
        "found\tno such row",
    ]
    assert rows.nth(1).locator("td.d").all_inner_texts() == ["late <b>", "9"]
    assert "hudi-conformance run apache-hudi@1.0.2 --only merge.late" in page.locator("details.case[open]").inner_text()


def comparison(page: Any) -> Any:
    """The table that compares the run with the published engines, opened with the keyboard."""
    page.locator("summary", has_text="Compared with the published engines").press("Enter")
    return page.get_by_role("table", name="Cases of this run that have published results")


def test_comparison_with_published_engines(page: Any):
    """Columns of the run, then those of the published engines; a cell counts the cases that both have."""
    table = comparison(page)
    engines = [text.partition("\n")[0] for text in table.get_by_role("columnheader").all_inner_texts()[1:]]
    published = ["apache-hudi 1.0.2", "apache-hudi 1.2.0", "hudi-rs", "reference", "spark"]
    assert engines == ["reference", "apache-hudi 1.0.2", "broken", *(f"published {name}" for name in published)]
    rows = {row.locator("th").inner_text(): row.locator("td").all_inner_texts() for row in table.locator("tbody tr").all()}
    assert [cell.split("\n") for cell in rows["merge modes and payloads"]] == [
        ["2 of 2"],
        ["0 of 2", "1 wrong", "1 error"],
        ["no case"],
        ["0 of 2", "1 wrong", "1 error"],
        ["1 of 2", "1 error"],
        ["0 of 1", "1 wrong"],
        ["2 of 2"],
        ["2 of 2"],
    ]
    assert [*rows] == ["all", "log format", "merge modes and payloads", "model"]


@pytest.mark.parametrize("width", [1000, 390])
def test_chapters_stay_visible_beside_scrolled_engines(page: Any, width: int):
    """The comparison is wider than the page: it scrolls, its first column stays, the page does not scroll."""
    page.set_viewport_size({"width": width, "height": 900})
    table = comparison(page)
    area = table.locator("xpath=..")
    area.evaluate("e => e.scrollLeft = e.scrollWidth")
    assert area.evaluate("e => e.scrollLeft > 0 && document.documentElement.scrollWidth <= innerWidth")
    left = area.bounding_box()["x"]
    for heading in table.locator("tbody th").all():
        assert abs(heading.bounding_box()["x"] - left) <= 1
    last = table.get_by_role("columnheader").last.bounding_box()
    assert last["x"] + last["width"] <= width


def test_page_fits_the_window(page: Any):
    """No horizontal scrolling, also on a phone."""
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_contrast_of_texts(page: Any):
    """Contrast of at least 4.5 to 1 (WCAG AA) between text and background, in light and dark mode."""
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert page.evaluate(FAINT) == []
