"""Pages that are generated from tables are up to date."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def test_generated_pages_are_up_to_date() -> None:
    """The pages in docs/ that are generated from tables match these tables (PROP-001).

    After a change of a table run `python -m tools.pages`.
    """
    done = subprocess.run(
        [sys.executable, "-m", "tools.pages", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, ""), "python -m tools.pages"
