"""Keys of a secondary index, spec "Indexes > Secondary index".

    key = escaped secondary value, `$`, escaped record key

In both parts a `\\` goes before each `$` and each `\\`. So the first `$` without a backslash before it is the separator,
different pairs have different keys, and all keys of a value have the same prefix. Values are stored unchanged, including their
case.

    index version    V1                   V2
    null             no entry             a NUL
    NUL in a text    as it is             a `\\` goes before it
    date             2020-01-31           18292, its days since 1970
    file group       hash of the key      hash of the part up to the separator, `$` included: one file group has all of a value
"""

import re

from hudi_reference.errors import InvalidRows, MalformedIndexEntry
from hudi_reference.metadata.definitions import V1, V2
from hudi_reference.requirement import implements

SEPARATOR, _NULL = "$", "\0"
#: Index version -> the characters that are escaped.
_RESERVED = {V1: re.compile(r"[$\\]"), V2: re.compile(r"[$\\\0]")}
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
#: A part: ordinary characters, or a backslash and the character that it escapes.
_PART = r"((?:[^$\\]++|\\.)*+)"
_KEY = re.compile(rf"{_PART}\${_PART}", re.DOTALL)


@implements("IDX-024", "IDX-025", "IDX-026", "IDX-027", "IDX-028", "IDX-029", "IDX-031", "IDX-046")
def secondary_key(secondary: str | None, record_key: str, version: str = V1) -> str:
    """The key of an entry. Raises InvalidRows for a null, which version V1 does not index."""
    return secondary_prefix(secondary, version) + _escape(record_key, version)


def secondary_prefix(secondary: str | None, version: str = V1) -> str:
    """The common prefix of the keys of all records with this value; no other key has it."""
    if secondary is None and version != V1:
        return _NULL + SEPARATOR
    if secondary is None:
        raise InvalidRows(
            "a null in a secondary index", rule="IDX-024", expected="a value; rows without one have no entry", found="null"
        )
    # ER-066: values keep their case; the worked example of the text has chennai for Chennai.
    return _escape(secondary, version) + SEPARATOR


@implements("IDX-011", "IDX-045")
def prefix_of(key: str) -> str:
    """The part of a key up to the separator: in version V2 its hash selects the file group. Raises MalformedIndexEntry."""
    return key[: _matched(key).end(1) + len(SEPARATOR)]


@implements("IDX-024", "IDX-026", "IDX-027", "IDX-028", "IDX-029")
def parse_secondary_key(key: str, version: str = V1) -> tuple[str | None, str]:
    """Secondary value and record key; raises MalformedIndexEntry for an invalid key."""
    match = _matched(key)
    is_null = version != V1 and match[1] == _NULL
    return None if is_null else _unescape(match[1]), _unescape(match[2])


def _matched(key: str) -> re.Match[str]:
    match = _KEY.fullmatch(key)
    if match is None:
        raise MalformedIndexEntry(
            "not a key of a secondary index", rule="IDX-026", found=repr(key[:200]),
            expected=r"two parts, separated by a $ without a \ before it",
        )  # fmt: skip
    return match


def _escape(part: str, version: str) -> str:
    return _RESERVED[version].sub(r"\\\g<0>", part)


def _unescape(part: str) -> str:
    return _ESCAPED.sub(r"\1", part)
