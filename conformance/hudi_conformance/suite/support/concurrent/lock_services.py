"""Services that keep locks, started for a test and stopped after it: DynamoDB (moto's server), ZooKeeper and
Hive's metastore (their own servers)."""

import logging
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from socket import create_connection, socket
from threading import Thread
from typing import Any

from hudi_conformance.engines.support.environments import machine_java, ready_python

#: Seconds in which a server has to answer.
PATIENCE = 30


class NoService(Exception):
    """What the service needs is not on this machine; says the command that brings it."""


@dataclass
class Dynamo:
    """moto's DynamoDB. It carries out one request at a time: its own check of a condition and the write are two steps."""

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
        """Answer nobody any more."""
        if self.server is not None:
            self.server.shutdown()
            self.server.server_close()
            self.server = None


@contextmanager
def dynamo() -> Iterator[Dynamo]:
    """A server with no tables of its own; raises NoService where moto is not installed."""
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
class ZooKeeper:
    """A server of ZooKeeper, alone, on jars that PySpark brings from Maven."""

    folder: Path
    port: int
    process: subprocess.Popen[bytes] | None = None

    @property
    def hosts(self) -> str:
        """As clients are told."""
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        """Serve; what was stored before is still there. Raises NoService."""
        java, jars = machine_java(), spark_jars()
        if java is None or not jars:
            raise NoService("no ZooKeeper: hudi-conformance doctor --make apache-hudi brings its jars")
        names = ("zookeeper", "slf4j-api", "metrics-core", "netty", "snappy", "jackson", "commons-")
        path = os.pathsep.join(str(jar) for jar in jars if jar.name.startswith(names))
        configuration = {
            "dataDir": self.folder / "data", "clientPort": self.port, "clientPortAddress": "127.0.0.1", "tickTime": 200,
            "minSessionTimeout": 400, "maxSessionTimeout": 60_000, "admin.enableServer": "false",
            "4lw.commands.whitelist": "srvr",
        }  # fmt: skip
        file = self.folder / "zoo.cfg"
        file.write_text("".join(f"{key}={value}\n" for key, value in configuration.items()), "utf-8")
        command = [java, "-Xmx128m", "-cp", path, "org.apache.zookeeper.server.ZooKeeperServerMain", str(file)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _wait_for(self.port, self.process)

    def stop(self) -> None:
        """Answer nobody any more."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


@contextmanager
def zookeeper() -> Iterator[ZooKeeper]:
    """An empty server. Raises NoService where its jars or a Java are missing."""
    service = ZooKeeper(Path(tempfile.mkdtemp(prefix="zookeeper-")), _free_port())
    try:
        service.start()
        yield service
    finally:
        service.stop()
        shutil.rmtree(service.folder, ignore_errors=True)


@dataclass
class Metastore:
    """Hive's metastore on a Derby of its own, on jars that PySpark brings from Maven."""

    folder: Path
    port: int
    process: subprocess.Popen[bytes] | None = None

    @property
    def uri(self) -> str:
        """As clients are told."""
        return f"thrift://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Serve; what was stored before is still there. Raises NoService."""
        java, jars = machine_java(), spark_jars()
        if java is None or not jars:
            raise NoService("no Hive metastore: hudi-conformance doctor --make apache-hudi brings its jars")
        settings = {
            "hive.in.test": "true",  # so it makes the tables of its locks
            "hive.async.log.enabled": "false",
            "hive.metastore.schema.verification": "false",
            "hive.metastore.warehouse.dir": self.folder / "warehouse",
            "datanucleus.schema.autoCreateAll": "true",
            "javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={self.folder}/db;create=true",
        }
        told = [word for key, value in settings.items() for word in ("--hiveconf", f"{key}={value}")]
        place = str(jars[0].parent / "*")
        command = [
            java,
            "-Xmx512m",
            "-cp",
            place,
            "org.apache.hadoop.hive.metastore.HiveMetaStore",
            "-p",
            str(self.port),
            *told,
        ]
        self.process = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 10 * PATIENCE
        while time.monotonic() < end and self.process.poll() is None:
            with suppress(OSError):
                create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            time.sleep(0.2)
        raise NoService("the metastore does not answer")

    def stop(self) -> None:
        """Answer nobody any more."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


@contextmanager
def metastore() -> Iterator[Metastore]:
    """An empty metastore. Raises NoService where its client, its jars or a Java are missing."""
    if find_spec("pymetastore") is None:
        raise NoService("no client of the Hive metastore: pip install pymetastore")
    service = Metastore(Path(tempfile.mkdtemp(prefix="metastore-")), _free_port())
    try:
        service.start()
        yield service
    finally:
        service.stop()
        shutil.rmtree(service.folder, ignore_errors=True)


def spark_jars() -> list[Path]:
    """The jars of the PySpark that Apache Hudi runs on, if that environment has been made."""
    python = ready_python("apache-hudi")
    return [] if python is None else sorted(python.parents[1].glob("lib/python*/site-packages/pyspark/jars/*.jar"))


def _free_port() -> int:
    with socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        with suppress(OSError), create_connection(("127.0.0.1", port), timeout=1) as connection:
            connection.sendall(b"srvr")
            if b"version" in connection.recv(1000):
                return
        time.sleep(0.05)
    raise NoService(f"the server on port {port} does not answer")
