"""Pages that come from tables are as the tables say."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_pages_are_those_of_the_tables() -> None:
    """docs/timeline.md is what the table of states says, docs/properties.md what that of properties says (PROP-001).

    Whoever changes a table writes the page again.
    """
    done = subprocess.run(
        [sys.executable, "-m", "tools.pages", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, ""), "python -m tools.pages"
