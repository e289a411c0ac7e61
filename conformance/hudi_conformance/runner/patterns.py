"""Files of patterns: one pattern of case ids a line; text after `#` is a comment, or the reason of a flaky case."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from hudi_conformance.cases.renames import current_case
from hudi_conformance.runner.expected_failures import FlakyPattern, ListError


def expand_patterns(patterns: Iterable[str]) -> list[str]:
    """The patterns, with those in the file in place of each `@file`.

    Raises:
        ListError: the file cannot be read, or has no pattern.
    """
    found: list[str] = []
    for pattern in patterns:
        found += [name for name, _ in _lines(Path(pattern[1:]))] if pattern.startswith("@") else [pattern]
    return found


def read_flaky(path: Path) -> tuple[FlakyPattern, ...]:
    """The flaky cases in a file. Raises ListError if it cannot be read, or has no pattern."""
    return tuple(FlakyPattern(current_case(pattern), reason or f"in {path}") for pattern, reason in _lines(path))


def _lines(path: Path) -> list[tuple[str, str]]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ListError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or 'it is not text'}") from None
    found = list(_patterns(text.splitlines()))
    if not found:
        raise ListError(f"{path}: has no pattern; expected one a line")
    return found


def _patterns(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        pattern, _, reason = line.partition("#")
        if pattern.strip():
            yield pattern.strip(), reason.strip()
