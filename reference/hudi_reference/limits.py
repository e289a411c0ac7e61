"""Limits of what a table may ask a reader to hold in memory, whatever its size on storage. docs/limits.md lists them.

A limit is far above what deployed writers store. It is raised by an environment variable.
"""

import os
from dataclasses import dataclass

from hudi_reference.errors import UnsupportedFeature


class LimitExceeded(UnsupportedFeature):
    """A stored object is larger than a limit of this implementation. `remedy` names the variable that raises the limit."""

    feature = "limit"


@dataclass(frozen=True)
class Limit:
    """One limit: what it counts, its default, and the environment variable that replaces the default."""

    counts: str
    default: int
    variable: str

    @property
    def value(self) -> int:
        """The limit now: the variable, if it is a number, else the default."""
        text = os.environ.get(self.variable, "")
        return int(text) if text.isascii() and text.isdigit() else self.default

    def check(self, found: int, rule: str, path: str | None = None) -> None:
        """Raises LimitExceeded if `found` is more than the limit; `path` is the object that was read."""
        if found > self.value:
            raise LimitExceeded(
                f"too many {self.counts}", rule=rule, path=path, expected=f"at most {self.value}",
                found=str(found) if found < 10**18 else "more than 10^18",
                remedy=f"if the object is intact, set {self.variable} to a greater number",
            )  # fmt: skip


#: Types of a schema after every reference to a named type is replaced by the type.
SCHEMA_NODES = Limit("types in a schema", 200_000, "HUDI_LIMIT_SCHEMA_NODES")
