"""The known failures of an engine: `expected-failures/<engine>.toml`.

A list has a `[[failure]]` entry for each known failure, with the reason. These fail the run: a failure that is not listed, a
listed case that passes, a listed case that fails with another outcome or message, and an entry whose case does not exist or is
no longer asked. A `[[flaky]]` entry names cases that may pass or fail; they are shown and never fail the run. A refusal fails
the run only if the list has `refusals = "fail"`.
"""

import json
import re
import shlex
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from hudi_conformance.cases.renames import current_case
from hudi_conformance.cases.verdict import Outcome, Result

PACKAGE = Path(__file__).parents[1]

#: The reason of entries that `--update` adds; it is to be replaced by an explanation.
UNEXPLAINED = "not explained yet"

HEADER = """\
# Known failures of {engine}. A failure that is not listed here fails the run, and so does an entry that is out of date.
# Rewrite: hudi-conformance run {engine} --expected-failures {path} --update (reasons are kept).
"""


#: Outcomes other than a pass that make an entry out of date.
_NO_FAILURES = (Outcome.UNSUPPORTED, Outcome.OPEN, Outcome.REFUSED)


class ListError(ValueError):
    """A list of expected failures that cannot be used."""


@dataclass(frozen=True)
class ExpectedFailure:
    """One known failure. In `message`, `*` matches what differs from run to run."""

    case: str
    outcome: Outcome
    message: str
    reason: str
    recipe: str | None = None
    erratum: str | None = None

    def matches(self, result: Result) -> bool:
        """Whether the result has the outcome and the message of this entry."""
        pattern = ".*".join(map(re.escape, self.message.split("*")))
        return result.outcome is self.outcome and re.fullmatch(pattern, result.message) is not None


@dataclass(frozen=True)
class FlakyPattern:
    """Cases that may pass or fail: an id or a pattern with `*`, and the reason."""

    case: str
    reason: str


def flaky_reason(flaky: Iterable[FlakyPattern], case: str) -> str | None:
    """The reason of the first entry that matches the case; None if there is none."""
    return next((entry.reason for entry in flaky if case == entry.case or fnmatchcase(case, entry.case)), None)


@dataclass(frozen=True)
class ExpectedFailures:
    """The list of one engine; `path` is None for an engine that has none."""

    engine: str
    path: Path | None
    entries: Mapping[str, ExpectedFailure]
    comment: str = ""
    flaky: tuple[FlakyPattern, ...] = ()
    #: Flaky cases of the run, which are not in the list.
    known_flaky: tuple[FlakyPattern, ...] = ()
    refusals_fail: bool = False

    def compare(self, result: Result) -> Result:
        """The result with `listed`, if it is an expected failure, or with `surprise`, if it is not as expected."""
        if (reason := flaky_reason((*self.flaky, *self.known_flaky), result.case)) is not None:
            return replace(result, flaky=reason)
        entry = self.entries.get(result.case)
        return replace(result, surprise=self._unlisted(result)) if entry is None else self._compared(entry, result)

    def _unlisted(self, result: Result) -> str | None:
        if result.outcome is Outcome.REFUSED and self.refusals_fail:
            return "a declared feature is refused, and the list does not permit refusals"
        return "not in the list of expected failures" if result.outcome.is_failure else None

    @staticmethod
    def _compared(entry: ExpectedFailure, result: Result) -> Result:
        if entry.matches(result) or result.outcome is entry.outcome is Outcome.REFUSED:
            return replace(result, listed=entry.reason)
        if result.outcome is Outcome.PASS:
            return replace(result, surprise=f"listed as an expected failure, and passes ({entry.reason})")
        if result.outcome.is_failure:
            expected = f"{entry.outcome.label}: {entry.message}"
            return replace(result, surprise=f"fails in another way than listed; expected {expected}")
        return result

    def describe_stale_entries(self, results: Sequence[Result], *, complete: bool, engines: Sequence[str] = ()) -> list[str]:
        """Messages about entries that are out of date.

        `complete`: every case of the suite was run. A relay counts as missing only if its writer is one of `engines`.
        """
        found = {r.case: r.outcome for r in results}
        complaints = []
        for case, entry in self.entries.items():
            relay = re.search(r"\[by ([^],]+)", case)
            if case not in found and complete and (relay is None or relay[1] in engines):
                complaints.append(f"{case}: there is no such case")
            elif found.get(case) is not entry.outcome and found.get(case) in _NO_FAILURES:
                complaints.append(f"{case}: is {found[case].label} now and does not fail")
        return complaints

    def with_results(self, results: Iterable[Result], *, complete: bool) -> "ExpectedFailures":
        """The list that has these results as expected; entries that still match, and reasons, are kept."""
        kept = {} if complete else dict(self.entries)
        for result in sorted(results, key=lambda r: r.case):
            if result.outcome is Outcome.NOT_RUN or result.flaky is not None:
                continue
            known = kept.pop(result.case, None)
            listed = known is not None and known.outcome is Outcome.REFUSED
            if result.outcome.is_failure or (result.outcome is Outcome.REFUSED and (listed or self.refusals_fail)):
                kept[result.case] = self._entry(result)
        return replace(self, entries=dict(sorted(kept.items())))

    def _entry(self, result: Result) -> ExpectedFailure:
        known = self.entries.get(result.case)
        if known is not None and known.matches(result):
            return known
        if known is not None:
            return replace(known, outcome=result.outcome, message=result.message)
        erratum = result.errata[0] if result.errata else None
        return ExpectedFailure(result.case, result.outcome, result.message, UNEXPLAINED, erratum=erratum)

    def save(self) -> None:
        """Write the list to its path."""
        if self.path is None:
            raise ListError(f"{self.engine} has no list to update; name one with --expected-failures")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        comment = self.comment or HEADER.format(engine=shlex.quote(self.engine), path=shlex.quote(str(self.path)))
        parts = [*map(_toml, self.flaky), *map(_toml, self.entries.values())]
        self.path.write_text("\n".join([comment, *parts]), encoding="utf-8")


def _toml(entry: ExpectedFailure | FlakyPattern) -> str:
    values = {f.name: getattr(entry, f.name) for f in fields(entry)}
    lines = [f"{name} = {json.dumps(str(v), ensure_ascii=False)}" for name, v in values.items() if v is not None]
    return "\n".join([f"[[{'failure' if isinstance(entry, ExpectedFailure) else 'flaky'}]]", *lines, ""])


def lists_folder() -> Path:
    """The lists shipped with the suite: in a source checkout beside the package, in an installed one inside it."""
    installed = PACKAGE / "_expected_failures"
    return installed if installed.is_dir() else PACKAGE.parent / "expected-failures"


def default_path(engine: str) -> Path | None:
    """The path of the list of a shipped engine, whether it exists or not; None for a command line."""
    name = engine.replace(":", "-")
    return lists_folder() / f"{name}.toml" if re.fullmatch(r"[\w.@-]+", name) else None


def load_list(engine: str, path: Path | None = None) -> ExpectedFailures:
    """The list in `path` (a file, or a folder that holds `<engine>.toml`), or the shipped one; empty if there is none.

    Raises `ListError`, naming file and entry, for a list that cannot be used.
    """
    if path is not None and path.is_dir():
        default = default_path(engine)
        path = None if default is None else path / default.name
    elif path is None:
        path = default_path(engine)
    if path is None or not path.is_file():
        return ExpectedFailures(engine, path, {})
    raw, text = _read(path)
    before = text.partition("\n[[")[0] + "\n"
    comment = "" if before.startswith("[[") else "".join(x for x in before.splitlines(keepends=True) if x.strip())
    refusals_fail = raw.get("refusals", "allowed") == "fail"
    entries, flaky = _entries(path, raw), _flaky(path, raw)
    return ExpectedFailures(engine, path, entries, comment, flaky, refusals_fail=refusals_fail)


def _read(path: Path) -> tuple[dict[str, Any], str]:
    """The values of a list and its text; raises ListError unless it is TOML with the known members."""
    try:
        text = path.read_text(encoding="utf-8")
        raw = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ListError(f"{path}: is not TOML: {error}") from None
    if strange := raw.keys() - {"failure", "flaky", "refusals"}:
        raise ListError(f"{path}: expected [[failure]] and [[flaky]] entries, found {', '.join(sorted(strange))}")
    for name in ("failure", "flaky"):
        entries = raw.get(name, [])
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            raise ListError(f"{path}: {name} must be a list of tables, [[{name}]]")
    if raw.get("refusals", "allowed") not in ("allowed", "fail"):
        raise ListError(f'{path}: refusals must be "allowed" or "fail", found {raw["refusals"]!r}')
    return raw, text


def _flaky(path: Path, raw: Mapping[str, Any]) -> tuple[FlakyPattern, ...]:
    for number, entry in enumerate(raw.get("flaky", []), start=1):
        if entry.keys() != {"case", "reason"} or not all(isinstance(v, str) and v.strip() for v in entry.values()):
            raise ListError(f"{path}: flaky entry {number}: expected case and reason, found {', '.join(entry) or 'nothing'}")
    return tuple(FlakyPattern(current_case(entry["case"]), entry["reason"]) for entry in raw.get("flaky", []))


def _entries(path: Path, raw: Mapping[str, Any]) -> dict[str, ExpectedFailure]:
    found: dict[str, ExpectedFailure] = {}
    for number, fields_ in enumerate(raw.get("failure", []), start=1):
        entry = _entry(fields_, f"{path}: entry {number}")
        if entry.case in found:
            raise ListError(f"{path}: entry {number}: {entry.case} is listed twice")
        found[entry.case] = entry
    return found


def _entry(raw: Mapping[str, Any], where: str) -> ExpectedFailure:
    known = {f.name for f in fields(ExpectedFailure)}
    if strange := raw.keys() - known:
        raise ListError(f"{where}: no key {min(strange)!r}; the keys are {', '.join(sorted(known))}")
    for key in ("case", "outcome", "message", "reason"):
        if not isinstance(raw.get(key), str) or (key == "reason" and not raw[key].strip()):
            raise ListError(f"{where}: {key} is missing")
    failures = [o.value for o in Outcome if o.is_failure or o is Outcome.REFUSED]
    if raw["outcome"] not in failures:
        raise ListError(f"{where}: outcome is {raw['outcome']!r}, expected one of {', '.join(failures)}")
    return ExpectedFailure(**{**raw, "case": current_case(raw["case"]), "outcome": Outcome(raw["outcome"])})
