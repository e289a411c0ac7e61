"""Parse the comparisons of `--where`, e.g. `price > 5 and city in ('x', 'y') and gone is null`."""

import re
from typing import Any

Comparison = tuple[str, str, Any]

#: A number, true, false, null or a text in quotes ('' inside it is one quote).
_CONSTANT = r"(?:'(?:[^']|'')*'|[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|true|false|null)"
#: A column, an operator and a constant, or `in` and constants in parentheses, or a test for null.
_COMPARISON = re.compile(
    rf"""\s*(?P<column>[\w.]+|`[^`]+`|"[^"]+")\s*
        (?:(?P<op><=|>=|!=|<>|==|=|<|>)\s*(?P<value>(?!null){_CONSTANT})
          |\blike\s*'(?P<prefix>(?:[^'%_\\]|'')*)%'
          |\bin\s*\(\s*(?P<values>(?:{_CONSTANT}\s*(?:,\s*{_CONSTANT}\s*)*)?)\)
          |\b(?P<test>is(?:\s+not)?)\s+null\b)\s*""",
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
            place = f"{text[at:].strip() or 'the end'!r} of {text!r}"
            raise InvalidWhere(
                f"expected COLUMN = VALUE, COLUMN in (VALUE, ...), COLUMN like 'PREFIX%' or COLUMN is null at {place}; "
                "a VALUE is a number, true, false, or a text in quotes"
            )
        found.append((match["column"].strip('`"'), *_condition(match)))
        at = match.end()
        if at == len(text):
            return tuple(found)
        joined = _AND.match(text, at)
        if joined is None:
            raise InvalidWhere(f"expected 'and' at {text[at:].strip()!r} of {text!r}")
        at = joined.end()


def _condition(match: re.Match[str]) -> tuple[str, Any]:
    """The operator and the constant; of `in` a tuple of constants, of `like` the text before its only wildcard."""
    if match["prefix"] is not None:
        return "starts with", match["prefix"].replace("''", "'")
    if match["test"] is not None:
        return " ".join(match["test"].lower().split()), None
    if match["op"] is None:
        return "in", tuple(_value(one) for one in re.findall(_CONSTANT, match["values"], re.IGNORECASE))
    return _SPELLINGS.get(match["op"], match["op"]), _value(match["value"])


def _value(text: str) -> Any:
    if text.lower() == "null":
        return None
    if text.startswith("'"):
        return text[1:-1].replace("''", "'")
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    return int(text) if re.fullmatch(r"[-+]?\d+", text) else float(text)
