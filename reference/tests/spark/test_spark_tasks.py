"""The tasks of a DataFrame of file slices: how many there are, and what they share."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

pytest.importorskip("pyspark", reason="needs the extra spark")

from pyspark import TaskContext

from hudi_spark import tasks
from hudi_spark.tasks import Shared, frame_of, unpickled

Batches = Iterable[pa.RecordBatch]


def ran(spark: Any, parts: int, log: str) -> list[Any]:
    """What the tasks of so many parts return: parts, processes and numbers of tasks. Each unpickling is noted in a file."""

    def unpickle() -> "Noted":
        with Path(log).open("a") as file:
            file.write(f"{os.getpid()}\n")
        return Noted()

    class Noted:  # local, so that it is sent as a value
        def __reduce__(self) -> Any:
            return unpickle, ()

        def run(self, given: Batches) -> Iterator[pa.RecordBatch]:
            for part in unpickled(given):
                yield pa.record_batch({"part": [part], "process": [os.getpid()], "task": [TaskContext.get().partitionId()]})

    task = Shared.of(spark, Noted())
    return list(frame_of(spark, list(range(parts))).mapInArrow(task.run, "part long, process long, task long").collect())


def test_a_worker_unpickles_what_its_tasks_share_once(spark: Any, tmp_path: Path) -> None:
    """The costs of a plan do not grow with the product of its slices and its files."""
    found = ran(spark, 12, str(tmp_path / "log"))
    assert sorted(row.part for row in found) == list(range(12)) == sorted(row.task for row in found)
    unpickled_by = (tmp_path / "log").read_text().split()
    assert len(unpickled_by) == len(set(unpickled_by)) <= 2 and {str(row.process) for row in found} == set(unpickled_by)


def test_many_parts_share_tasks(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each part is read once, in order, by one of the most tasks."""
    monkeypatch.setattr(tasks, "MOST_TASKS_OF_PARTS", 5)
    found = ran(spark, 12, str(tmp_path / "log"))
    assert [row.part for row in found] == list(range(12)) and {row.task for row in found} == set(range(5))
