"""Storages that the tests run on."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from store_emulators import azurite

from hudi_conformance.processes.compiled_modules import share_compiled_modules
from hudi_reference.storage import SYNC_VARIABLE, LocalStorage, MemoryStorage, Storage, storage_of

os.environ.setdefault(SYNC_VARIABLE, "0")  # temporary tables; tests of durability turn it on
share_compiled_modules()  # before test modules are imported, and before any process is started


@pytest.fixture(scope="session")
def s3_bucket() -> Iterator[str]:
    """The URI of a bucket on moto's server, which listens on this machine only, on a port that was free."""
    import boto3
    from moto.s3.responses import S3Response
    from moto.server import ThreadedMotoServer

    put, one_at_a_time = S3Response.put_object, threading.Lock()

    def put_alone(self: S3Response) -> object:
        """moto checks the condition of a PUT and stores the object in two steps, in a thread for each request."""
        with one_at_a_time:
            return put(self)

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as environment:
        for name in [name for name in os.environ if name.startswith("AWS_")]:
            environment.delenv(name)
        environment.setattr(S3Response, "put_object", put_alone)
        environment.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        environment.setenv("AWS_ACCESS_KEY_ID", "test")
        environment.setenv("AWS_SECRET_ACCESS_KEY", "test")
        environment.setenv("AWS_REGION", "us-east-1")
        boto3.client("s3", region_name="us-east-1").create_bucket(Bucket="reference-tests")
        yield "s3://reference-tests"
    server.stop()


@pytest.fixture(scope="session")
def azure_container() -> Iterator[str]:
    """The URI of a container of Azurite."""
    with azurite() as container:
        yield container


@pytest.fixture(
    params=[
        "local",
        "memory",
        pytest.param("s3_bucket", marks=pytest.mark.s3),
        pytest.param("azure_container", marks=pytest.mark.emulators),
    ]
)
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Storage:
    """An empty storage of each kind in turn."""
    if request.param == "local":
        return LocalStorage(tmp_path / "table")
    if request.param == "memory":
        return MemoryStorage()
    return storage_of(f"{request.getfixturevalue(request.param)}/{uuid4()}")
