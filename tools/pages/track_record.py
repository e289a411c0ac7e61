"""`docs/track-record.md`: real faults of real engines, and the cases of the suite that show them."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from hudi_conformance.report.evidence.evidence import gather_evidence
from hudi_conformance.report.evidence.track_record import Effect, Fault, State, known_faults

HEAD = """\
# Track record

This page lists {count} faults of engines that users or maintainers reported, and the cases of this suite that fail on an
engine with such a fault. {shown} of them have a case; for the other {rest} the reason is given. This page is written by
`python -m tools.pages` from [track_record.toml](../conformance/hudi_conformance/report/evidence/track_record.toml).

A case is listed for one of three reasons. *Run*: the case is in the list of expected failures of the engine that is named, so
a run of the suite shows the fault. *Mutant*: the reference with this fault fails the case, as the recorded run of the mutants
shows. *Reading*: the case was read, and the reason is given. Faults that this suite found itself are in
[what-engines-do-today.md](what-engines-do-today.md); reports for maintainers of engines are in [reports](reports/README.md).

State: *present* and *fixed* are measured on the newest release. *Merged*: a fix is merged upstream, and this release was not
compared with it. *Unknown*: no fix is known. The last column counts the listed cases that pass on Apache Hudi 1.2.0 and on
hudi-rs 0.6, as recorded in `conformance/results`; a case may also fail for another reason.
"""

#: Product -> the newest release that the suite runs.
NEWEST = {"Apache Hudi": "apache-hudi@1.2.0", "hudi-rs": "hudi-rs@0.6"}

_JUDGED = ("pass", "fail", "error", "crash", "timeout", "refused")


def track_record_page() -> str:
    """The page's text."""
    faults = known_faults()
    shown = [fault for fault in faults if fault.cases]
    rest = [fault for fault in faults if not fault.cases]
    parts = [HEAD.format(count=len(faults), shown=len(shown), rest=len(rest)), _counts(shown)]
    verdicts = gather_evidence().verdicts
    for effect in Effect:
        found = [fault for fault in shown if fault.effect is effect]
        parts.append(f"\n## {effect.capitalize()}\n\n" + _table(found, verdicts))
    parts.append("\n## Without a case\n\n| fault | engine | links | state | why |\n|---|---|---|---|---|\n")
    parts += [f"| {_name(one)} | {one.engine} | {_links(one)} | {one.state} | {one.reason} |\n" for one in rest]
    return "".join(parts)


def _counts(faults: Sequence[Fault]) -> str:
    engines = Counter(fault.engine for fault in faults)
    lines = ["", f"| engine | {' | '.join(Effect)} | all | present in the newest release |", "|---" * (len(Effect) + 3) + "|"]
    for engine, count in sorted(engines.items(), key=lambda item: (-item[1], item[0])):
        of_engine = [fault for fault in faults if fault.engine == engine]
        by_effect = " | ".join(str(sum(one.effect is effect for one in of_engine) or "") for effect in Effect)
        present = sum(one.state is State.PRESENT for one in of_engine)
        lines.append(f"| {engine} | {by_effect} | {count} | {present or ''} |")
    return "\n".join(lines) + "\n"


def _table(faults: Collection[Fault], verdicts: Mapping[str, Mapping[str, str]]) -> str:
    lines = ["| fault | engine, versions | links | cases | known by | state | passing |", "|---" * 7 + "|"]
    for one in faults:
        cases = "<br>".join(f"`{case}`" for case in one.cases)
        lines.append(
            f"| {_name(one)} | {one.engine}: {one.versions} | {_links(one)} | {cases} | {_known_by(one)} | {_state(one)} "
            f"| {_passing(one, verdicts)} |"
        )
    return "\n".join(lines) + "\n"


def _name(fault: Fault) -> str:
    return f"{fault.id}: {fault.title}"


def _links(fault: Fault) -> str:
    return " ".join(f"[{_short(link)}]({link})" for link in fault.links)


def _short(link: str) -> str:
    owner, name, _, number = link.removeprefix("https://github.com/").split("/") if "github" in link else ("", "", "", "")
    if not number:
        return link.rsplit("/", 1)[1]
    return f"#{number}" if (owner, name) == ("apache", "hudi") else f"{name}#{number}"


def _known_by(fault: Fault) -> str:
    parts = [f"run: {', '.join(fault.seen)}"] if fault.seen else []
    if fault.mutants:
        parts.append("mutant: " + ", ".join(f"`{name}`" for name in fault.mutants))
    if fault.reading:
        parts.append(f"reading: {fault.reading}")
    return "<br>".join([*parts, *fault.errata])


def _state(fault: Fault) -> str:
    return f"{fault.state}. {fault.note}" if fault.note else str(fault.state)


def _passing(fault: Fault, verdicts: Mapping[str, Mapping[str, str]]) -> str:
    judged = [
        outcome for case in fault.cases if (outcome := verdicts.get(NEWEST.get(fault.engine, ""), {}).get(case)) in _JUDGED
    ]
    return f"{judged.count('pass')} of {len(judged)}" if judged else ""
