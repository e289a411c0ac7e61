"""The folder of the golden cases, and the schema checks of their JSON files."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from hudi_conformance.json_schema import CompiledSchema

PACKAGE = Path(__file__).parents[1]


class CaseError(ValueError):
    """A case file that cannot be used; names the file, the key and what is wrong with it."""

    def __init__(self, path: Path, key: str, message: str) -> None:
        super().__init__(f"{path}: {key}: {message}")
        self.path, self.key, self.message = path, key, message


@cache
def fixtures_root() -> Path:
    """The shipped golden cases: `fixtures/` of a source checkout, `_fixtures` of an installed package."""
    installed = PACKAGE / "_fixtures"
    return installed if installed.is_dir() else PACKAGE.parents[1] / "fixtures"


def read_json(path: Path) -> Any:
    """The JSON value in a file of a case; raises `CaseError` when there is none."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CaseError(path, "file", f"cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise CaseError(path, "file", f"is not JSON: {error}") from None


def check_schema(path: Path, value: Any, schema: str) -> None:
    """Raise `CaseError`, naming file and key, if `value` does not have the shape of `schemas/<schema>`."""
    error = _compiled(schema).error(value)
    if error is not None:
        key = ".".join(map(str, error.absolute_path)) or "the file"
        raise CaseError(path, key, error.message)


@cache
def _compiled(schema: str) -> CompiledSchema:
    all_of = {path.name: json.loads(path.read_text(encoding="utf-8")) for path in (PACKAGE / "schemas").glob("*.json")}
    return CompiledSchema(all_of[schema], all_of.values())
