"""Schedules of real conflicts on an object store, kept as files and replayed on the reference: two processes behind the proxy.

`hudi-conformance object-store --save FOLDER` wrote each file of `schedules/s3`; `hudi-conformance object-store --replay FILE`
shows its run.
"""

from pathlib import Path

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import Conflict
from hudi_conformance.explorer.s3.engines import replay_schedule, start_trial
from hudi_conformance.explorer.s3.saved_schedules import find_departure
from hudi_conformance.explorer.s3.scenarios import ENGINE, PARTNER
from hudi_conformance.explorer.simulation.schedule_file import read_schedule
from hudi_conformance.suite.support.concurrent.in_process import only_in_process
from hudi_conformance.suite.support.concurrent.object_store import ObjectStore

SAVED = sorted((Path(__file__).parents[1] / "schedules" / "s3").glob("*.jsonl"))


@pytest.mark.s3
@pytest.mark.needs("create", "write.upsert", "storage.s3")
@pytest.mark.requirements("S3-007")
@pytest.mark.parametrize("path", SAVED, ids=lambda path: path.stem)
def test_a_saved_conflict_is_replayed(engine: Client, object_store: ObjectStore, path: Path) -> None:
    """S3-007: the engine has stored its file when the other process writes and completes: it sends the same requests as in the
    saved run, gets the conflict error, and the other process's row stays.
    """
    only_in_process(engine)
    saved = read_schedule(path)
    with start_trial("reference", "reference", object_store.store, object_store.proxy) as given:
        finding = replay_schedule(given, saved)
    assert finding.outcome == "pass", finding
    assert finding.run is not None
    assert find_departure(saved, finding.run) is None
    assert not finding.run.best_effort
    assert isinstance(finding.run.results[ENGINE].error, Conflict)
    assert finding.run.results[PARTNER].how == "returned"
