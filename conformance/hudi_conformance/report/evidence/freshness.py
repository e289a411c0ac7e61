"""Whether a record of kills is as new as what it is about: the mutant, the code that it changes, and the cases that kill it.

`mutants/fingerprints.json` has, for each mutant, fingerprints of the three as they were when its kills were recorded. They are
computed from the syntax of the sources, so that comments, docstrings and other code of a module do not matter. Helpers that a
case calls are not included.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from hudi_conformance.cases.suite_marks import fingerprint
from hudi_conformance.mutants.harness.score import Kill
from hudi_conformance.report.evidence.evidence import CitedCase, Evidence

FILE = Path(__file__).parents[2] / "mutants" / "fingerprints.json"


@dataclass(frozen=True)
class Record:
    """Fingerprints when the kills of a mutant were recorded.

    `mutant` is that of the mutant, `code` those of what it changes as `module:name`, `cases` those of the cases that kill it.
    """

    mutant: str
    code: Mapping[str, str]
    cases: Mapping[str, str]


def load_records(path: Path = FILE) -> dict[str, Record]:
    """The record of each mutant."""
    stored = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return {name: Record(**found) for name, found in stored.items()}


def save_records(records: Mapping[str, Record], known: Iterable[str], path: Path = FILE) -> None:
    """Store new records beside those of other mutants; remove those of mutants that no longer exist."""
    merged = load_records(path) | dict(records)
    lines = [
        f" {json.dumps(name)}: {json.dumps(asdict(merged[name]), sort_keys=True)}" for name in sorted(set(known) & set(merged))
    ]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def make_record(kill: Kill, code: Iterable[str], evidence: Evidence) -> Record:
    """The record of kills that were found just now; `code` are the places that the mutant changes."""
    cases, places = {case.id: case for case in evidence.cases}, (_definition_of(place, evidence) for place in sorted(code))
    return Record(
        kill.fingerprint,
        {place: evidence.definitions[place] for place in places if place is not None},
        {id_: fingerprint_of_case(cases[id_]) for id_ in kill.killed_by or () if id_ in cases},
    )


def _definition_of(place: str, evidence: Evidence) -> str | None:
    """The place itself, or the definition of the constant that its module imports; None if the reference defines no such."""
    if place in evidence.definitions:
        return place
    name = place.partition(":")[2]
    return next((known for known in evidence.definitions if known.partition(":")[2] == name), None)


def fingerprint_of_case(case: CitedCase) -> str:
    """The fingerprint of a golden case, of its `case.json`; of a Python case, of its function."""
    return case.fingerprint if case.golden is None else fingerprint(json.dumps(case.golden, sort_keys=True))


def find_stale_kills(evidence: Evidence, records: Mapping[str, Record]) -> Iterator[tuple[str, str]]:
    """Mutants whose kills must be recorded again, each with the reason."""
    cases = {case.id: case for case in evidence.cases}
    for kill in evidence.kills:
        if (record := records.get(kill.name)) is None:
            yield kill.name, "there is no record of what was judged"
        elif record.mutant != kill.fingerprint:
            yield kill.name, "the mutant has changed"
        elif changed := [place for place, known in record.code.items() if evidence.definitions.get(place, "") != known]:
            yield kill.name, f"{changed[0]} has changed"
        else:
            killers = [cases[id_] for id_ in kill.killed_by or () if id_ in cases]
            changed = [case.id for case in killers if record.cases.get(case.id) != fingerprint_of_case(case)]
            if changed:
                yield kill.name, f"the case {changed[0]} has changed"
