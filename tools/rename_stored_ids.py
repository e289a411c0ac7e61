"""Replace former ids of Python cases and former names of mutants in stored files by the current ones.

    python -m tools.rename_stored_ids [--check]

Lists of expected failures, verdicts, kills, schedules and errata of the source checkout are rewritten. `--check` writes
nothing and exits with 1 if something would change. `conformance/hudi_conformance/cases/renames/README.md` describes renames.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hudi_conformance.cases.renames import current_case, current_mutant
from hudi_conformance.mutants.harness import schedules, score
from hudi_conformance.report.evidence.evidence import RESULTS, ROOT
from hudi_conformance.requirements import errata

LISTS = ROOT / "conformance" / "expected-failures"

#: Counters that were renamed.
COUNTERS = {"deaths": "crashes", "s3_gate_milliseconds": "s3_proxy_milliseconds"}

#: Outcomes from the worst: the first one is kept if several stored outcomes belong to one case.
WORST_FIRST = ("fail", "crash", "timeout", "error", "refused", "pass", "open", "unsupported")


def rewrite_files() -> Iterator[tuple[Path, str]]:
    """Each file that contains ids, with its content in current ids."""
    for path in sorted(RESULTS.glob("*.json")):
        yield path, _dump(rename_in_verdicts(_load(path)))
    yield score.FILE, _dump(rename_in_kills(_load(score.FILE)))
    yield schedules.FILE, _dump(dict(sorted((current_mutant(k), v) for k, v in _load(schedules.FILE).items())))
    for path in sorted(LISTS.glob("*.toml")):
        yield path, rename_in_expected_failures(path.read_text(encoding="utf-8"))
    yield errata.FILE, rename_in_text(errata.FILE.read_text(encoding="utf-8"))


def rename_in_verdicts(stored: dict[str, Any]) -> dict[str, Any]:
    """Outcomes and counts of one engine. If two former ids are one case now, the worse of the two outcomes is kept."""
    outcomes: dict[str, str] = {}
    for case, outcome in stored["cases"].items():
        found = [outcome, *filter(None, [outcomes.get(current_case(case))])]
        outcomes[current_case(case)] = min(found, key=WORST_FIRST.index)
    counts = {"counts": _renamed(stored["counts"])} if "counts" in stored else {}
    for case, found in counts.get("counts", {}).items():
        counts["counts"][case] = {COUNTERS.get(name, name): number for name, number in found.items()}
    return stored | {"cases": dict(sorted(outcomes.items()))} | counts


def _renamed(stored: dict[str, Any]) -> dict[str, Any]:
    return dict(sorted((current_case(case), value) for case, value in stored.items()))


def rename_in_kills(stored: dict[str, list[str]]) -> dict[str, list[str]]:
    """Mutants with the cases that kill them."""
    return {
        mutant: sorted(set(map(current_case, cases)))
        for mutant, cases in sorted((current_mutant(name), cases) for name, cases in stored.items())
    }


def rename_in_expected_failures(text: str) -> str:
    """A list of expected failures, with its entries sorted by id."""
    head, *entries = re.split(r"(?m)^(?=\[\[failure\]\]$)", text)
    renamed = [re.sub(r"(?m)^case = (.+)$", lambda m: f"case = {_quoted(current_case(json.loads(m[1])))}", e) for e in entries]
    blocks = sorted((entry.rstrip("\n") for entry in renamed), key=lambda e: json.loads(re.search(r"(?m)^case = (.+)$", e)[1]))
    return head + "\n\n".join(blocks) + "\n" if blocks else text


def _quoted(case: str) -> str:
    return json.dumps(case, ensure_ascii=False)


def rename_in_text(text: str) -> str:
    """A text in which ids of Python cases are replaced."""
    return re.sub(r"\btest_\w+::test_\w+(\[[^\]\n]*\])?", lambda m: current_case(m[0]), text)


def _load(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def _dump(value: Any) -> str:
    return json.dumps(value, indent=1) + "\n"


def main(arguments: list[str]) -> int:
    """Rewrite the files; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.rename_stored_ids", description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if something would change")
    asked = parser.parse_args(arguments)
    changed = [(path, text) for path, text in rewrite_files() if path.read_text(encoding="utf-8") != text]
    for path, text in changed:
        print(f"{'stale' if asked.check else 'rewritten'}  {path.relative_to(ROOT)}")
        if not asked.check:
            path.write_text(text, encoding="utf-8")
    return 1 if changed and asked.check else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
