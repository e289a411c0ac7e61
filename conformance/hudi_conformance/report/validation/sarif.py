"""A validation as SARIF 2.1.0, which code hosts and editors show."""

import json
from typing import Any

from hudi_conformance import __version__
from hudi_conformance.requirements.requirement import UnknownRequirement, requirement
from hudi_conformance.validator.checks.finding import Finding, Severity
from hudi_conformance.validator.validation import Validation

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS: dict[Severity, str] = {
    "wrong-answers": "error", "data-lost": "error", "lost-space": "warning", "cosmetic": "note",
}  # fmt: skip


def to_sarif(validation: Validation) -> str:
    """The text of a log with one run."""
    rules = sorted({finding.rule for finding in validation.findings})
    run = {
        "tool": {"driver": {"name": "hudi-conformance validate", "version": __version__, "rules": [_rule(id) for id in rules]}},
        "originalUriBaseIds": {"TABLE": {"uri": f"{validation.table.rstrip('/')}/"}},
        "results": [_result(finding, rules) for finding in validation.findings],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1, ensure_ascii=False) + "\n"


def _rule(id: str) -> dict[str, Any]:
    try:
        known = requirement(id)
    except UnknownRequirement:
        return {"id": id}
    return {"id": id, "shortDescription": {"text": known.text}, "helpUri": known.url}


def _result(finding: Finding, rules: list[str]) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": finding.path, "uriBaseId": "TABLE"}}
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
