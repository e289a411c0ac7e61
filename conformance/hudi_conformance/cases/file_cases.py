"""Cases below the level of tables: one file, a family of damaged copies of one file, vectors of a pure function.

A family is one file and a list of what is done to copies of it; vectors are inputs and outputs of one function. Both are many
small questions with one description, so they count as one case, which tells the first questions that went wrong.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Verdict = Literal["valid", "must-refuse", "must-recover"]


@dataclass(frozen=True)
class Patch:
    """From offset `at` of the undamaged file, `remove` bytes give way to those of `insert` (hex)."""

    at: int
    remove: int = 0
    insert: str = ""


@dataclass(frozen=True)
class Variant:
    """One damaged copy of a file and what inspecting it must give: `inspect`, any `error`, or either with `or_error`."""

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

    def applied(self, data: bytes) -> bytes:
        """The damaged copy: patches at the offsets of `data`, ascending, then the cut."""
        parts, done = [], 0
        for patch in self.patches:
            parts += [data[done : patch.at], bytes.fromhex(patch.insert)]
            done = patch.at + patch.remove
        return b"".join([*parts, data[done:]])[: self.cut]


@dataclass(frozen=True)
class Vector:
    """One input of a function and what is right: `value` (valid), no value (invalid), or `value` or none (acceptable)."""

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
        """How a report calls it."""
        return f"test {self.id} ({self.comment})"


@dataclass(frozen=True)
class Vectors:
    """The vectors of one function; `notes` say which danger a flag stands for."""

    function: str
    tests: tuple[Vector, ...]
    notes: Mapping[str, str] = field(default_factory=dict)
