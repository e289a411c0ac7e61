"""Figures of a run: inputs, time, coverage."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Figures:
    """Number of inputs, wall seconds, CPU seconds, and the largest number of covered edges of the reference's code."""

    inputs: int = 0
    wall: float = 0.0
    cpu: float = 0.0
    edges: int = 0

    def __add__(self, other: "Figures") -> "Figures":
        return Figures(self.inputs + other.inputs, self.wall + other.wall, self.cpu + other.cpu, max(self.edges, other.edges))

    def __str__(self) -> str:
        return f"{self.inputs:,} inputs, {self.wall:.0f} s, {self.cpu:.0f} s of CPU, {self.edges} edges"

    def cells(self) -> list[str]:
        """The cells of a row of the table."""
        return [
            f"{self.inputs:,}",
            f"{self.cpu / 3600:.2f}",
            f"{self.inputs / self.cpu:,.0f}" if self.cpu else "",
            str(self.edges),
        ]

    @staticmethod
    def add_to(path: Path, target: str, found: "Figures") -> None:
        """Add a run to the sums in a file."""
        sums = json.loads(path.read_text()) if path.exists() else {}
        sums[target] = asdict(Figures(**sums.get(target, {})) + found)
        path.write_text(json.dumps(sums, indent=1) + "\n")
