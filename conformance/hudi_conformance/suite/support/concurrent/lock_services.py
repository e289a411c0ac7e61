"""Lock services, started for a test and stopped after it: DynamoDB (moto's server), ZooKeeper and Hive's metastore (their own
servers).
"""

import logging
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from socket import create_connection, socket
from threading import Thread
from typing import Any, TypeVar

from hudi_conformance.engines.support.environments import machine_java, ready_python
from hudi_conformance.processes.supervised import Supervised

#: Seconds in which a server has to answer.
TIMEOUT = 30


class NoService(Exception):
    """A prerequisite of the service is missing on this machine; the message has the command that installs it."""


@dataclass
class Dynamo:
    """moto's DynamoDB. It serves one request at a time, because moto checks a condition and writes in two steps."""

    server: Any = None
    port: int = 0

    @property
    def endpoint(self) -> str:
        """Its URL; the same after it was stopped and started again."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Serve; what was stored before is still there."""
        from moto.server import DomainDispatcherApplication, create_backend_app
        from werkzeug.serving import make_server

        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        application: Any = DomainDispatcherApplication(create_backend_app)
        self.server = make_server("127.0.0.1", self.port, application, threaded=False)
        self.port = self.server.port
        Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        """Stop the server."""
        if self.server is not None:
            self.server.shutdown()
            self.server.server_close()
            self.server = None


@contextmanager
def dynamo() -> Iterator[Dynamo]:
    """A server with no tables of its own; raises NoService if moto is not installed."""
    try:
        import moto.server  # noqa: F401
    except ImportError as error:
        raise NoService("moto is not installed: pip install 'moto[server]'") from error
    service = Dynamo()
    service.start()
    try:
        yield service
    finally:
        service.stop()


@dataclass
class JavaServer:
    """A server that runs on jars that PySpark downloads from Maven, in a folder of its own."""

    folder: Path
    port: int
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Serve; what was stored before is still there. Raises NoService."""
        java, jars = machine_java(), spark_jars()
        if java is None or not jars:
            raise NoService(f"no {type(self).__name__}: hudi-conformance doctor --make apache-hudi installs its jars")
        command = [java, *self.arguments(jars)]
        self.process = Supervised(command, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.wait_for(self.process)

    def arguments(self, jars: Sequence[Path]) -> list[str]:
        """Return the arguments of the JVM; configuration files are written to the folder."""
        raise NotImplementedError

    def wait_for(self, process: subprocess.Popen[bytes]) -> None:
        """Wait until the server answers. Raises NoService."""
        raise NotImplementedError

    def stop(self) -> None:
        """Stop the server."""
        if self.process is not None:
            self.process.kill()
            self.process = None


Server = TypeVar("Server", bound=JavaServer)


class ZooKeeper(JavaServer):
    """A single ZooKeeper server."""

    @property
    def hosts(self) -> str:
        """The connection string for clients."""
        return f"127.0.0.1:{self.port}"

    def arguments(self, jars: Sequence[Path]) -> list[str]:
        """Return the arguments of a server whose ticks are short, so that sessions expire soon."""
        names = ("zookeeper", "slf4j-api", "metrics-core", "netty", "snappy", "jackson", "commons-")
        path = os.pathsep.join(str(jar) for jar in jars if jar.name.startswith(names))
        configuration = {
            "dataDir": self.folder / "data", "clientPort": self.port, "clientPortAddress": "127.0.0.1", "tickTime": 200,
            "minSessionTimeout": 400, "maxSessionTimeout": 60_000, "admin.enableServer": "false",
            "4lw.commands.whitelist": "srvr",
        }  # fmt: skip
        file = self.folder / "zoo.cfg"
        file.write_text("".join(f"{key}={value}\n" for key, value in configuration.items()), "utf-8")
        return ["-Xmx128m", "-cp", path, "org.apache.zookeeper.server.ZooKeeperServerMain", str(file)]

    def wait_for(self, process: subprocess.Popen[bytes]) -> None:
        """Wait until the server answers the command `srvr`. Raises NoService."""
        for connection in _connections(self.port, process, TIMEOUT):
            with suppress(OSError):
                connection.sendall(b"srvr")
                if b"version" in connection.recv(1000):
                    return
        raise NoService(f"ZooKeeper on port {self.port} does not answer")


class Metastore(JavaServer):
    """Hive's metastore on a Derby database of its own."""

    @property
    def uri(self) -> str:
        """The URI for clients."""
        return f"thrift://127.0.0.1:{self.port}"

    def arguments(self, jars: Sequence[Path]) -> list[str]:
        """Return the arguments of a metastore that creates its tables."""
        settings = {
            "hive.in.test": "true",  # it creates the tables of its locks
            "hive.async.log.enabled": "false",
            "hive.metastore.schema.verification": "false",
            "hive.metastore.warehouse.dir": self.folder / "warehouse",
            "datanucleus.schema.autoCreateAll": "true",
            "javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={self.folder}/db;create=true",
        }
        options = [word for key, value in settings.items() for word in ("--hiveconf", f"{key}={value}")]
        place, server = str(jars[0].parent / "*"), "org.apache.hadoop.hive.metastore.HiveMetaStore"
        return ["-Xmx512m", "-cp", place, server, "-p", str(self.port), *options]

    def wait_for(self, process: subprocess.Popen[bytes]) -> None:
        """Wait until the server accepts a connection: it first creates its database. Raises NoService."""
        if next(_connections(self.port, process, 10 * TIMEOUT), None) is None:
            raise NoService("the metastore does not answer")


@contextmanager
def zookeeper() -> Iterator[ZooKeeper]:
    """An empty server. Raises NoService if its jars or a Java are missing."""
    with _running(ZooKeeper(Path(tempfile.mkdtemp(prefix="zookeeper-")), _free_port())) as service:
        yield service


@contextmanager
def metastore() -> Iterator[Metastore]:
    """An empty metastore. Raises NoService if its client, its jars or a Java are missing."""
    if find_spec("pymetastore") is None:
        raise NoService("no client of the Hive metastore: pip install pymetastore")
    with _running(Metastore(Path(tempfile.mkdtemp(prefix="metastore-")), _free_port())) as service:
        yield service


@contextmanager
def _running(service: Server) -> Iterator[Server]:
    """Start the server; stop it and delete its folder afterwards."""
    try:
        service.start()
        yield service
    finally:
        service.stop()
        shutil.rmtree(service.folder, ignore_errors=True)


def spark_jars() -> list[Path]:
    """Return the jars of the PySpark that Apache Hudi runs on, if that environment exists."""
    python = ready_python("apache-hudi")
    return [] if python is None else sorted(python.parents[1].glob("lib/python*/site-packages/pyspark/jars/*.jar"))


def _free_port() -> int:
    with socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _connections(port: int, process: subprocess.Popen[bytes], seconds: float) -> Iterator[socket]:
    """Yield a connection whenever the server accepts one, until the time is over or the process has exited."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        with suppress(OSError), create_connection(("127.0.0.1", port), timeout=1) as connection:
            yield connection
        time.sleep(0.05)
