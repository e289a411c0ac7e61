"""The messages of each case in both directions, as a readable file (`--trace`)."""

import json
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hudi_conformance.contract.text import make_printable, shorten

SIGNS = {"sent": "->", "received": "<-", "failed": "!!"}


@dataclass
class ExchangeLog:
    """Collects the messages of a case, and appends them to a file at its end; None as path is the terminal.

    A case is written at once, so that cases of several processes do not mix.
    """

    path: Path | None
    _lines: list[str] = field(default_factory=list)
    _started: float = field(default_factory=time.monotonic)

    def start_case(self) -> None:
        """Begin a case."""
        self._started = time.monotonic()

    def add_message(self, engine: str, direction: str, value: Any) -> None:
        """Add a message, an answer, or the error that took the place of an answer."""
        text = shorten(value if isinstance(value, str) else json.dumps(value, ensure_ascii=True))
        first, *rest = text.splitlines() or [""]
        at = f"{time.monotonic() - self._started:9.3f} s"
        self._lines += [f"{at}  {engine}  {SIGNS[direction]} {first}", *(f"{'':15}{line}" for line in rest)]

    def end_case(self, heading: str) -> None:
        """Write the messages of the case below a heading; nothing if the engine was not asked."""
        if not self._lines:
            return
        text = "\n".join([heading, *self._lines, "", ""])
        self._lines.clear()
        if self.path is None:
            print(make_printable(text), file=sys.__stderr__, flush=True)
            return
        with self.path.open("a", encoding="utf-8") as file:
            file.write(text)
