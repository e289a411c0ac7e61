"""HFiles for tests: those that Apache Hudi wrote, small ones made here, and a storage that counts what is read of it."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hudi_reference.files.hfile.cell import Entry
from hudi_reference.storage import MemoryStorage

DATA = Path(__file__).parents[1] / "data" / "hfile"

#: Worked example: a -> 1, b -> 2, a meta block m -> hi, not compressed, CRC32C. The trailer's zeros are left out.
WORKED_BLOCKS = bytes.fromhex(
    "44415441424c4b2a 00000032 0000002e ffffffffffffffff 02 00004000 0000004f"
    "0000000d 00000001 0001 61 007fffffffffffffff04 31 00"
    "0000000d 00000001 0001 62 007fffffffffffffff04 32 00"
    "b584266b"
    "4d455441424c4b63 00000006 00000002 ffffffffffffffff 02 00004000 00000023 6869 9a9510b3"
    "494458524f4f5432 0000001e 0000001a ffffffffffffffff 02 00004000 0000003b"
    "0000000000000000 00000053 0d 0001 61 007fffffffffffffff04 e24d22e4"
    "494458524f4f5432 00000012 0000000e 000000000000007a 02 00004000 0000002f"
    "0000000000000053 00000027 01 6d 8036e9eb"
    "46494c45494e4632 000000c0 000000bc ffffffffffffffff 02 00004000 000000dd"
    "50425546 b601"
    "0a19 0a11 4b45595f56414c55455f56455253494f4e 1204 00000001"
    "0a1f 0a13 4d41585f4d454d53544f52455f54535f4b4559 1208 0000000000000000"
    "0a19 0a11 6866696c652e4156475f4b45595f4c454e 1204 0000000d"
    "0a1b 0a13 6866696c652e4156475f56414c55455f4c454e 1204 00000001"
    "0a20 0a14 6866696c652e4352454154455f54494d455f5453 1208 0000000000000000"
    "0a1e 0a0d 6866696c652e4c4153544b4559 120d 0001 62 007fffffffffffffff04"
    "027736cc"
)
WORKED_TRAILER = (
    bytes.fromhex("545241424c4b2224 4c 08ec01 107a 181a 20fe22 2801 3001 3802 4001 4800 5000 5a32")
    + b"org.apache.hudi.io.storage.HoodieHBaseKVComparator"
    + bytes.fromhex("6002")
)
WORKED = WORKED_BLOCKS + WORKED_TRAILER + bytes(4096 - 4 - len(WORKED_TRAILER)) + bytes.fromhex("03 000003")


def entries(count: int) -> list[Entry]:
    """That many entries with keys of one length."""
    return [Entry(f"key-{i:06}".encode(), f"value {i}".encode()) for i in range(count)]


@dataclass
class CountingStorage(MemoryStorage):
    """Records each range that was read."""

    reads: list[tuple[int, int | None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def get(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        """Slice the object, and note the slice."""
        self.reads.append((start, length))
        return super().get(path, start, length)

    def open(self, path: str) -> Any:
        """Raises an error: the whole file must not be read."""
        raise AssertionError(f"{path} was opened whole")
