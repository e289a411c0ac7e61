"""Cases of one log file: valid files and damaged files."""

from collections.abc import Sequence
from typing import Any

from tools.corpus.case import FileCase
from tools.corpus.log.builder import Json, Part, expected_inspection, join_bytes
from tools.corpus.log.builder import log_file_name as log_name

#: The features of an engine that shows the envelopes of blocks, and of an engine that shows their content.
FRAMING = ("inspect.log-file",)
CONTENT = ("inspect.log-file", "inspect.log-content")

#: Members of the inspection of a block that describe its content.
_CONTENT_KEYS = ("content_version", "rows", "deletes", "positions")


def without_content(found: Json) -> Json:
    """The same inspection without the content of the blocks."""
    blocks = [{key: value for key, value in block.items() if key not in _CONTENT_KEYS} for block in found["blocks"]]
    return {**found, "blocks": blocks}


def log_file_case(name: str, content: bytes, *, rules: Sequence[str], **more: Any) -> FileCase:
    """A case of one log file; `more` are the other fields of the case."""
    return FileCase(area="log", name=name, content=content, requirements=rules, **{"file": log_name(1), **more})


def whole_file_case(name: str, *parts: Part, **more: Any) -> FileCase:
    """A log file of which envelopes and content of all blocks are compared."""
    about = {"inspect": expected_inspection(*parts), "needs": CONTENT, "flags": ("lost-write",)}
    return log_file_case(f"file.{name}", join_bytes(*parts), verdict="valid", **{**about, **more})


def framed_only(name: str, *parts: Part, **more: Any) -> FileCase:
    """A log file of which only the envelopes are compared, for engines that do not decode contents."""
    return whole_file_case(name, *parts, inspect=without_content(expected_inspection(*parts)), needs=FRAMING, **more)
