"""What doubles do to the answer about one file or one function: each twist is a fault that decoders were seen to have."""

from collections.abc import Callable
from typing import Any

Json = dict[str, Any]
#: Changes the inspection of one file.
Twist = Callable[[Json], Json]


def _blocks(change: Callable[[list[Json]], list[Json]]) -> Twist:
    """A twist of the blocks of a log file; other files stay as they are."""
    return lambda found: {**found, "blocks": change(found["blocks"])} if found["format"] == "log" else found


def _block(change: Callable[[Json], Json]) -> Twist:
    return _blocks(lambda blocks: [change(block) for block in blocks])


without_damage = _blocks(lambda blocks: [block for block in blocks if block["type"] != "corrupt"])


@_blocks
def up_to_the_damage(blocks: list[Json]) -> list[Json]:
    """Nothing from the first damaged byte on."""
    first = next((number for number, block in enumerate(blocks) if block["type"] == "corrupt"), len(blocks))
    return blocks[: first + 1]


@_block
def with_positions_from_one(block: Json) -> Json:
    """The first row of the base file is number 1."""
    moved = [str(int(position) + 1) for position in block.get("positions", ())]
    return {**block, "positions": moved} if moved else block


@_block
def with_int_orderings_as_long(block: Json) -> Json:
    """Ordering values of deletes without their type."""
    deletes = [{**d, "ordering": _as_long(d["ordering"])} for d in block.get("deletes", ())]
    return {**block, "deletes": deletes} if deletes else block


def _as_long(ordering: Json | None) -> Json | None:
    if ordering is None or ordering["type"] != "int":
        return ordering
    return {"type": "long", "value": str(ordering["value"])}


def without_entries_of_the_last_key(found: Json) -> Json:
    """An HFile whose scan ends one entry too early."""
    return {**found, "entries": found["entries"][:-1]} if found["format"] == "hfile" else found
