"""A validation as JSON, the documented shape of `validate --json`."""

import json
from dataclasses import asdict

from hudi_conformance.validator.validation import Validation


def to_json(validation: Validation) -> str:
    """The text of one object."""
    found = {
        "table": validation.table,
        "version": validation.version,
        "sound": validation.is_sound,
        "findings": [asdict(finding) for finding in validation.findings],
        "pending": [asdict(action) for action in validation.pending],
        "checked": validation.checked,
        "broken": list(validation.broken),
    }
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"
