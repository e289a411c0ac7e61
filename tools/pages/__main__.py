"""Write the pages that are generated from tables, or report those that are out of date.

python -m tools.pages
python -m tools.pages --check
"""

import argparse
import sys
from pathlib import Path

from tools.pages.architecture import architecture_page
from tools.pages.concurrency import concurrency_page
from tools.pages.contract import contract_page
from tools.pages.engines_today import engines_page
from tools.pages.limits import limits_page
from tools.pages.locks import locks_page
from tools.pages.merging import merging_page
from tools.pages.mutation_testing import mutation_testing_page
from tools.pages.properties import properties_page
from tools.pages.timeline import timeline_page
from tools.pages.track_record import track_record_page

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = {
    "architecture.md": architecture_page,
    "concurrency.md": concurrency_page,
    "contract.md": contract_page,
    "limits.md": limits_page,
    "locks.md": locks_page,
    "merging.md": merging_page,
    "mutation-testing.md": mutation_testing_page,
    "properties.md": properties_page,
    "timeline.md": timeline_page,
    "track-record.md": track_record_page,
    "what-engines-do-today.md": engines_page,
}


def main() -> int:
    """Return 0, or 1 if --check found a page that is out of date."""
    parser = argparse.ArgumentParser(prog="tools.pages", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing, report differences")
    asked = parser.parse_args()
    stale = [name for name, page in PAGES.items() if _committed(name) != page()]
    for name in stale:
        print(f"{'DIFFERS' if asked.check else 'written'}  docs/{name}")
        if not asked.check:
            (DOCS / name).write_text(PAGES[name](), "utf-8")
    return int(asked.check and bool(stale))


def _committed(name: str) -> str:
    path = DOCS / name
    return path.read_text("utf-8") if path.exists() else ""


if __name__ == "__main__":
    sys.exit(main())
