"""Changes of the inspection of one file. Each is a fault that was observed in decoders."""

from collections.abc import Callable
from typing import Any

Json = dict[str, Any]
#: Changes the inspection of one file.
AnswerFault = Callable[[Json], Json]


def _blocks(change: Callable[[list[Json]], list[Json]]) -> AnswerFault:
    """A change of the blocks of a log file; the inspection of other files is not changed."""
    return lambda found: {**found, "blocks": change(found["blocks"])} if found["format"] == "log" else found


def _block(change: Callable[[Json], Json]) -> AnswerFault:
    return _blocks(lambda blocks: [change(block) for block in blocks])


without_damage = _blocks(lambda blocks: [block for block in blocks if block["type"] != "corrupt"])


@_blocks
def up_to_first_damage(blocks: list[Json]) -> list[Json]:
    """The blocks up to and including the first damaged one."""
    first = next((number for number, block in enumerate(blocks) if block["type"] == "corrupt"), len(blocks))
    return blocks[: first + 1]


@_block
def with_positions_from_one(block: Json) -> Json:
    """Record positions that begin at 1 instead of 0."""
    shifted = [str(int(position) + 1) for position in block.get("positions", ())]
    return {**block, "positions": shifted} if shifted else block


@_block
def with_int_orderings_as_long(block: Json) -> Json:
    """Deletes whose int ordering values are answered as long."""
    deletes = [{**d, "ordering": _as_long(d["ordering"])} for d in block.get("deletes", ())]
    return {**block, "deletes": deletes} if deletes else block


def _as_long(ordering: Json | None) -> Json | None:
    if ordering is None or ordering["type"] != "int":
        return ordering
    return {"type": "long", "value": str(ordering["value"])}


def without_entries_of_the_last_key(found: Json) -> Json:
    """The entries of an HFile without the last one."""
    return {**found, "entries": found["entries"][:-1]} if found["format"] == "hfile" else found
