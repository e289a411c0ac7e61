"""The reports for maintainers of engines: complete, listed, and about cases that exist."""

import re
from pathlib import Path

import pytest

from hudi_conformance.report.evidence.evidence import gather_evidence
from hudi_conformance.requirements import errata

FOLDER = Path(__file__).resolve().parents[3] / "docs" / "reports"
PAGES = sorted(path for path in FOLDER.glob("*.md") if path.name != "README.md")
SECTIONS = ["Recipe", "Output", "Expected", "Cause", "Case of this suite"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_report_is_complete(page: Path) -> None:
    """A report has every section, none of them empty, and output that is not an error of the recipe."""
    sections = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", page.read_text("utf-8"), re.MULTILINE | re.DOTALL))
    assert list(sections)[: len(SECTIONS)] == SECTIONS
    assert all(text.strip() for text in sections.values())
    output = re.search(r"```text\n(.+?)```", sections["Output"], re.DOTALL)
    assert output
    assert "Exception" not in output[1]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_report_names_existing_cases_and_errata(page: Path) -> None:
    """The last section names cases of the suite and errata by their exact ids, or says that the contract cannot ask."""
    text = page.read_text("utf-8").split("## Case of this suite")[1].split("## See also")[0]
    named, about = re.findall(r"`([\w.:=\[\]-]+)`", text), re.findall(r"ER-\d+", text)
    assert named or (text.strip().startswith("None: ") and about)
    assert set(named) <= {case.id for case in gather_evidence().cases}
    assert set(about) <= {erratum.id for erratum in errata.errata()}


def test_every_report_is_listed() -> None:
    """The page of the folder links to each report."""
    listed = re.findall(r"\]\(([\w-]+\.md)\)", (FOLDER / "README.md").read_text("utf-8"))
    assert sorted(listed) == [page.name for page in PAGES]
