"""Parse the comparisons of `--where`, e.g. `price > 5 and city = 'x'`."""

import re
from typing import Any

Comparison = tuple[str, str, Any]

#: A column, an operator, and a number, true, false or a text in quotes ('' inside it is one quote).
_COMPARISON = re.compile(
    r"""\s*(?P<column>[\w.]+|`[^`]+`|"[^"]+")\s*(?P<op><=|>=|!=|<>|==|=|<|>)\s*
        (?P<value>'(?:[^']|'')*'|[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|true|false)\s*""",
    re.VERBOSE | re.IGNORECASE,
)
_AND = re.compile(r"and\b", re.IGNORECASE)
_SPELLINGS = {"==": "=", "<>": "!="}


class InvalidWhere(ValueError):
    """The text is not a list of comparisons joined with `and`; the message shows the place."""


def parse_predicates(text: str) -> tuple[Comparison, ...]:
    """The comparisons of `text` in their order."""
    found, at = [], 0
    while True:
        match = _COMPARISON.match(text, at)
        if match is None:
            raise InvalidWhere(f"expected COLUMN = VALUE at {text[at:].strip() or 'the end'!r} of {text!r}")
        op = match["op"]
        found.append((match["column"].strip('`"'), _SPELLINGS.get(op, op), _value(match["value"])))
        at = match.end()
        if at == len(text):
            return tuple(found)
        joined = _AND.match(text, at)
        if joined is None:
            raise InvalidWhere(f"expected 'and' at {text[at:].strip()!r} of {text!r}")
        at = joined.end()


def _value(text: str) -> Any:
    if text.startswith("'"):
        return text[1:-1].replace("''", "'")
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    return int(text) if re.fullmatch(r"[-+]?\d+", text) else float(text)
