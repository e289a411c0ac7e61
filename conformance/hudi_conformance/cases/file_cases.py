"""Cases below the level of tables: one file, a family of damaged copies of one file, vectors of a pure function.

A family is one file and a list of changes, each made to a copy of it; vectors are inputs and outputs of one function.
Each is one case, whose result names the first copies or inputs that failed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Verdict = Literal["valid", "must-refuse", "must-recover"]


@dataclass(frozen=True)
class Patch:
    """From offset `at` of the undamaged file, `remove` bytes are replaced by those of `insert` (hex)."""

    at: int
    remove: int = 0
    insert: str = ""


@dataclass(frozen=True)
class Variant:
    """One damaged copy of a file and the expected inspection: `inspect`, any `error`, or either with `or_error`."""

    name: str
    says: str = ""
    patches: tuple[Patch, ...] = ()
    cut: int | None = None
    inspect: Mapping[str, Any] | None = None
    accept: tuple[Mapping[str, Any], ...] = ()
    error: str | None = None
    or_error: bool = False

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> "Variant":
        """The variant in an entry of `variants.json`."""
        patches = tuple(Patch(**patch) for patch in raw.get("patches", ()))
        return cls(**{**raw, "patches": patches, "accept": tuple(raw.get("accept", ()))})

    def apply(self, data: bytes) -> bytes:
        """The damaged copy: patches at the offsets of `data`, ascending, then the cut."""
        parts, done = [], 0
        for patch in self.patches:
            parts += [data[done : patch.at], bytes.fromhex(patch.insert)]
            done = patch.at + patch.remove
        return b"".join([*parts, data[done:]])[: self.cut]


@dataclass(frozen=True)
class Vector:
    """One input of a function and its expected output: `value` (valid), an error (invalid), or either (acceptable)."""

    id: int
    comment: str
    arguments: Mapping[str, Any]
    result: Literal["valid", "invalid", "acceptable"]
    value: Any = None
    flags: tuple[str, ...] = ()

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> "Vector":
        """The vector in an entry of `tests`."""
        return cls(**{**raw, "flags": tuple(raw.get("flags", ()))})

    @property
    def name(self) -> str:
        """The name in reports."""
        return f"test {self.id} ({self.comment})"


@dataclass(frozen=True)
class Vectors:
    """The vectors of one function; `notes` explain the flags."""

    function: str
    tests: tuple[Vector, ...]
    notes: Mapping[str, str] = field(default_factory=dict)
