"""The settings of locks as data. Names and defaults are those of the classes of Apache Hudi 1.0.2 and 1.2.0.

docs/locks.md is generated from this table.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from hudi_reference.errors import Misuse


@dataclass(frozen=True)
class LockSetting:
    """One setting.

    Attributes:
        key: its name.
        meaning: what it sets.
        default: its default, None if it has none or if `otherwise` describes it.
        unit: the unit of a number, "" for a plain number, None for a text.
        otherwise: the default in words, where it is not a constant.
        alternatives: older names.
        providers: the providers that read it; none means all.
    """

    key: str
    meaning: str
    default: str | None = None
    unit: str | None = None
    otherwise: str | None = None
    alternatives: tuple[str, ...] = ()
    providers: tuple[str, ...] = ()


def _of(provider: str, *settings: LockSetting) -> tuple[LockSetting, ...]:
    return tuple(LockSetting(**{**vars(one), "providers": (provider,)}) for one in settings)


_PREFIX = "hoodie.write.lock."

SETTINGS: tuple[LockSetting, ...] = (
    LockSetting(f"{_PREFIX}provider", "the class of the provider", otherwise="a lock among the threads of this process"),
    LockSetting(f"{_PREFIX}wait_time_ms", "how long a writer tries to obtain the lock before it pauses", "60000", "ms"),
    LockSetting(f"{_PREFIX}wait_time_ms_between_retry", "the first pause between tries; later pauses double", "1000", "ms"),
    LockSetting(f"{_PREFIX}max_wait_time_ms_between_retry", "the longest pause between two tries", "16000", "ms"),
    LockSetting(f"{_PREFIX}client.num_retries", "how often a writer tries again after such a period", "50", ""),
    LockSetting(f"{_PREFIX}client.wait_time_ms_between_retry", "the pause before it tries again", "5000", "ms"),
    *_of(
        "FileSystemBasedLockProvider",
        LockSetting(f"{_PREFIX}filesystem.path", "the folder of the file `lock`", otherwise="`.hoodie` of the table"),
        LockSetting(f"{_PREFIX}filesystem.expire", "time without a renewal until the lock expires; 0: never", "0", "minutes"),
    ),
    *_of(
        "StorageBasedLockProvider",
        LockSetting(f"{_PREFIX}storage.validity.timeout.secs", "how long a lease is valid without a renewal", "300", "s"),
        LockSetting(
            f"{_PREFIX}storage.renew.interval.secs", "how often the lease is renewed", "30", "s",
            alternatives=(f"{_PREFIX}storage.heartbeat.poll.secs",),
        ),
    ),
    *_of(
        "DynamoDBBasedLockProvider",
        LockSetting(f"{_PREFIX}dynamodb.table", "the table that holds the locks", otherwise="`hudi_locks`"),
        LockSetting(f"{_PREFIX}dynamodb.partition_key", "the key of this lock in that table", otherwise="the table's name"),
        LockSetting(f"{_PREFIX}dynamodb.region", "the region of the service", "us-east-1"),
        LockSetting(f"{_PREFIX}dynamodb.endpoint_url", "its endpoint", otherwise="the endpoint of the region"),
        LockSetting(f"{_PREFIX}dynamodb.billing_mode", "the billing mode of a table that has to be created", "PAY_PER_REQUEST"),
        LockSetting(f"{_PREFIX}dynamodb.read_capacity", "the provisioned reads per second, if PROVISIONED", "20", ""),
        LockSetting(f"{_PREFIX}dynamodb.write_capacity", "the provisioned writes per second, if PROVISIONED", "10", ""),
        LockSetting(f"{_PREFIX}dynamodb.table_creation_timeout", "how long a writer waits for a new table", "600000", "ms"),
    ),
    *_of(
        "ZookeeperBasedLockProvider",
        LockSetting(f"{_PREFIX}zookeeper.url", "host and port of the servers, `a:2181,b:2181`; mandatory"),
        LockSetting(f"{_PREFIX}zookeeper.port", "the port, if the url has none"),
        LockSetting(f"{_PREFIX}zookeeper.base_path", "the parent node of the locks; mandatory"),
        LockSetting(f"{_PREFIX}zookeeper.lock_key", "the name of the node of this lock", otherwise="the table's name"),
        LockSetting(f"{_PREFIX}zookeeper.session_timeout_ms", "the longest silence before a session ends", "60000", "ms"),
        LockSetting(f"{_PREFIX}zookeeper.connection_timeout_ms", "how long a writer waits for a connection", "15000", "ms"),
    ),
    *_of(
        "HiveMetastoreBasedLockProvider",
        LockSetting(f"{_PREFIX}hivemetastore.database", "the database of the table that is locked; mandatory"),
        LockSetting(f"{_PREFIX}hivemetastore.table", "the name of that table; mandatory"),
        LockSetting(f"{_PREFIX}hivemetastore.uris", "the metastore, `thrift://host:9083`; mandatory"),
        LockSetting(f"{_PREFIX}heartbeat_interval_ms", "the interval of heartbeats to the metastore", "60000", "ms"),
    ),
)  # fmt: skip


@dataclass(frozen=True)
class About:
    """A provider: where it stores the lock, what ends the lock after a crash of its holder, and when to choose it."""

    keeps: str
    ends: str
    choose: str


#: The providers by the last part of their class names.
ABOUT = {
    "InProcessLockProvider": About(
        "the memory of this process", "the end of the process", "all writers and services are threads of one process"
    ),
    "FileSystemBasedLockProvider": About(
        "the file `.hoodie/lock`, or one in another folder",
        "nothing: a person has to delete the file; with `expire`, that time without a renewal",
        "a local or shared file system that creates files exclusively; not object stores",
    ),
    "StorageBasedLockProvider": About(
        "the object `.hoodie/.locks/table_lock.json`", "`validity.timeout.secs` without a renewal",
        "an object store with conditional writes; no other service is needed",
    ),
    "DynamoDBBasedLockProvider": About(
        "an item of a table in DynamoDB", "`wait_time_ms` in which its version does not change",
        "writers run in AWS, and the store has no conditional writes",
    ),
    "ZookeeperBasedLockProvider": About(
        "a node below `base_path/lock_key`", "the end of its session, `session_timeout_ms` after its last heartbeat",
        "ZooKeeper runs already; a crash of the holder has to be noticed within seconds",
    ),
    "HiveMetastoreBasedLockProvider": About(
        "the metastore's table of locks", "`hive.txn.timeout` of the metastore without a heartbeat",
        "the metastore runs already, with a transaction manager",
    ),
}  # fmt: skip
BY_KEY = {setting.key: setting for setting in SETTINGS}


def library(name: str) -> Any:
    """Import a module that only some providers need. Raises Misuse if it is not installed."""
    try:
        return import_module(name)
    except ImportError as error:
        raise Misuse(
            "the lock provider needs a library", rule="LOCK-003", expected=name, found=str(error),
            remedy="pip install 'hudi-conformance[locks]'",
        ) from error  # fmt: skip


def text_of(options: Mapping[str, str], key: str, otherwise: str | None = None) -> str:
    """The value of a setting under its name or an older one; else `otherwise`, else the default.

    Raises Misuse if there is none.
    """
    setting = BY_KEY[key]
    given = next((options[name] for name in (key, *setting.alternatives) if options.get(name)), otherwise or setting.default)
    if given is None:
        raise Misuse(f"{key} is missing", rule="LOCK-003", expected=setting.meaning, found="no value")
    return given


def number_of(options: Mapping[str, str], key: str, least: int = 0) -> int:
    """The value of a numeric setting. Raises Misuse if it is not a number, or less than `least`."""
    text = text_of(options, key)
    if not (text.isascii() and text.isdigit() and int(text) >= least):
        unit = BY_KEY[key].unit
        raise Misuse(
            f"{key} is not a valid number", rule="LOCK-003", expected=f"a number{f' of {unit}' * bool(unit)}, at least {least}",
            found=repr(text),
        )  # fmt: skip
    return int(text)
