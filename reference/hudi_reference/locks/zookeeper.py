"""A lock below a node of ZooKeeper: the contender with the lowest number holds it.

Each contender creates a numbered ephemeral node. The service ends a session that sends no heartbeats, and deletes its nodes.
The nodes have the names that Curator uses, so that Apache Hudi's writers and ours exclude each other.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any
from weakref import finalize

from hudi_reference.errors import AccessDenied, LockLost, StorageUnavailable
from hudi_reference.locks.settings import library, number_of, text_of
from hudi_reference.requirement import implements

#: A broken connection is established again for about three seconds before the session is closed.
_RECONNECTING = {"max_tries": 5, "delay": 0.1, "backoff": 2, "max_delay": 2}


class ZooKeeperLease:
    """The lease of the lock at the node `path`, below which contenders queue.

    `hosts` is `host:port,host:port`; times are in milliseconds. The session begins with the first try and is kept, because
    connecting is slow. The client library sends its heartbeats; it ends with the process.
    """

    def __init__(self, hosts: str, path: str, *, session: int = 60_000, connection: int = 15_000) -> None:
        self.name = f"zookeeper {hosts}{path}"
        self._hosts, self._path = hosts, path
        self._session, self._connection = session, connection
        self._client: Any = None
        self._lock: Any = None

    @classmethod
    def from_options(cls, options: Mapping[str, str], table_name: str) -> "ZooKeeperLease":
        """The lease of the writer's settings. Raises Misuse."""
        prefix = "hoodie.write.lock.zookeeper."
        hosts, port = text_of(options, f"{prefix}url"), options.get(f"{prefix}port")
        if port:
            hosts = ",".join(host if ":" in host else f"{host}:{port}" for host in hosts.split(","))
        folder = text_of(options, f"{prefix}base_path").strip("/")
        return cls(
            hosts, f"/{folder}/{text_of(options, f'{prefix}lock_key', table_name)}",
            session=number_of(options, f"{prefix}session_timeout_ms", 1),
            connection=number_of(options, f"{prefix}connection_timeout_ms", 1),
        )  # fmt: skip

    @implements("LOCK-001", "LOCK-002", "LOCK-004")
    def take(self) -> bool:
        """Enter the queue, and leave it again if another contender is first."""
        with self._translated_errors():
            if self._lock is not None and self._is_mine():
                return True
            lock = self._contender()
            if not lock.acquire(blocking=False):
                return False
            self._lock = lock
            return True

    @implements("LOCK-001", "LOCK-004")
    def renew(self) -> None:
        """Check that the node of this holder exists; it is deleted when the session ends."""
        with self._translated_errors():
            if self._lock is None or not self._is_mine():
                raise LockLost(
                    "the session that held the lock has ended", rule="LOCK-004", path=self.name, expected="its node",
                    found="no such node",
                )  # fmt: skip

    def give_back(self) -> None:
        """Delete the node of this holder."""
        self.renew()
        with self._translated_errors():
            self._lock.release()
            self._lock = None

    def close(self) -> None:
        """End the session, which deletes its nodes."""
        if self._client is not None:
            _stop(self._client)
            self._client = self._lock = None

    def _is_mine(self) -> bool:
        client = self._connect()
        try:
            found = client.exists_async(f"{self._path}/{self._lock.node}").get(timeout=self._connection / 1000)
        except library("kazoo.exceptions").SessionExpiredError:
            return False
        return found is not None and found.owner_session_id == client.client_id[0]

    def _contender(self) -> Any:
        """A contender whose node has the name that Curator uses."""
        client = self._connect()
        names = {"_NODE_NAME": "-lock-", "_EXCLUDE_NAMES": ["-lock-"]}
        return type("Contender", (library("kazoo.recipe.lock").Lock,), names)(client, self._path)

    def _connect(self) -> Any:
        """The client, connected and with a session."""
        if self._client is not None and self._client.client_state == "CLOSED":
            self.close()  # it could not connect again, and closed its session
        if self._client is None:
            make, seconds = library("kazoo.client").KazooClient, self._session / 1000
            client = make(self._hosts, timeout=seconds, connection_retry=_RECONNECTING)
            client.start(timeout=self._connection / 1000)
            self._client = client
            finalize(self, _stop, client)
        return self._client

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        """Translate the errors of the service into those of the reference."""
        from kazoo.exceptions import AuthFailedError, KazooException, NoAuthError
        from kazoo.handlers.threading import KazooTimeoutError

        try:
            yield
        except (AuthFailedError, NoAuthError) as error:
            raise AccessDenied(
                "the lock service denied access", rule="LOCK-004", path=self.name, found=repr(error),
                expected="the right to create and delete nodes",
            ) from error  # fmt: skip
        except (KazooException, KazooTimeoutError, OSError) as error:
            raise StorageUnavailable(
                "the lock service does not answer", rule="LOCK-004", path=self.name, expected="an answer", found=repr(error),
                remedy="check hoodie.write.lock.zookeeper.url, then try again",
            ) from error  # fmt: skip


def _stop(client: Any) -> None:
    with suppress(Exception):
        client.stop()
        client.close()
