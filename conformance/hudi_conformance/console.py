"""The console of rich whose text is escaped; every command prints through it. See `terminal`."""

from collections.abc import Iterable
from typing import IO, Any, TextIO, cast

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from hudi_conformance.contract.text import make_printable
from hudi_conformance.terminal import unguarded


class SafeConsole(Console):
    """A console that escapes control characters in all text; colours and cursor movements of rich pass."""

    @property
    def file(self) -> IO[str]:
        """The stream below the guard, because text is escaped before."""
        return cast("IO[str]", unguarded(cast("TextIO", super().file)))

    @file.setter
    def file(self, new: IO[str]) -> None:
        self._file = new

    def render_str(self, text: str, **options: Any) -> Text:
        """Escape text before its width is measured."""
        return super().render_str(make_printable(text), **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Escape every piece of text, wherever it comes from."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=make_printable(segment.text))


def print_table(table: Table) -> None:
    """Print a table to standard output; if it is no terminal, each row is one line, for `grep` and the like."""
    console = SafeConsole(highlight=False)
    if not console.is_terminal:
        wide = console.options.update(max_width=10_000)
        console.width = max(console.width, console.measure(table, options=wide).maximum)
    console.print(table)
