"""What a drawn damage is: its kind, its place, and whether the bytes of a table can show it."""

import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tools.damage import kinds as damages_of_files

from hudi_reference.files.log.block import HeaderKey
from hudi_reference.storage import MemoryStorage

#: The write token in the name of a data file.
_TOKEN = re.compile(r"_\d+-\d+-\d+")
#: Columns of log rows whose value is also in the path or in another column. The commit time is not: a log compaction keeps the
#: times of the blocks that it merges.
_REPEATED = ("_hoodie_record_key", "_hoodie_partition_path")


class NotPossible(Exception):
    """The table has no place for the damage."""


@dataclass(frozen=True)
class Drawn:
    """A damage: what was done, and to which file."""

    kind: str
    place: str
    parts: tuple["Drawn", ...] = ()

    @property
    def cannot_be_seen(self) -> bool:
        """Whether docs/validate.md says why the bytes of a table need not show the damage.

        A lost completed file looks like a crashed writer. A bit in a block or in the properties gives another valid value. A
        block of some columns without its mark is one of an older schema. A value in a row of a log block has no checksum and no
        bounds, except for those of the record key and the partition; nor has a key in a block of deletes. A payload
        class or a merger may be one of the user's own. Nothing names the attempt that wrote a block.
        """
        if self.parts:
            return any(part.cannot_be_seen for part in self.parts)
        where = damages_of_files.class_of(self.place.partition(" ")[0])
        return (
            where == "properties"
            or self.place.startswith(("hoodie.compaction.payload.class=", "hoodie.record.merge.strategy.id="))
            or (where == "completed instant" and self.kind in ("delete", "rename", "move", "delete folder"))
            or (where in ("log file", "base file") and self.kind in ("flip", "zeros", "junk"))
            or (self.kind == "header remove" and self.place.endswith(f": {HeaderKey.IS_PARTIAL}"))
            or (self.kind == "log row value" and not self.place.endswith(_REPEATED))
            or (self.kind == "exchange" and len({_TOKEN.sub("_", one) for one in self.place.split(" and ")}) == 1)
            or self.kind == "delete other"
        )


def copied(folder: Path) -> MemoryStorage:
    """The table in a folder, in memory."""
    storage = MemoryStorage()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            storage.put(path.relative_to(folder).as_posix(), path.read_bytes())
    return storage


def paths_of(storage: MemoryStorage, wanted: Callable[[str], bool] = lambda path: True) -> list[str]:
    """The paths of the wanted files, in order; NotPossible if there is none."""
    found = [info.path for info in storage.list("") if wanted(info.path)]
    if not found:
        raise NotPossible
    return sorted(found)


#: Damages a table and says what it did; raises NotPossible where the table has no place for it.
Damage = Callable[[random.Random, MemoryStorage], Drawn]
