"""Emulators of the object stores of Azure and Google, which npm and Go install (`.ci/engines`)."""

import json
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

#: The only account of Azurite, and its key, which is published.
AZURITE_ACCOUNT = "devstoreaccount1"
AZURITE_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
CONTAINER = "tests"


@contextmanager
def azurite() -> Iterator[str]:
    """Start Azurite, whose address is in the environment meanwhile; the URI of an empty container."""
    from azure.core.exceptions import AzureError
    from azure.storage.blob import ContainerClient

    port = _free_port()
    options = ("--blobPort", str(port), "--skipApiVersionCheck", "--silent", "--inMemoryPersistence", "--disableTelemetry")
    with pytest.MonkeyPatch.context() as environment, _running("azurite-blob", *options) as emulator:
        environment.setenv("AZURE_STORAGE_USE_EMULATOR", "true")
        environment.setenv("AZURITE_BLOB_STORAGE_URL", f"http://127.0.0.1:{port}")
        client = ContainerClient(f"http://127.0.0.1:{port}/{AZURITE_ACCOUNT}", CONTAINER, credential=AZURITE_KEY, retry_total=0)
        while True:
            try:
                client.create_container()
                break
            except AzureError:
                assert emulator.poll() is None, "azurite-blob ended"
                time.sleep(0.1)
        yield f"abfss://{CONTAINER}@{AZURITE_ACCOUNT}.dfs.core.windows.net"


@contextmanager
def google(folder: Path) -> Iterator[str]:
    """Start an emulator of Google's store, whose key is in the environment meanwhile; the URI of a bucket with these files."""
    port = _free_port()
    options = {"scheme": "http", "host": "127.0.0.1", "port": port, "backend": "memory", "data": folder.parent,
               "public-host": f"127.0.0.1:{port}"}  # fmt: skip
    key = {"gcs_base_url": f"http://127.0.0.1:{port}", "disable_oauth": True, "client_email": "", "private_key": "",
           "private_key_id": ""}  # fmt: skip
    command = (word for name, value in options.items() for word in (f"-{name}", str(value)))
    with pytest.MonkeyPatch.context() as environment, _running("fake-gcs-server", *command) as emulator:
        environment.setenv("GOOGLE_SERVICE_ACCOUNT_KEY", json.dumps(key))
        while emulator.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield f"gs://{folder.name}"


@contextmanager
def _running(name: str, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    program = shutil.which(name)
    assert program is not None, f"{name} is not installed; see .ci/engines"
    with subprocess.Popen([program, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.kill()


def _free_port() -> int:
    """A port of this machine that no program listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
