"""The properties of all locks on services: DynamoDB, ZooKeeper and the Hive metastore.

DynamoDB is emulated by moto. The other two are real servers, which are started if their jars and a Java are on this machine.
"""

from collections.abc import Callable, Iterator
from inspect import signature
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from hudi_conformance.contract.client import Client
from hudi_conformance.suite.support.concurrent import lock_fixtures, lock_properties
from hudi_conformance.suite.support.concurrent.in_process import only_in_process
from hudi_conformance.suite.support.concurrent.lock_fixtures import LockFixture
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

#: Properties of every lock, and of every lease.
PROPERTIES = (
    lock_properties.at_most_one_is_inside,
    lock_properties.at_most_one_process_is_inside,
    lock_properties.the_lock_is_reentrant,
    lock_properties.only_the_holder_releases_the_lock,
    lock_properties.waiting_for_the_lock_times_out,
    lock_properties.a_waiter_acquires_the_released_lock,
    lock_properties.an_expired_lease_is_taken_over_and_its_holder_notices,
    lock_properties.a_removed_lock_is_noticed_and_not_released,
)
#: Properties of leases that are judged by the clock of the waiter.
BY_CLOCK = (
    lock_properties.a_renewed_lease_is_not_taken_over,
    lock_properties.a_clock_that_is_set_back_keeps_mutual_exclusion,
    lock_properties.a_thread_renews_the_lease_of_a_long_action,
)
Property = Callable[..., None]


@pytest.fixture(autouse=True)
def skip_other_engines(engine: Client) -> None:
    """No other engine runs in this process."""
    only_in_process(engine)


def start_or_skip(service: Any) -> Iterator[Any]:
    """Start the service for the tests of this module, or skip them."""
    try:
        with service() as found:
            yield found
    except NoService as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def dynamo_service() -> Iterator[Dynamo]:
    """DynamoDB, and credentials for it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", "tests")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        yield from start_or_skip(dynamo)


@pytest.fixture(scope="module")
def zookeeper_service() -> Iterator[ZooKeeper]:
    """ZooKeeper."""
    yield from start_or_skip(zookeeper)


@pytest.fixture(scope="module")
def hive_service() -> Iterator[Metastore]:
    """Hive's metastore."""
    yield from start_or_skip(metastore)


@pytest.fixture
def table() -> str:
    """The name of a table of this test alone."""
    return f"trips-{uuid4()}"


def name_of(check: Property) -> str:
    """Return the name of a property as a test id."""
    return check.__name__.replace("_", "-")


def check_property(check: Property, fixture: LockFixture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check the property on this provider."""
    known = {"fixture": fixture, "tmp_path": tmp_path, "monkeypatch": monkeypatch}
    try:
        check(**{name: known[name] for name in signature(check).parameters})
    finally:
        fixture.close()


@pytest.mark.parametrize("check", [*PROPERTIES, *BY_CLOCK], ids=name_of)
@pytest.mark.requirements("LOCK-005")
def test_dynamodb(check: Property, dynamo_service: Dynamo, table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """LOCK-005: an item of a DynamoDB table has the properties of every lock."""
    check_property(check, lock_fixtures.dynamodb(tmp_path, dynamo_service, table), tmp_path, monkeypatch)


@pytest.mark.parametrize("check", PROPERTIES, ids=name_of)
@pytest.mark.requirements("LOCK-004")
def test_zookeeper(
    check: Property, zookeeper_service: ZooKeeper, table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LOCK-004: a node of ZooKeeper has the properties of every lock; it is deleted when the session of its holder ends."""
    check_property(check, lock_fixtures.zookeeper(tmp_path, zookeeper_service, table), tmp_path, monkeypatch)


@pytest.mark.parametrize("check", PROPERTIES, ids=name_of)
@pytest.mark.requirements("LOCK-006")
def test_hive_metastore(
    check: Property, hive_service: Metastore, table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LOCK-006: a lock of the Hive metastore has the properties of every lock, as far as a metastore on Derby can show them."""
    if check is lock_properties.at_most_one_is_inside:
        pytest.skip(
            "with several lockers at once Derby fails some of them with an internal error, and they never acquire the lock"
        )
    check_property(check, lock_fixtures.hive(tmp_path, hive_service, table), tmp_path, monkeypatch)


@pytest.mark.requirements("LOCK-005")
def test_missing_credentials_are_an_error(
    dynamo_service: Dynamo, table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LOCK-005: without credentials the lock cannot be acquired, and the error states the reason."""
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    with pytest.raises(AccessDenied):
        lock_fixtures.dynamodb(tmp_path, dynamo_service, table).lock().acquire("me")


@pytest.mark.requirements("LOCK-005")
def test_an_unreachable_endpoint_is_an_error(dynamo_service: Dynamo, table: str, tmp_path: Path) -> None:
    """LOCK-005: the holder may not publish while it cannot verify that it holds the lock; it continues when the service is
    back.
    """
    fixture = lock_fixtures.dynamodb(tmp_path, dynamo_service, table)
    mine, other = fixture.lock(), fixture.lock()
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
