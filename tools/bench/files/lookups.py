"""Keys of an HFile: the number of bytes that a lookup reads, and the computed minimum.

In a file of N entries in blocks of B entries, a lookup of k random keys reads a fraction of 1 - (1 - k/N)^B of the blocks. To
read a twentieth of the file for one key in a hundred, B must be 5 or less, and the index of such small blocks is itself a
tenth of the file. A range of k keys, such as those of one partition or one prefix, reads about k/B blocks.
"""

import time
from collections.abc import Sequence
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

from rich.console import Console
from rich.table import Table as RichTable
from tools.bench import apache_hudi

from hudi_reference.files.hfile.block import Compression
from hudi_reference.files.hfile.cell import Entry
from hudi_reference.files.hfile.reader import hfile_of, open_hfile
from hudi_reference.files.hfile.writer import Layout, encode_hfile
from hudi_reference.storage import LocalStorage

#: Goal for the size of the file divided by the bytes that are read.
GOAL = 20
#: One key in this many is looked up.
SHARE = 100
BLOCK_SIZES = (4 << 10, 64 << 10, 1 << 20)
RUNS = 10


#: A layout for large values: one entry in a block, and small index blocks.
WIDE_VALUE = 1000
WIDE = Layout(Compression.NONE, 1 << 10, index_block_size=4 << 10)


class CountingStorage(LocalStorage):
    """Storage of a folder that counts requests and the bytes that are read."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.read = self.requests = 0

    def get(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        """Read, and count."""
        data = super().get(path, start, length)
        self.read += len(data)
        self.requests += 1
        return data


def measure(console: Console, folder: Path, rows: int, rounds: int) -> list[dict[str, Any]]:
    """Measure each block size, with and without compression: random keys, ranges of keys, single keys."""
    found = []
    for layout in (*(Layout(compression, size) for compression in Compression for size in BLOCK_SIZES), WIDE):
        (folder / "f.hfile").write_bytes(encode_hfile(_entries(rows, WIDE_VALUE if layout is WIDE else 55), layout=layout))
        size = layout.block_size
        found.append({"compression": layout.compression.name, "block": size, **_of_file(folder, rows, size, rounds)})
    _show(console, rows, found)
    _against_apache_hudi(console, folder, rows, rounds)
    return found


def _entries(rows: int, size: int) -> list[Entry]:
    """Entries in order, with values of `size` bytes of which about half repeat."""
    random = Random(5)
    return [Entry(f"key-{i:09}".encode(), (random.randbytes(size // 2) + bytes(size))[:size]) for i in range(rows)]


def _of_file(folder: Path, rows: int, block: int, rounds: int) -> dict[str, Any]:
    size = (folder / "f.hfile").stat().st_size
    asked = rows // SHARE
    random = Random(7)
    length = asked // RUNS
    starts = [random.randrange(rows - length) // length * length for _ in range(RUNS)]
    in_runs = sorted({start + i for start in starts for i in range(length)})
    by_chance = random.sample(range(rows), asked)
    alone = [_look_up(folder, [number]) for number in random.sample(range(rows), 20)]
    return {
        "size": size,
        "one": {key: sum(cost[key] for cost in alone) / len(alone) for key in alone[0]},
        "runs": min((_look_up(folder, in_runs) for _ in range(rounds)), key=lambda cost: cost["cpu"]),
        "chance": min((_look_up(folder, by_chance) for _ in range(rounds)), key=lambda cost: cost["cpu"]),
        "touched by chance": 1 - (1 - 1 / SHARE) ** (block / (size / rows)),
    }


def _look_up(folder: Path, numbers: Sequence[int]) -> dict[str, float]:
    """Open the file and look up these keys; return the bytes, the requests and the CPU seconds."""
    storage, started = CountingStorage(folder), time.process_time()
    found = list(open_hfile(storage, "f.hfile").get(*(f"key-{number:09}" for number in numbers)))
    cost = time.process_time() - started
    if len(found) != len(set(numbers)):
        raise ValueError(f"{len(found)} of {len(set(numbers))} keys were found")
    return {"bytes": storage.read, "requests": storage.requests, "cpu": cost}


def _show(console: Console, rows: int, found: Sequence[dict[str, Any]]) -> None:
    title = f"times fewer bytes than the file has, {rows // SHARE:,} keys of {rows:,} (goal {GOAL})"
    shown = RichTable("codec", "block", "file MB", f"{RUNS} runs of keys", "keys by chance", "one key", "CPU s", title=title)
    for row in found:
        ratios = [f"{row['size'] / row[kind]['bytes']:,.1f}" for kind in ("runs", "chance", "one")]
        cpu = " / ".join(f"{row[kind]['cpu']:.2f}" for kind in ("runs", "chance"))
        shown.add_row(row["compression"], f"{row['block'] >> 10} KiB", f"{row['size'] / 1e6:.0f}", *ratios, cpu)
    console.print(shown)


def _against_apache_hudi(console: Console, folder: Path, rows: int, rounds: int) -> None:
    """CPU time of random lookups in the last file, which is in memory, by Apache Hudi's native reader and by the reference."""
    keys = sorted(f"key-{number:09}" for number in Random(7).sample(range(rows), rows // SHARE))
    (folder / "keys").write_text("\n".join(keys))
    theirs = apache_hudi.run_program("look-up", str(folder / "f.hfile"), str(folder / "keys"), str(rounds))
    data = (folder / "f.hfile").read_bytes()
    costs = []
    for _ in range(rounds):
        started = time.process_time()
        if len(list(hfile_of(data, "f.hfile").get(*keys))) != theirs["found"] or theirs["found"] != len(keys):
            raise ValueError("not the same keys are found")
        costs.append(time.process_time() - started)
    console.print(
        f"{len(keys):,} keys by chance in memory, CPU s: reference {median(costs):.2f}, Apache Hudi 1.0.2 {theirs['cpu']:.2f}"
    )
