"""Locks that a service keeps: the laws of every lock, on DynamoDB, ZooKeeper and the Hive metastore.

moto stands for DynamoDB. The other two are real servers; they are started where their jars and a Java are on this machine.
"""

from collections.abc import Callable, Iterator
from inspect import signature
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.suite.locks import test_lock_providers as laws
from hudi_conformance.suite.support.concurrent import lock_fixtures
from hudi_conformance.suite.support.concurrent.in_process import only_in_process
from hudi_conformance.suite.support.concurrent.lock_fixtures import Bench
from hudi_conformance.suite.support.concurrent.lock_services import (
    Dynamo,
    Metastore,
    NoService,
    ZooKeeper,
    dynamo,
    metastore,
    zookeeper,
)
from hudi_reference.errors import AccessDenied, StorageUnavailable

#: What holds of every lock, and of every lease.
LAWS = (
    laws.test_at_most_one_is_inside,
    laws.test_at_most_one_process_is_inside,
    laws.test_its_owner_takes_it_again,
    laws.test_a_stranger_cannot_give_it_up,
    laws.test_who_waits_in_vain_is_told,
    laws.test_who_waits_gets_in_when_it_is_given_up,
    laws.test_a_lease_that_ran_out_is_taken_over_and_its_holder_notices,
    laws.test_a_stolen_lock_is_noticed_and_left_to_the_thief,
)
#: What holds of leases that go by the clock of the one who waits.
BY_CLOCK = (
    laws.test_a_lease_that_is_renewed_is_not_taken_over,
    laws.test_a_clock_that_is_set_back_keeps_others_out,
    laws.test_a_thread_renews_the_lease_of_one_who_works_for_long,
)
Law = Callable[..., None]


@pytest.fixture(autouse=True)
def only_the_reference(engine: Client) -> None:
    """Nobody else runs in this process."""
    only_in_process(engine)


def started(service: Any) -> Iterator[Any]:
    """The service for the tests of this module, or none of them runs."""
    try:
        with service() as found:
            yield found
    except NoService as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def dynamo_service() -> Iterator[Dynamo]:
    """DynamoDB, and keys for it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", "somebody")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        yield from started(dynamo)


@pytest.fixture(scope="module")
def zookeeper_service() -> Iterator[ZooKeeper]:
    """ZooKeeper."""
    yield from started(zookeeper)


@pytest.fixture(scope="module")
def hive_service() -> Iterator[Metastore]:
    """Hive's metastore."""
    yield from started(metastore)


@pytest.fixture
def table() -> str:
    """The name of a table that nobody else has."""
    return f"trips-{uuid4()}"


def by(law: Law) -> str:
    """How a test is called after a law."""
    return law.__name__.removeprefix("test_").replace("_", "-")


def hold(law: Law, bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Test the law on this provider."""
    known = {"bench": bench, "tmp_path": tmp_path, "monkeypatch": monkeypatch}
    try:
        law(**{name: known[name] for name in signature(law).parameters})
    finally:
        bench.close()


@pytest.mark.parametrize("law", [*LAWS, *BY_CLOCK], ids=by)
@pytest.mark.requirements("LOCK-005")
def test_dynamodb(law: Law, dynamo_service: Dynamo, table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An item of a table is a lock as any other."""
    hold(law, lock_fixtures.dynamodb(tmp_path, dynamo_service, table), tmp_path, monkeypatch)


@pytest.mark.parametrize("law", LAWS, ids=by)
@pytest.mark.requirements("LOCK-004")
def test_zookeeper(law: Law, zookeeper_service: ZooKeeper, table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A node of ZooKeeper is a lock as any other; it goes when the connection of its holder is lost for good."""
    hold(law, lock_fixtures.zookeeper(tmp_path, zookeeper_service, table), tmp_path, monkeypatch)


@pytest.mark.parametrize("law", LAWS, ids=by)
@pytest.mark.requirements("LOCK-006")
def test_hive_metastore(law: Law, hive_service: Metastore, table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lock of the metastore is a lock as any other, as far as one on Derby can show it."""
    if law is laws.test_at_most_one_is_inside:
        pytest.skip("with several lockers at once Derby ends some of them with an internal error, and they never get in")
    hold(law, lock_fixtures.hive(tmp_path, hive_service, table), tmp_path, monkeypatch)


@pytest.mark.requirements("LOCK-005")
def test_credentials_that_are_not_there_are_told(
    dynamo_service: Dynamo, table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without keys nobody gets in, and hears why."""
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    with pytest.raises(AccessDenied):
        lock_fixtures.dynamodb(tmp_path, dynamo_service, table).lock().acquire("me")


@pytest.mark.requirements("LOCK-005")
def test_an_endpoint_that_is_gone_is_told(dynamo_service: Dynamo, table: str, tmp_path: Path) -> None:
    """Who holds the lock may not publish while nobody can say that he does; he goes on when the service is back."""
    bench = lock_fixtures.dynamodb(tmp_path, dynamo_service, table)
    mine, other = bench.lock(), bench.lock()
    mine.acquire("me")
    dynamo_service.stop()
    try:
        with pytest.raises(StorageUnavailable):
            mine.check("me")
        with pytest.raises(StorageUnavailable):
            other.acquire("another")
    finally:
        dynamo_service.start()
    mine.check("me")
    mine.release("me")
    other.acquire("another")
    other.release("another")
