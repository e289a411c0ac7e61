"""`docs/mutation-testing.md`: how strong the suite is, measured with named and with drawn mutants of the reference."""

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from hudi_conformance.mutants.drawn.draw import Change
from hudi_conformance.mutants.drawn.triage import load_triage
from hudi_conformance.report.evidence.figures import FOLDER
from hudi_conformance.report.evidence.untested import load_untested

HEAD = """\
# Mutation testing

A mutant is the reference with one fault. The suite should fail on it: a case must fail that passes on the reference. The tests
of the reference itself are not used. This page is written by `python -m tools.pages`.

* **Named mutants** each break a rule in a plausible way. They are stored in `conformance/hudi_conformance/mutants`, in the
  chapter of their rule. `hudi-conformance mutants --only MRG-029` runs those of a rule and records the cases that fail.
  `hudi-conformance mutants --stale` confirms the records that are older than the mutant, the code that it changes, or a case
  that kills it. `hudi-conformance mutants --missing` looks for kills by cases that cite a rule, in each of its roles, where
  none is recorded.
* **Drawn mutants** are small changes at places drawn at random: comparisons, boolean operators, constants, removed statements,
  removed or swapped arguments, bounds that are off by one. `hudi-conformance mutants --random 400 --seed 1 -o FILE` draws and
  judges them. With `-o`, an interrupted run is continued with the batch of cases that each mutant has reached.

Every line of the reference that can be changed is drawn with the same probability. Left out are annotations, docstrings,
decorators, the contents of errors, functions that only print an object, and the modules `errors.py`, `requirement.py` and
`__init__.py`. The first run records which cases execute which lines. A mutant is judged by the cases that execute its line, up
to the first that fails; a line that is executed by the import of its module is judged by all cases. Each mutant runs in a
forked process with limits of processor time and memory. A mutant that exceeds a limit counts as killed, and so does one with
which the reference cannot be imported.

## Drawn mutants

"""


def mutation_testing_page() -> str:
    """The page's text."""
    runs = sorted(FOLDER.glob("drawn-mutants*.json"))
    drawn = "\n".join(_run(json.loads(path.read_text(encoding="utf-8"))) for path in runs)
    return HEAD + drawn + _survivors() + _untested() + NEXT


NEXT = "Read next: [add-a-case.md](add-a-case.md), [architecture.md](architecture.md).\n"
KINDS = {
    "killed": "killed",
    "equivalent": "equivalent",
    "not observable": "not observable",
    "hole": "hole",
    "open": "not triaged",
}


def _run(found: Mapping[str, Any]) -> str:
    kinds = {entry.change: entry.kind for entry in load_triage()}
    by_area: dict[str, Counter[str]] = {}
    for one in found["mutants"]:
        change = Change(**one["change"])
        kind = "killed" if one["outcome"] == "killed" else kinds.get(change, "open")
        by_area.setdefault(change.path.partition("/")[0].removesuffix(".py"), Counter())[kind] += 1
    total = sum(by_area.values(), Counter[str]())
    drawn, seconds = total.total(), sum(one["seconds"] for one in found["mutants"])
    command = f"hudi-conformance mutants --random {found.get('asked', drawn)} --seed {found['seed']}"
    observable = drawn - total["equivalent"] - total["not observable"]
    took = f", {seconds / drawn:.1f} s for each on a busy machine with two cores" if seconds else ""
    lines = [
        f"`{command}`: {drawn} mutants judged{took}.",
        *_undecided(found, drawn),
        *_judged_again(found),
        f"Killed are {total['killed']} of {drawn - total['equivalent']} that are not equivalent "
        f"({total['killed'] / max(1, drawn - total['equivalent']):.0%}), and of {observable} that are observable "
        f"({total['killed'] / max(1, observable):.0%}; goal 95 %).",
        "",
        "| package of the reference | drawn | " + " | ".join(KINDS.values()) + " |",
        "|---|" + "---:|" * (len(KINDS) + 1),
        *(_row(area, counts) for area, counts in sorted(by_area.items())),
        _row("**all**", total),
        "",
    ]
    return "\n".join(lines)


def _undecided(found: Mapping[str, Any], judged: int) -> list[str]:
    """What a run did not judge: mutants that passed some cases and were not run on all that execute their line."""
    note = [found["note"]] if "note" in found else []
    left = found.get("attempted", judged) - judged
    if not left:
        return note
    text = f"{left} more mutants passed some cases and are undecided. The shares below do not include them, and are not final."
    return [*note, text]


def _judged_again(found: Mapping[str, Any]) -> list[str]:
    """Survivors that later cases kill."""
    if not (number := found.get("again", 0)):
        return []
    return [f"Of the judged mutants, {number} survived the run, and are killed by cases that were added afterwards."]


def _row(area: str, counts: Counter[str]) -> str:
    return f"| {area} | {counts.total()} | " + " | ".join(str(counts[kind]) for kind in KINDS) + " |"


def _survivors() -> str:
    """The survivors by kind, with the reasons."""
    parts = ["\n## Survivors\n"]
    for kind, title in (("hole", "Holes"), ("not observable", "Not observable"), ("equivalent", "Equivalent")):
        found = [entry for entry in load_triage() if entry.kind == kind]
        if found:
            parts += [f"### {title}\n", "| place | change | reason |", "|---|---|---|"]
            parts += [f"| {e.change.path}, {e.change.function or 'module'} | {_text(e.change)} | {e.reason} |" for e in found]
            parts.append("")
    return "\n".join(parts) + "\n"


def _untested() -> str:
    """The rules without a mutant that is killed in each of their roles."""
    rows = [f"| {one.rule} | {', '.join(one.roles)} | {one.reason} |" for one in load_untested()]
    head = "## Rules that no named mutant tests\n\n| rule | roles | reason |\n|---|---|---|\n"
    return head + "\n".join(rows) + "\n\n"


def _text(change: Change) -> str:
    before, after = (text if len(text) <= 60 else f"{text[:57]}..." for text in (change.before, change.after))
    return f"{change.operator}: `{before}` → `{after}`".replace("|", "\\|")
