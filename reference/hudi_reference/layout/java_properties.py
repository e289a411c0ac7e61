"""The text format of Java properties: ISO-8859-1 lines of `key=value` with backslash escapes.

As in java.util.Properties, an escape `\\u` without four hexadecimal digits is invalid. Control characters are refused too:
writers escape them, so that they come from damage.
"""

import re
from collections.abc import Iterator, Mapping
from functools import partial

from hudi_reference.errors import MalformedProperties
from hudi_reference.limits import PROPERTY_LINE

_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_ESCAPE_OF = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r", "\f": "\\f"}
_ESCAPED = re.compile(r"\\(u[0-9a-fA-F]{4}|u|.|$)", re.DOTALL)
#: Characters that are escaped.
_SPECIAL = re.compile(r"[^ -~]|[=:#!\\]")
#: A key ends at the first `=`, `:` or blank that is not escaped; blanks around one separator belong to it.
_LINE = re.compile(r"([^\r\n]*)(\r\n|\n|\r|\Z)")
_ENTRY = re.compile(r"((?:\\.|[^\\=: \t\f])*)(?:[ \t\f]*[=:][ \t\f]*|[ \t\f]+)?(.*)", re.DOTALL)


def load(data: bytes, path: str = "hoodie.properties") -> dict[str, str]:
    """The entries of the file at `path`; of several lines with one key, the last one counts. Raises MalformedProperties."""
    return {key: value for _, key, value in entries_of(data, path)}


def entries_of(data: bytes, path: str = "hoodie.properties") -> Iterator[tuple[int, str, str]]:
    """Offset, key and value of each line, also of several lines with one key. Raises MalformedProperties."""
    for offset, line in _logical_lines(data.decode("latin-1")):
        PROPERTY_LINE.check(len(line), path)
        match = _ENTRY.fullmatch(line)
        if match is not None:
            unescaped = partial(_unescape_character, path=path, offset=offset)
            # A character above U+FFFF is written as the escapes of its two UTF-16 code units.
            plain = (_ESCAPED.sub(unescaped, part).encode("utf-16-le", "surrogatepass") for part in match.groups())
            key, value = (part.decode("utf-16-le", "replace") for part in plain)
            yield offset, key, value


def dump(entries: Mapping[str, str], comment: str) -> bytes:
    """The file's text: a comment line, then one line for each entry, sorted by key."""
    lines = [f"#{comment}"]
    for key, value in sorted(entries.items()):
        name, text = (_SPECIAL.sub(_escape_character, part) for part in (key, value))
        blank = "\\" if text.startswith(" ") else ""
        lines.append(name.replace(" ", "\\ ") + "=" + blank + text)
    return ("\n".join(lines) + "\n").encode("latin-1")


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines with continuations joined, without comments and blank lines, and the offset at which each begins."""
    pending: list[str] = []
    stripped, begin = "", 0
    for place in _physical_lines(text):
        stripped = place[1].lstrip(" \t\f")
        begin = begin if pending else place.end(1) - len(stripped)
        if not pending and (not stripped or stripped[0] in "#!"):
            continue
        # The lines before this one end in an even number of backslashes, because the last one was removed.
        is_continued = (len(stripped) - len(stripped.rstrip("\\"))) % 2
        if part := stripped[:-1] if is_continued else stripped:
            pending.append(part)
        if is_continued:
            continue
        yield begin, "".join(pending)
        pending.clear()
    if pending or stripped == "\\":  # the last line ends with a continuation
        yield begin, "".join(pending)


def _physical_lines(text: str) -> Iterator[re.Match[str]]:
    """Each line with its end; the last one, which has none, may be empty."""
    for place in _LINE.finditer(text):
        yield place
        if not place[2]:
            return


def _unescape_character(match: re.Match[str], path: str, offset: int) -> str:
    """The character of one escape in the line at `offset`. Raises MalformedProperties."""
    escape = match[1]
    if escape == "u":
        raise MalformedProperties(
            "an escape lacks its four digits", rule="PROP-011", path=path, offset=offset,
            expected=r"\u and four hexadecimal digits", found=match.string[match.start() : match.start() + 6],
            remedy="the file was truncated or edited; restore it from another copy",
        )  # fmt: skip
    return chr(int(escape[1:], 16)) if len(escape) == 5 else _ESCAPES.get(escape, escape)


def _escape_character(match: re.Match[str]) -> str:
    """The escape of one character."""
    character = match[0]
    if character in _ESCAPE_OF:
        return _ESCAPE_OF[character]
    if character in "=:#!":
        return "\\" + character
    units = character.encode("utf-16-be")
    return "".join(f"\\u{units[i]:02X}{units[i + 1]:02X}" for i in range(0, len(units), 2))
