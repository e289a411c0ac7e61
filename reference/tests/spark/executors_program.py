"""The program of `test_spark_executors.py`: a session with executors in processes of their own, of which one is killed.

    python executors_program.py FOLDER

Prints a JSON object with what each step found. It is a process of its own, because a process has one session.
"""

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

import hudi_spark
from hudi_reference import create_table
from hudi_spark.session import local_session

#: File groups of the table; a task writes many of them, so that it is killed between two of them.
GROUPS = 60
SCHEMA = {
    "type": "record", "name": "trip",
    "fields": [{"name": "id", "type": "string"}, {"name": "p", "type": "string"}, {"name": "ts", "type": "long"}],
}  # fmt: skip


def rows(ts: int) -> pa.Table:
    """A row for each key."""
    return pa.Table.from_pylist([{"id": f"k{n}", "p": f"p{n % GROUPS}", "ts": ts} for n in range(GROUPS * 5)])


def executors() -> list[int]:
    """The process ids of the executors of this session: they are below this process."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            command = (entry / "cmdline").read_bytes() if entry.name.isdecimal() else b""
        except OSError:
            continue  # it has ended
        if b"CoarseGrainedExecutorBackend" in command and str(os.getpid()).encode() in command + _ancestors(int(entry.name)):
            found.append(int(entry.name))
    return found


def _ancestors(process: int) -> bytes:
    """The process ids of the ancestors of a process, separated by spaces."""
    found = []
    while process > 1:
        try:
            process = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            break
        found.append(str(process))
    return " ".join(found).encode()


def kill_executor_when(is_due: Callable[[], bool], killed: list[int]) -> threading.Thread:
    """Kill one executor as soon as the condition holds."""

    def watch() -> None:
        until = time.monotonic() + 120
        while time.monotonic() < until:
            if is_due():
                killed.append(executors()[0])
                os.kill(killed[-1], signal.SIGKILL)
                return
            time.sleep(0.001)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    return thread


def kill_own_executor(marker: str) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """A function of batches that kills the executor of the first task that calls it, after its first batch."""

    def passed_on(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield batch
            try:
                os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                continue
            daemon = Path(f"/proc/{os.getppid()}/stat").read_text().rpartition(")")[2].split()[1]
            os.kill(int(daemon), signal.SIGKILL)

    return passed_on


def main() -> None:
    """Write, and read, while an executor is killed."""
    folder = Path(sys.argv[1])
    spark: Any = local_session("local-cluster[2,1,1024]", **{"spark.sql.execution.arrow.maxRecordsPerBatch": "10"})
    table = create_table(
        str(folder / "table"), name="trips", schema=json.dumps(SCHEMA), record_key=("id",), partition=("p",), ordering=("ts",),
        table_type="MERGE_ON_READ",
    )  # fmt: skip
    hudi_spark.bulk_insert(spark.createDataFrame(rows(1)), table.uri)
    before = {path.name for path in (folder / "table").rglob("*.log.*")}

    def some_are_written() -> bool:
        return len({path.name for path in (folder / "table").rglob("*.log.*")} - before) > GROUPS // 6

    killed: list[int] = []
    watcher = kill_executor_when(some_are_written, killed)
    hudi_spark.upsert(spark.createDataFrame(rows(2)), table.uri)
    watcher.join()
    marker = str(folder / "killed")
    frame = hudi_spark.read(spark, table.uri, columns=["id", "p", "ts"])
    read = frame.mapInArrow(kill_own_executor(marker), frame.schema).collect()
    print(json.dumps({
        "killed": len(killed), "killed by a read": Path(marker).exists(), "read": sorted(map(list, read)),
        "leftover": list(table.leftover_files()),
    }))  # fmt: skip
    spark.stop()


if __name__ == "__main__":
    main()
