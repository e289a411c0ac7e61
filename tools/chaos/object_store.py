"""An object store for a run: moto's server in a process of its own, which serves one request at a time.

moto checks the condition of a request and stores the object in two steps. So two requests at once could both succeed, which no
object store with conditional requests allows.
"""

import re
import subprocess
import sys
import time
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote

from hudi_conformance.processes.object_store import REGION
from hudi_conformance.processes.supervised import Supervised

BUCKET = "chaos"
#: Seconds in which the server has to answer.
START = 60.0
_PROGRAM = """
import sys
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server
server = make_server("127.0.0.1", 0, DomainDispatcherApplication(create_backend_app), threaded=False)
print(server.port, flush=True)
server.serve_forever()
"""


class ObjectStore:
    """A running server with one bucket."""

    def __init__(self) -> None:
        command = [sys.executable, "-c", _PROGRAM]
        self._process = Supervised(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline())
        self.request("PUT", f"/{BUCKET}")

    def __enter__(self) -> Self:
        """The server itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Stop it; its objects are lost."""
        with self._process:
            self._process.kill()

    @property
    def endpoint(self) -> str:
        """The URL at which it listens, on this machine only."""
        return f"http://127.0.0.1:{self.port}"

    def names(self, prefix: str) -> set[str]:
        """The names of the objects directly below a prefix that ends with a slash."""
        listed = self.request("GET", f"/{BUCKET}?list-type=2&delimiter=%2F&prefix={quote(prefix, safe='')}").decode()
        return {key.removeprefix(prefix) for key in re.findall("<Key>(.*?)</Key>", listed)}

    def request(self, method: str, path: str) -> bytes:
        """The body of the answer to a request without a body. The first one may wait until the server listens."""
        deadline = time.monotonic() + START
        while True:
            with suppress(OSError, HTTPException):
                connection = HTTPConnection("127.0.0.1", self.port, timeout=START)
                headers = {"Authorization": f"AWS4-HMAC-SHA256 Credential=chaos/1/{REGION}/s3/x"}
                connection.request(method, path, headers=headers)
                return connection.getresponse().read()
            if time.monotonic() > deadline:
                raise SystemExit(f"moto's server does not answer at {self.endpoint}")
            time.sleep(0.1)


def uri_of(folder: Path) -> str:
    """The URI of the table of a round."""
    return f"s3://{BUCKET}/{folder.name}"
