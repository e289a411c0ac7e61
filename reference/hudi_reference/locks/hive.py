"""An exclusive lock on a table in the Hive metastore. The metastore ends it if its holder sends no heartbeat for some time."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from hudi_reference.errors import AccessDenied, LockLost, StorageUnavailable
from hudi_reference.locks.settings import library, text_of
from hudi_reference.requirement import implements

_SERVICE, _TYPES = "pymetastore.hive_metastore.ThriftHiveMetastore", "pymetastore.hive_metastore.ttypes"


class HiveLease:
    """The lock on `database.table` in the metastore at `uri`, `thrift://host:port`. `holder` is shown in its list of locks."""

    def __init__(self, uri: str, database: str, table: str, holder: str, *, timeout: int = 15_000) -> None:
        self.name = f"{uri} {database}.{table}"
        self._uri, self._database, self._table, self._holder = uri, database, table, holder
        self._timeout = timeout
        self._client: Any = None
        self._number: int | None = None

    @classmethod
    def from_options(cls, options: Mapping[str, str], holder: str) -> "HiveLease":
        """The lease of the writer's settings. Raises Misuse."""
        uri, database, table = (
            text_of(options, f"hoodie.write.lock.hivemetastore.{key}") for key in ("uris", "database", "table")
        )
        return cls(uri.partition(",")[0], database, table, holder)

    @implements("LOCK-001", "LOCK-002", "LOCK-006")
    def take(self) -> bool:
        """Request the lock, and leave the queue again if another holder is first."""
        types = library(_TYPES)
        with self._translated_errors() as client:
            if self._number is not None and self._is_granted(client):
                return True
            component = types.LockComponent(
                type=types.LockType.EXCLUSIVE, level=types.LockLevel.TABLE, dbname=self._database, tablename=self._table,
                operationType=types.DataOperationType.NO_TXN, isTransactional=False,
            )  # fmt: skip
            asked = types.LockRequest(component=[component], user=self._holder, hostname="hudi", agentInfo=self._holder)
            try:
                answer = client.lock(asked)
            except library("thrift.Thrift").TApplicationException:
                return False  # some of its databases reject simultaneous requests; the caller tries again
            if answer.state == types.LockState.ACQUIRED:
                self._number = answer.lockid
                return True
            client.unlock(types.UnlockRequest(lockid=answer.lockid))
            return False

    @implements("LOCK-001", "LOCK-006")
    def renew(self) -> None:
        """Send a heartbeat. The metastore does not know a lock that it has ended."""
        with self._translated_errors() as client:
            if self._number is None or not self._is_granted(client):
                raise self._lease_lost()

    def give_back(self) -> None:
        """End the lock."""
        self.renew()
        with self._translated_errors() as client:
            client.unlock(library(_TYPES).UnlockRequest(lockid=self._number))
            self._number = None

    def close(self) -> None:
        """Close the connection."""
        if self._client is not None:
            self._client._iprot.trans.close()
            self._client = None

    def _is_granted(self, client: Any) -> bool:
        """Send a heartbeat and check the state of the lock."""
        types = library(_TYPES)
        try:
            client.heartbeat(types.HeartbeatRequest(lockid=self._number))
            return bool(client.check_lock(types.CheckLockRequest(lockid=self._number)).state == types.LockState.ACQUIRED)
        except types.NoSuchLockException:
            return False

    def _lease_lost(self) -> LockLost:
        return LockLost(
            "the metastore has ended the lock", rule="LOCK-006", path=self.name, expected=f"lock {self._number}",
            found="no such lock",
        )  # fmt: skip

    def _connect(self) -> Any:
        if self._client is None:
            sockets, transports = library("thrift.transport.TSocket"), library("thrift.transport.TTransport")
            parts = urlsplit(self._uri)
            socket = sockets.TSocket(parts.hostname, parts.port or 9083)
            socket.setTimeout(self._timeout)
            transport = transports.TBufferedTransport(socket)
            protocol = library("thrift.protocol.TBinaryProtocol").TBinaryProtocol(transport)
            client = library(_SERVICE).Client(protocol)
            transport.open()
            self._client = client
        return self._client

    @contextmanager
    def _translated_errors(self) -> Iterator[Any]:
        """The client; errors of the service become those of the reference, and close the connection."""
        errors, types = library("thrift.Thrift"), library(_TYPES)
        try:
            yield self._connect()
        except types.MetaException as error:
            raise AccessDenied(
                "the metastore refused the request", rule="LOCK-006", path=self.name, found=str(error),
                expected="a metastore with a transaction manager, and the right to lock the table",
            ) from error  # fmt: skip
        except (errors.TException, OSError) as error:
            self.close()
            raise StorageUnavailable(
                "the metastore does not answer", rule="LOCK-006", path=self.name, expected="an answer", found=repr(error),
                remedy="check hoodie.write.lock.hivemetastore.uris, then try again",
            ) from error  # fmt: skip
