"""Text of a table, a file or an engine that is shown on a terminal."""

import re

#: Control characters except line feed and tab, marks that change the direction of text, separators of lines, invisible
#: characters that hide text, and halves of surrogate pairs.
_NOT_PRINTED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    "\U000e0001-\U000e007f]"
)

#: The longest text of an engine that is kept.
LONGEST = 20_000


def shorten(text: str) -> str:
    """The text, with its number of characters in place of the rest if it is longer than `LONGEST`."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}... ({len(text)} characters)"


def make_printable(text: str) -> str:
    """The text with control characters escaped, so that an escape sequence in it cannot change the terminal.

    C0 controls become `\\x1b`; all others become `\\u009b`. JSON has the second form, and `json.dumps` writes no C0 control, so
    that the value of JSON text does not change.
    """
    return _NOT_PRINTED.sub(_escaped, text)


def _escaped(found: "re.Match[str]") -> str:
    code = ord(found[0])
    if code > 0xFFFF:  # JSON has surrogate pairs only
        high, low = divmod(code - 0x10000, 0x400)
        return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"
    return f"\\x{code:02x}" if code < 0x20 else f"\\u{code:04x}"


def escape_controls(text: str) -> str:
    """`make_printable` of text that an engine sent; longer text than `LONGEST` is cut."""
    return make_printable(shorten(text))
