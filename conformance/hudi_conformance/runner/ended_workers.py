"""Cases whose worker process ended: each has one result, and no other worker runs it again.

A worker of xdist ends when a case takes longer than `faulthandler_timeout`, or when an engine in the process crashes it. Before
each case the worker writes what is known of the case to a file. The process that controls the run reads it when the worker is
gone, and makes the result from it.
"""

import json
import time
from collections import OrderedDict
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hudi_conformance.cases.verdict import Judgement, Outcome, Result, empty_result
from hudi_conformance.runner import python_cases
from hudi_conformance.runner.golden_cases import CaseItem

if TYPE_CHECKING:
    from xdist.workermanage import WorkerController


#: The part of the time limit after which the end of a worker is a time-out. The limit begins before the noted time.
ALMOST = 0.9


def make_scheduler(config: pytest.Config, log: Any) -> Any:
    """The scheduler of `--dist=loadgroup`, without the case that was running when a worker ended."""
    from xdist.scheduler import LoadGroupScheduling

    class Scheduler(LoadGroupScheduling):  # type: ignore[misc]  # xdist has no types
        def remove_node(self, node: "WorkerController") -> str | None:
            """Give the rest of the work of a worker to others; the node id of the case that ended it.

            The base class gives the case that ended the worker to the next worker too.
            """
            work = self.assigned_work[node]
            left = [(unit, test) for unit in work.values() for test, is_done in unit.items() if not is_done]
            if left:
                unit, ended = left[0]
                unit[ended] = True
            self.assigned_work[node] = OrderedDict((scope, unit) for scope, unit in work.items() if not all(unit.values()))
            super().remove_node(node)
            return left[0][1] if left else None

    return Scheduler(config, log)


def record_running_case(path: str, item: pytest.Item) -> None:
    """Write what is known of a case that begins, and when it began."""
    known = empty_result(item.case, item.name) if isinstance(item, CaseItem) else python_cases.empty_result(item)
    line = replace(known, node=item.nodeid).to_json()
    Path(path).write_text(json.dumps({"result": line, "started": time.time()}), encoding="utf-8")


def make_result_of_ended_worker(path: str, node: str, limit: float) -> Result | None:
    """The result of the case `node`, whose worker ended; None if the worker ended before it began a case.

    Args:
        path: the file of the worker.
        node: the case that was running.
        limit: seconds after which the worker ends its process; 0: never.
    """
    try:
        noted = json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    known = Result.from_json(noted["result"])
    if known.node != node.rpartition("@")[0] and known.node != node:
        return None
    seconds = time.time() - noted["started"]
    if limit and seconds >= ALMOST * limit:
        found = Judgement(Outcome.TIMEOUT, f"the case took longer than {limit:g} s and its process was ended")
    else:
        found = Judgement(Outcome.CRASH, "the process that ran the case ended before the case")
    return replace(known.with_judgement(found), seconds=seconds)
