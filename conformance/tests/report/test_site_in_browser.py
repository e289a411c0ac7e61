"""The site in a browser: without a network, with the keyboard, on a phone, in light and dark mode."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from page_checks import BROWSER, FAINT
from sample_site import CONTENT

from hudi_conformance.report.site import folder
from hudi_conformance.report.site.build import render_pages

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no chromium, chromium-browser or google-chrome on the PATH")

PAGES = (
    "index.html",
    "trend.html",
    "engines-today.html",
    "track-record.html",
    "errata.html",
    "rules/MRG-029.html",
    "cases/merge.delete.then-older-row.mor.html",
    "cases/test_windows--test_notations_of_times.html",
    "chapters/merging.html",
    "engines/hudi-rs.html",
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of some cases."""
    made = tmp_path_factory.mktemp("site") / "site"
    folder.write_site(made, render_pages(CONTENT, lambda *_: None))
    return made


@pytest.fixture(params=["light", "dark"])
def page(browser: Any, site: Path, request: pytest.FixtureRequest) -> Iterator[Any]:
    """A page of a browser, which must not log errors or load anything from outside of the site."""
    opened = browser.new_page(color_scheme=request.param)
    asked: list[str] = []
    complaints: list[str] = []
    opened.on("request", lambda r: asked.append(r.url))
    opened.on("console", lambda m: complaints.append(m.text))
    opened.on("pageerror", lambda e: complaints.append(str(e)))
    yield opened
    opened.close()
    assert [url for url in asked if not url.startswith(("data:", site.as_uri()))] == []
    assert complaints == []


@pytest.mark.parametrize("path", PAGES)
def test_pages_fit_the_window_and_have_contrast(page: Any, site: Path, path: str):
    """No horizontal scrolling at 390 and 1280 pixels, and a contrast of 4.5 to 1 (WCAG AA)."""
    page.goto((site / path).as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate(FAINT) == []


def test_keyboard_leads_from_the_matrix_to_a_case(page: Any, site: Path):
    """The skip link is first; links of the matrix, of a chapter and of a case open with Enter; wide tables take the focus."""
    page.goto((site / "index.html").as_uri())
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "scroll"
    page.get_by_role("link", name="merge modes and payloads").press("Enter")
    page.wait_for_url("**/chapters/merging.html")
    page.get_by_role("link", name="merge.delete.then-older-row.mor", exact=True).press("Enter")
    page.wait_for_url("**/cases/merge.delete.then-older-row.mor.html")
    assert page.get_by_role("heading", level=1).inner_text() == "merge.delete.then-older-row.mor"
