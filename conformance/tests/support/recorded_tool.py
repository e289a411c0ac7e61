"""A script in place of a tool: it records its arguments, and does what a test says."""

from pathlib import Path


class RecordedTool:
    """The tool `name` in a folder; `log` has a line for each call."""

    def __init__(self, folder: Path, name: str, prelude: str = "") -> None:
        self.tool, self.log, self.prelude = folder / name, folder / "asked", prelude

    def answer(self, script: str) -> None:
        """Replace the behaviour of the tool."""
        self.tool.write_text(f'#!/bin/sh\n{self.prelude}echo "$@" >> {self.log}\n{script}\n')
        self.tool.chmod(0o755)

    def asked(self) -> list[str]:
        """The command lines of the tool."""
        return self.log.read_text().splitlines() if self.log.exists() else []
