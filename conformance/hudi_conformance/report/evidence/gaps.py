"""Gaps in the evidence that are known, and may only shrink: `gaps.toml` beside this module.

Each is a number with a ceiling, or a list of names. `hudi-conformance coverage` lowers ceilings and removes names that are no
longer needed; `--accept-gaps` also raises and adds them, so that a new gap is a visible change of the file.
"""

import tomllib
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from hudi_conformance.mutants.harness.score import Kill
from hudi_conformance.report.evidence.evidence import RESULTS, Evidence
from hudi_conformance.report.evidence.freshness import Record, find_stale_kills, load_records

FILE = Path(__file__).with_name("gaps.toml")
LISTS = RESULTS.with_name("expected-failures")

#: Outcomes as results store them (`cases.verdict` needs slow imports): of a case that an engine was not asked, and of failures.
_NOT_OFFERED = "unsupported"
_FAILURES = ("fail", "crash", "timeout", "error")

HEADER = """\
# Known gaps in the evidence, which may only shrink: hudi-conformance coverage lowers the numbers and removes names.
"""


@dataclass(frozen=True)
class Gaps:
    """The gaps by kind.

    Attributes:
        unasked: cases without a result, by engine; also those that were not offered and now are.
        unexplained: entries of the list of an engine that have neither erratum nor recipe.
        killers: cases that kill a mutant, but whose needs the reference does not offer where it was run.
        stale: mutants whose record of kills is older than the mutant, the code that it changes, or a case that kills it.
        pairs: a mutant of several rules, and one of them that no case cites that kills the mutant.
    """

    unasked: Mapping[str, int] = field(default_factory=dict)
    unexplained: Mapping[str, int] = field(default_factory=dict)
    killers: tuple[str, ...] = ()
    pairs: tuple[str, ...] = ()
    stale: int = 0


def load_gaps(path: Path = FILE) -> Gaps:
    """The gaps that are accepted."""
    raw = tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    values: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in raw.items()}
    return Gaps(**values)


def save_gaps(gaps: Gaps, path: Path = FILE) -> None:
    """Store the gaps that are accepted from now on."""
    lines = [HEADER, f"stale = {gaps.stale}"]
    for name in ("killers", "pairs"):
        lines.append(f"{name} = [\n" + "".join(f'    "{one}",\n' for one in getattr(gaps, name)) + "]")
    for name in ("unasked", "unexplained"):
        lines.append(f"\n[{name}]\n" + "\n".join(f'"{engine}" = {n}' for engine, n in getattr(gaps, name).items()))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def declared_features() -> dict[str, AbstractSet[str]]:
    """Engine -> the features that its adapter declares now, of adapters that have them as data. No engine is started."""
    from hudi_conformance.engines import hudi_rs
    from hudi_conformance.engines.apache_hudi.engine import FEATURES as ON_SPARK
    from hudi_conformance.engines.apache_hudi_java.engine import FEATURES as ON_JAVA

    return {
        **{f"apache-hudi@{release}": features for release, features in ON_SPARK.items()},
        **{f"apache-hudi-java@{release}": features for release, features in ON_JAVA.items()},
        "hudi-rs": hudi_rs.FEATURES,
    }


def find_gaps(
    evidence: Evidence,
    lists: Path = LISTS,
    records: Mapping[str, Record] | None = None,
    declared: Mapping[str, AbstractSet[str]] | None = None,
) -> Gaps:
    """The gaps that there are; `declared` are the features of each engine, by default those that its adapter declares."""
    offered = declared_features() if declared is None else declared
    unasked = {
        engine: sum(1 for _ in _unasked_cases(evidence, engine, offered.get(engine, frozenset())))
        for engine in evidence.verdicts
    }
    entries = {path.stem: _entries(path) for path in sorted(lists.glob("*.toml"))}
    unexplained = {
        engine: sum(not e.keys() & {"erratum", "recipe"} for e in found) for engine, found in entries.items() if found
    }
    killers, pairs = tuple(sorted(_unoffered_killers(evidence))), tuple(sorted(_uncited_pairs(evidence)))
    stale = dict(find_stale_kills(evidence, load_records() if records is None else records))
    return Gaps(unasked, unexplained, killers, pairs, len(stale))


def _unasked_cases(evidence: Evidence, engine: str, declared: AbstractSet[str]) -> Iterator[str]:
    """Cases without a result, or with the result "not offered" of a time when the adapter declared fewer features."""
    found, skipped = evidence.verdicts[engine], evidence.skipped.get(engine, frozenset())
    for case in evidence.cases:
        is_offered = case.id not in skipped and bool(case.needs) and set(case.needs) <= declared
        if case.id not in found or (is_offered and found[case.id] == _NOT_OFFERED):
            yield case.id


def _entries(path: Path, kind: str = "failure") -> list[dict[str, str]]:
    return list(tomllib.loads(path.read_text(encoding="utf-8")).get(kind, ()))


def _unoffered_killers(evidence: Evidence) -> Iterator[str]:
    answers = evidence.verdicts.get("reference", {})
    yield from {id_ for kill in evidence.kills for id_ in kill.killed_by or () if answers.get(id_) == "unsupported"}


def _uncited_pairs(evidence: Evidence) -> Iterator[str]:
    rules = {case.id: frozenset(case.requirements) for case in evidence.cases}
    for kill in evidence.kills:
        cited = frozenset[str]().union(*(rules.get(id_, frozenset()) for id_ in kill.killed_by or ()))
        yield from (f"{kill.name} {rule}" for rule in kill.breaks if rule not in cited)


def shrink(accepted: Gaps, found: Gaps) -> Gaps:
    """The accepted gaps without those that there are no longer."""
    return Gaps(
        {engine: min(n, accepted.unasked.get(engine, 0)) for engine, n in found.unasked.items()},
        {engine: min(n, accepted.unexplained.get(engine, 0)) for engine, n in found.unexplained.items()},
        tuple(one for one in accepted.killers if one in found.killers),
        tuple(one for one in accepted.pairs if one in found.pairs),
        min(accepted.stale, found.stale),
    )


def describe_gaps(accepted: Gaps, found: Gaps) -> Iterator[str]:
    """What is wrong: gaps that are not accepted, and accepted ones that there are no longer."""
    accept = "or hudi-conformance coverage --accept-gaps"
    for engine, n in found.unasked.items():
        if n > (most := accepted.unasked.get(engine, 0)):
            yield f"{engine} was not asked {n} cases, at most {most} are accepted: run it and coverage --record, {accept}"
    for engine, n in found.unexplained.items():
        if n > (most := accepted.unexplained.get(engine, 0)):
            yield f"{n} entries of {engine}.toml have neither erratum nor recipe, {most} are accepted: add one, {accept}"
    if found.stale > accepted.stale:
        yield (
            f"{found.stale} records of kills are older than mutant, code or case, {accepted.stale} are accepted: "
            f"hudi-conformance mutants --stale, {accept}"
        )
    for case in set(found.killers) - set(accepted.killers):
        yield f"case {case} kills a mutant and is not offered by the reference: run it where it is, {accept}"
    for pair in sorted(set(found.pairs) - set(accepted.pairs)):
        name, rule = pair.split()
        yield f"mutant {name} breaks {rule}, but is killed by no case that cites {rule}: make one stronger, {accept}"
    if shrink(accepted, found) != accepted:
        yield f"{FILE.name} has gaps that there are no longer: run hudi-conformance coverage"


def find_faults(evidence: Evidence, lists: Path = LISTS) -> Iterator[str]:
    """What is never accepted.

    Killers that fail, results of cases that do not exist, entries that match every message, and results that differ from the
    list of the engine: it would fail its next run.
    """
    answers, known = evidence.verdicts.get("reference", {}), {case.id for case in evidence.cases}
    for kill in evidence.kills:
        yield from _failing_killers(kill, answers)
    for engine, found in evidence.verdicts.items():
        yield from (f"results of {engine} have {case}, which is no case: remove it" for case in found if case not in known)
    for path in sorted(lists.glob("*.toml")):
        for entry in _entries(path):
            if not entry["message"].strip("* "):
                yield f"{path.name}: {entry['case']} accepts every message: name what is wrong"
    for engine, found in evidence.verdicts.items():
        yield from _unlike_the_list(engine, found, lists / f"{engine}.toml")


def _unlike_the_list(engine: str, found: Mapping[str, str], path: Path) -> Iterator[str]:
    """Failures that the list of the engine lacks, and entries of cases that do not fail.

    Results have one outcome for all parameters of a test. Relays are asked only together with the other engine.
    """
    listed, flaky = (_entries(path), _entries(path, "flaky")) if path.is_file() else ([], [])
    entries = {entry["case"].partition("[")[0] for entry in listed if "[by " not in entry["case"]}
    for case, outcome in found.items():
        if any(fnmatchcase(case, entry["case"].partition("[")[0]) for entry in flaky):
            continue
        if outcome in _FAILURES and case not in entries:
            yield f"results of {engine} have {case} as {outcome}, and {path.name} has no entry: run it again, or add one"
        if case in entries and outcome not in (*_FAILURES, "refused"):
            yield f"{path.name} has an entry of {case}, and its result is {outcome}: run it again, or remove the entry"


def _failing_killers(kill: Kill, answers: Mapping[str, str]) -> Iterator[str]:
    for id_ in kill.killed_by or ():
        if answers.get(id_, "pass") not in ("pass", "unsupported"):
            yield f"mutant {kill.name} is killed by {id_}, which is {answers[id_]} on the reference: run the mutant again"
