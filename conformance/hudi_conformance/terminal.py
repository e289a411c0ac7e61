"""The only way to standard output and standard error: no control character of a table, an engine or a file passes.

`guarded_streams` covers everything that is printed as text, tracebacks and texts of libraries too. `SafeConsole` is the
console of rich for such streams: its own colours and cursor movements pass, text is escaped. Rows in binary formats go to
`sys.stdout.buffer`. Where the output is not a terminal the same is escaped, because what is kept may be shown on one later.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

#: Text without any character that is escaped. Escaping is imported when it is needed, because the contract imports Arrow.
_PLAIN = re.compile(r"[\t\n\x20-\x7e]*")


class GuardedStream:
    """A text stream that escapes control characters; everything else is that of `stream`.

    `encoding` is what callers may write: characters that the stream cannot encode are escaped too.
    """

    encoding = "utf-8"

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")

    def write(self, text: str) -> int:
        """Write the text, escaped."""
        self.stream.write(text if _PLAIN.fullmatch(text) else _escaped(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write all lines, escaped."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        """Everything else of the stream."""
        return getattr(self.stream, name)


def _escaped(text: str) -> str:
    from hudi_conformance.contract.text import make_printable

    return make_printable(text)


@contextmanager
def guarded_streams() -> Iterator[None]:
    """Guard standard output and standard error. They stay guarded after an unexpected exception, whose traceback follows."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = map(_guard, before)
    try:
        yield
    except Exception:
        raise
    except BaseException:
        sys.stdout, sys.stderr = before
        raise
    else:
        sys.stdout, sys.stderr = before


def _guard(stream: TextIO | None) -> Any:
    return stream if stream is None or isinstance(stream, GuardedStream) else GuardedStream(stream)


def unguarded(stream: TextIO | GuardedStream) -> TextIO:
    """The stream itself, for control sequences of our own."""
    return stream.stream if isinstance(stream, GuardedStream) else stream
