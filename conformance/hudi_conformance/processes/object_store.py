"""moto's server as the object store: an emulation of S3, in a process of its own."""

import importlib.util
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from types import TracebackType
from typing import Self

from hudi_conformance.processes.supervised import Supervised

#: How long the server may take until it answers, in seconds.
START = 60.0
#: A server whose threads are switched after so many seconds behaves like a server on several machines.
RACING = 1e-5
_PROGRAM = """
import sys
sys.setswitchinterval(float(sys.argv.pop(1)))
from moto.server import main
main(sys.argv[1:])
"""
REGION = "us-east-1"


class NoStore(Exception):
    """The object store could not be started; the message states why."""


class Store:
    """A running server. `switch` is the interval in seconds after which its threads take turns."""

    def __init__(self, switch: float = 0.005) -> None:
        if importlib.util.find_spec("moto") is None:
            raise NoStore("moto is not installed: pip install 'hudi-conformance[s3]'")
        self.host, self.port = "127.0.0.1", _free_port()
        command = [sys.executable, "-c", _PROGRAM, str(switch), "-H", self.host, "-p", str(self.port)]
        self._process = Supervised(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            self._wait()
        except BaseException:
            self.stop()
            raise

    @property
    def endpoint(self) -> str:
        """The URL at which it listens, on this machine only."""
        return f"http://{self.host}:{self.port}"

    def create_bucket(self, name: str) -> None:
        """Create a bucket, without the proxy."""
        connection = HTTPConnection(self.host, self.port, timeout=START)
        connection.request("PUT", f"/{name}", headers={"Authorization": f"AWS4-HMAC-SHA256 Credential=suite/1/{REGION}/s3/x"})
        connection.getresponse().read()
        connection.close()

    def stop(self) -> None:
        """Stop the process; its objects are lost."""
        self._process.kill()

    def __enter__(self) -> Self:
        """The server itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Stop it."""
        self.stop()

    def _wait(self) -> None:
        deadline = time.monotonic() + START
        while time.monotonic() < deadline and self._process.poll() is None:
            with suppress(OSError, HTTPException):
                connection = HTTPConnection(self.host, self.port, timeout=START)
                connection.request("GET", "/moto-api/")
                connection.getresponse().read()
                connection.close()
                return
            time.sleep(0.02)
        raise NoStore(f"moto's server did not start (exit status {self._process.returncode})")


def _free_port() -> int:
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        port: int = asked.getsockname()[1]
        return port


def client_environment(endpoint: str, client: str) -> Mapping[str, str]:
    """The environment of a process that uses the store as `client`: its name is the id of its access key."""
    return {
        "AWS_ENDPOINT_URL": endpoint, "AWS_ACCESS_KEY_ID": client, "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_REGION": REGION, "AWS_DEFAULT_REGION": REGION, "AWS_ALLOW_HTTP": "true", "AWS_EC2_METADATA_DISABLED": "true",
    }  # fmt: skip
