"""Text of an engine that is shown on a terminal."""

import re

#: Control characters except line feed and tab, marks that change the direction of text, and halves of surrogate pairs.
_NOT_PRINTED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


#: The longest text of an engine that is kept.
LONGEST = 20_000


def shorten(text: str) -> str:
    """The text, with its number of characters in place of the rest if it is longer than `LONGEST`."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}... ({len(text)} characters)"


def escape_controls(text: str) -> str:
    """The text with control characters as `\\x1b`, so that an escape sequence of an engine cannot change the terminal.

    Text longer than `LONGEST` is cut.
    """
    return _NOT_PRINTED.sub(
        lambda found: f"\\x{ord(found[0]):02x}" if ord(found[0]) < 256 else f"\\u{ord(found[0]):04x}", shorten(text)
    )
