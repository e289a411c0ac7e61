"""Writes of Apache Hudi that begin, wait, and end later, so that other writes complete before them.

A write publishes its begin time before it evaluates its rows. A function in the rows waits while a file exists; other writes
take their begin times and complete meanwhile. Spark has two threads for tasks, of which a waiting write takes one.
"""

import time
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

#: Seconds until a write has begun, and until it has ended.
PATIENCE = 120.0


class SlowWrite:
    """One write in a thread of its own."""

    def __init__(self, gate: Path, write: Callable[[], None]) -> None:
        self.gate, self._write = gate, write
        self.error: Exception | None = None
        self._thread = Thread(target=self._run)

    def _run(self) -> None:
        try:
            self._write()
        except Exception as error:
            self.error = error

    def begin(self, has_begun: Callable[[], bool]) -> None:
        """Start the write and wait until it has begun. Raises its error, or TimeoutError."""
        self.gate.touch()
        self._thread.start()
        until = time.monotonic() + PATIENCE
        while not has_begun():
            if not self._thread.is_alive() or time.monotonic() > until:
                self.finish()
                raise TimeoutError("the write has not begun")
            time.sleep(0.05)

    def finish(self) -> None:
        """Let the write go on, and wait for its end. Raises its error."""
        self.gate.unlink(missing_ok=True)
        self._thread.join(PATIENCE)
        if self.error is not None:
            raise self.error
        if self._thread.is_alive():
            raise TimeoutError("the write has not ended")


def waiting_for(gate: Path, column: str, frame: Any) -> Any:
    """The rows, whose column of text is evaluated only when the file does not exist any more."""
    from pyspark.sql.functions import udf
    from pyspark.sql.types import StringType

    path = str(gate)

    def wait(value: str | None) -> str | None:
        import time
        from pathlib import Path

        while Path(path).exists():
            time.sleep(0.05)
        return value

    return frame.withColumn(column, udf(wait, StringType())(frame[column]))
