"""A log file of 2 GB: the peak of anonymous memory while it is read, compared with the largest block.

Anonymous memory does not include pages of a mapped file, which the kernel may drop.
"""

import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from tools.bench import tables
from tools.bench.files import decoding

from hudi_reference.files.log.block import BlockType, HeaderKey, encode_block
from hudi_reference.files.log.content import encode_rows
from hudi_reference.schema.avro import with_meta_columns

SIZE = 2 * 10**9
BLOCK_ROWS = 60_000
#: Goal for the growth of anonymous memory while reading, as a multiple of the content of the largest block.
GOALS = {"framing": 1, "rows": 10}


def measure(console: Console, folder: Path, rows: int, rounds: int) -> dict[str, Any]:
    """Measure reading of the block envelopes, then of the rows block by block, each in a new process."""
    path = folder / decoding.LOG
    content = _write(path)
    found: dict[str, Any] = {"file": path.stat().st_size, "block": content}
    for task, goal in GOALS.items():
        run = subprocess.run(
            [sys.executable, "-m", "tools.bench.files.memory", task, str(path)], stdout=subprocess.PIPE, check=True
        )
        found[task] = json.loads(run.stdout)
        ratio = found[task]["grown"] / content
        console.print(
            f"{task}: {found[task]['blocks']} blocks, {found[task]['rows']:,} rows in {found[task]['cpu']:.1f} s of CPU, "
            f"{found[task]['grown'] / 1e6:.0f} MB of anonymous memory, {ratio:.2f} x the largest block (goal {goal})"
        )
    return found


def _write(path: Path) -> int:
    """Write copies of one block up to the size; return the length of its content."""
    schema = with_meta_columns(tables.SCHEMA)
    header = {HeaderKey.INSTANT_TIME: "20260101000000000", HeaderKey.SCHEMA: json.dumps(schema)}
    numbers = np.arange(BLOCK_ROWS)
    content = encode_rows(decoding.add_meta_columns(tables.make_rows(numbers, numbers, 1), schema), schema)
    block = encode_block(BlockType.AVRO_DATA, header, content)
    with path.open("wb") as file:
        for _ in range(-(-SIZE // len(block))):
            file.write(block)
    return len(content)


class MemoryWatch:
    """The peak of anonymous memory of this process, sampled every few milliseconds."""

    def __init__(self) -> None:
        self.peak, self.running = anonymous_memory(), True
        self.thread = threading.Thread(target=self._look, daemon=True)
        self.thread.start()

    def _look(self) -> None:
        while self.running:
            self.peak = max(self.peak, anonymous_memory())
            time.sleep(0.002)

    def stop(self) -> int:
        """The peak in bytes."""
        self.running = False
        self.thread.join()
        return self.peak


def anonymous_memory() -> int:
    """Anonymous resident memory of this process, in bytes."""
    status = Path("/proc/self/status").read_text()
    start = status.index("RssAnon:") + len("RssAnon:")
    return int(status[start : status.index("kB", start)]) << 10


def read_file(task: str, path: Path) -> dict[str, Any]:
    """Read the file; return its costs."""
    from hudi_reference.files.log.content import decode_rows
    from hudi_reference.files.log.reader import read_log_file
    from hudi_reference.storage import storage_of

    storage, blocks, rows = storage_of(str(path.parent)), 0, 0
    before, started, watch = anonymous_memory(), time.process_time(), MemoryWatch()
    for block in read_log_file(storage, path.name):
        blocks += 1
        rows += decode_rows(block).num_rows if task == "rows" else 0
    return {"blocks": blocks, "rows": rows, "grown": watch.stop() - before, "cpu": time.process_time() - started}


if __name__ == "__main__":
    print(json.dumps(read_file(sys.argv[1], Path(sys.argv[2]))))
