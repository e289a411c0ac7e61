"""The properties of the object store that the other tests of object stores require."""

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.explorer.s3.proxy import Proxy
from hudi_conformance.explorer.s3.store_conformance import CHECKS, Verdict, examine_store
from hudi_conformance.suite.support.concurrent.in_process import only_in_process
from hudi_conformance.suite.support.concurrent.object_store import BUCKET, ObjectStore

pytestmark = pytest.mark.s3


@pytest.fixture(scope="module")
def verdicts(object_store: ObjectStore) -> dict[str, Verdict]:
    """The results of the tests of the store, behind the proxy."""
    return {verdict.name: verdict for verdict in examine_store(object_store.proxy.endpoint, BUCKET, rounds=3)}


@pytest.mark.parametrize("guarantee", CHECKS)
@pytest.mark.requirements("S3-006")
def test_the_store_keeps_its_guarantees(engine: Client, verdicts: dict[str, Verdict], guarantee: str) -> None:
    """S3-006: races have one winner, written objects are visible, parts of multipart uploads are not, and deletes may be
    repeated.
    """
    only_in_process(engine)
    assert verdicts[guarantee].kept, str(verdicts[guarantee])


@pytest.mark.requirements("S3-006")
def test_a_store_without_conditions_is_detected(engine: Client, object_store: ObjectStore) -> None:
    """S3-006: behind a proxy that drops the conditions of requests both races fail, and the test of the store reports it."""
    only_in_process(engine)
    with Proxy(object_store.store.host, object_store.store.port, ignores_conditions=True) as door:
        broken = {verdict.name for verdict in examine_store(door.endpoint, BUCKET, rounds=1) if not verdict.kept}
    assert broken == {"create if absent", "compare and swap"}
