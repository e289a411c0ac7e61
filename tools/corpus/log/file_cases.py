"""Cases of one log file: valid files and damaged files."""

from collections.abc import Sequence
from typing import Any

from tools.corpus.case import FileCase
from tools.corpus.log.builder import Json, Part, data_of, inspection
from tools.corpus.log.builder import name as log_name

#: What an engine offers that shows the envelopes of blocks, and one that shows what they hold.
FRAMING = ("inspect.log-file",)
CONTENT = ("inspect.log-file", "inspect.log-content")

#: Members of a block's inspection that only a reader of contents shows.
_CONTENT_KEYS = ("content_version", "rows", "deletes", "positions")


def framing(found: Json) -> Json:
    """The same inspection without what the blocks hold."""
    blocks = [{key: value for key, value in block.items() if key not in _CONTENT_KEYS} for block in found["blocks"]]
    return {**found, "blocks": blocks}


def whole(name: str, *parts: Part, rules: Sequence[str], says: str, if_it_fails: str, **more: Any) -> FileCase:
    """A log file whose blocks are all read, envelope and content."""
    return FileCase(
        area="log",
        name=f"file.{name}",
        requirements=rules,
        says=says,
        if_it_fails=if_it_fails,
        file=more.pop("file", log_name(1)),
        content=data_of(*parts),
        verdict="valid",
        inspect=more.pop("inspect", None) or inspection(*parts),
        needs=more.pop("needs", CONTENT),
        flags=more.pop("flags", ("lost-write",)),
        **more,
    )


def framed_only(name: str, *parts: Part, **more: Any) -> FileCase:
    """A log file of which only the envelopes of blocks are asked, so that a mere reader of frames can be."""
    return whole(name, *parts, inspect=framing(inspection(*parts)), needs=FRAMING, **more)
