"""The facts of a run in a report: the run as a whole, and its engines."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hudi_conformance import __version__
from hudi_conformance.requirements.requirement import VERSIONS


@dataclass(frozen=True)
class EngineRun:
    """An engine in a run: the requested name, its introduction, and why it did not start, if it did not."""

    name: str
    version: str | None = None
    language: str | None = None
    features: tuple[str, ...] = ()
    failed_start: str | None = None
    links: Mapping[str, str] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """Name and version, for headings."""
        name = self.name.partition("@")[0]
        return name if self.version is None or self.name == "reference" else f"{name} {self.version}"


@dataclass(frozen=True)
class Run:
    """The facts of the run as a whole; `seconds` is wall time.

    `table_versions` are those that the cases are about. Reports of earlier releases do not name them: all are of version 8.
    `table_version` is the one that the run named for cases that hold for each version.
    """

    engines: tuple[EngineRun, ...]
    seed: int | None
    started: str
    seconds: float
    complete: bool
    stale: tuple[str, ...] = ()
    rewritten: tuple[str, ...] = ()
    stopped: tuple[str, ...] = ()
    suite: str = __version__
    table_versions: tuple[int, ...] = VERSIONS[:1]
    table_version: int | None = None

    @property
    def format_versions(self) -> str:
        """The table versions as text: `version 8`, `versions 8 and 9`."""
        word = "version" if len(self.table_versions) == 1 else "versions"
        return f"{word} {' and '.join(map(str, self.table_versions))}"

    def to_json(self) -> dict[str, Any]:
        """The content of `run.json`."""
        return vars(self) | {"engines": [vars(e) for e in self.engines]}
