"""A validation as SARIF 2.1.0, which code hosts and editors show."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

from hudi_conformance import __version__
from hudi_conformance.requirements.requirement import UnknownRequirement, requirement
from hudi_conformance.validator.checks.finding import Finding, Severity
from hudi_conformance.validator.validation import Validation

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
#: The characters besides letters and digits that stay as they are; a colon would make a scheme of what is before it.
_SAFE = "/-._~!$&'()*+,;=@"
_LEVELS: dict[Severity, str] = {
    "wrong-answers": "error", "data-lost": "error", "lost-space": "warning", "cosmetic": "note",
}  # fmt: skip


def to_sarif(validation: Validation) -> str:
    """The text of a log with one run."""
    rules = sorted({finding.rule for finding in validation.findings})
    run = {
        "tool": {"driver": {"name": "hudi-conformance validate", "version": __version__, "rules": [_rule(id) for id in rules]}},
        "originalUriBaseIds": {"TABLE": {"uri": _base(validation.table)}},
        "results": [_result(finding, rules) for finding in validation.findings],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1, ensure_ascii=False) + "\n"


def _base(table: str) -> str:
    """The table as an absolute URI that ends with a slash."""
    uri = table if "://" in table else Path(table).absolute().as_uri()
    return f"{uri.rstrip('/')}/"


def _place(path: str) -> dict[str, Any]:
    """A path below the table, or a URI, with the characters that a URI may have."""
    if "://" in path:
        return {"uri": quote(path, safe=_SAFE + ":%")}
    return {"uri": quote(path, safe=_SAFE), "uriBaseId": "TABLE"}


def _rule(id: str) -> dict[str, Any]:
    try:
        known = requirement(id)
    except UnknownRequirement:
        return {"id": id}
    return {"id": id, "shortDescription": {"text": known.text}, "helpUri": known.url}


def _result(finding: Finding, rules: list[str]) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": _place(finding.path)}
    if finding.offset is not None:
        place["region"] = {"byteOffset": finding.offset}
    text = f"{finding.meaning} Expected: {finding.expected}. Found: {finding.found}. Remedy: {finding.remedy}."
    return {
        "ruleId": finding.rule,
        "ruleIndex": rules.index(finding.rule),
        "level": _LEVELS[finding.severity],
        "message": {"text": text},
        "locations": [{"physicalLocation": place}],
        "properties": {"severity": finding.severity, "key": finding.key},
    }
