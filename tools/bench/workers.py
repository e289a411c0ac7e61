"""Worker processes: one engine each, in its own environment; the CPU time is measured from outside."""

import json
import subprocess
import sys
import time
from dataclasses import dataclass, field
from typing import Any

import psutil
import uv

from hudi_conformance.engines.support.environments import python_for

#: Packages of readers that are not engines of the suite; they are installed for the run only.
_FETCHED = {"datafusion": "datafusion==55.0.0", "polars": "polars==2.1.0"}


@dataclass
class Worker:
    """A worker process of one engine, and the costs of its tasks so far."""

    name: str
    process: subprocess.Popen[str]
    costs: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    @classmethod
    def start(cls, name: str, module: str = "tools.bench.worker") -> "Worker":
        """Start the worker in the engine's own environment."""
        engine, _, version = name.partition("@")
        argv = [*_python(engine), "-m", module, engine, *([version] if version else [])]
        return cls(name, subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))

    def run_task(self, task: dict[str, Any]) -> dict[str, Any]:
        """Send one task and wait; return the answer, with the wall and CPU seconds of the worker and all its children."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        cpu, wall = self.cpu_seconds(), time.perf_counter()
        self.process.stdin.write(json.dumps(task) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise EOFError(f"{self.name} ended")
        return {**json.loads(line), "wall": time.perf_counter() - wall, "cpu": self.cpu_seconds() - cpu}

    def cpu_seconds(self) -> float:
        """CPU seconds of the worker so far, including all processes that it started, also those that have ended."""
        return processes_seconds(self.process.pid)

    def stop(self) -> None:
        """End the worker."""
        self.process.communicate("")


def processes_seconds(pid: int) -> float:
    """CPU seconds of a process so far, including all processes that it started, also those that have ended."""
    process = psutil.Process(pid)
    times = [p.cpu_times() for p in (process, *process.children(recursive=True))]
    return float(sum(t.user + t.system + t.children_user + t.children_system for t in times))


def _python(engine: str) -> list[str]:
    """The command of a Python that has the engine."""
    if engine in _FETCHED:
        return [uv.find_uv_bin(), "run", "--quiet", "--no-project", "--with", _FETCHED[engine], "--with", "pyarrow", "python"]
    extra = engine if engine in ("hudi-rs", "apache-hudi", "spark") else None
    return [str(python_for(extra)) if extra else sys.executable]
