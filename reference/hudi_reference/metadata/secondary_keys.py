"""Keys of a secondary index, spec "Indexes > Secondary index".

    key = escaped secondary value, `$`, escaped record key

In both parts a `\\` goes before each `$` and each `\\`. So the first `$` without a backslash before it is the separator,
different pairs have different keys, and all keys of a value have the same prefix. Values are stored unchanged, including their
case. A null has no entry.
"""

import re

from hudi_reference.errors import InvalidRows, MalformedIndexEntry
from hudi_reference.requirement import implements

SEPARATOR = "$"
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
#: A part: ordinary characters, or a backslash and the character that it escapes.
_PART = r"((?:[^$\\]++|\\.)*+)"
_KEY = re.compile(rf"{_PART}\${_PART}", re.DOTALL)


@implements("IDX-024", "IDX-025", "IDX-026", "IDX-027", "IDX-028", "IDX-029", "IDX-031")
def secondary_key(secondary: str | None, record_key: str) -> str:
    """The key of an entry. Raises InvalidRows for a null, which this table version does not index."""
    return secondary_prefix(secondary) + _escape(record_key)


def secondary_prefix(secondary: str | None) -> str:
    """The common prefix of the keys of all records with this value; no other key has it."""
    if secondary is None:
        raise InvalidRows(
            "a null in a secondary index", rule="IDX-024", expected="a value; rows without one have no entry", found="null"
        )
    # ER-066: values keep their case; the worked example of the text has chennai for Chennai.
    return _escape(secondary) + SEPARATOR


@implements("IDX-024", "IDX-026", "IDX-027", "IDX-028", "IDX-029")
def parse_secondary_key(key: str) -> tuple[str, str]:
    """Secondary value and record key; raises MalformedIndexEntry for an invalid key."""
    match = _KEY.fullmatch(key)
    if match is None:
        raise MalformedIndexEntry(
            "not a key of a secondary index", rule="IDX-026", found=repr(key[:200]),
            expected=r"two parts, separated by a $ without a \ before it",
        )  # fmt: skip
    return _unescape(match[1]), _unescape(match[2])


def _escape(part: str) -> str:
    return part.replace("\\", r"\\").replace("$", r"\$")


def _unescape(part: str) -> str:
    return _ESCAPED.sub(r"\1", part)
