"""Fixtures of the tests of reports."""

from collections.abc import Iterator
from typing import Any

import pytest
from page_checks import BROWSER


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield found
        found.close()
