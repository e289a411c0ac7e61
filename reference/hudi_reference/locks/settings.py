"""The writers' settings of locks, as data: names and defaults were read from the classes of Apache Hudi 1.0.2 and 1.2.0.

The page docs/locks.md is written from this table.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from hudi_reference.errors import Misuse


@dataclass(frozen=True)
class LockSetting:
    """One key. `default` is what holds without it, None where there is nothing or `otherwise` says what. `unit` of numbers."""

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
    LockSetting(f"{_PREFIX}provider", "the class of the provider", otherwise="a lock for this process"),
    LockSetting(f"{_PREFIX}wait_time_ms", "how long one waits for the lock before one pauses", "60000", "ms"),
    LockSetting(f"{_PREFIX}wait_time_ms_between_retry", "the first pause between two looks, then it doubles", "1000", "ms"),
    LockSetting(f"{_PREFIX}max_wait_time_ms_between_retry", "the longest pause between two looks", "16000", "ms"),
    LockSetting(f"{_PREFIX}client.num_retries", "how often one waits again after a pause", "50", ""),
    LockSetting(f"{_PREFIX}client.wait_time_ms_between_retry", "that pause", "5000", "ms"),
    *_of(
        "FileSystemBasedLockProvider",
        LockSetting(f"{_PREFIX}filesystem.path", "the folder of the file `lock`", otherwise="`.hoodie` of the table"),
        LockSetting(f"{_PREFIX}filesystem.expire", "after how long others take the lock away; 0 is never", "0", "minutes"),
    ),
    *_of(
        "StorageBasedLockProvider",
        LockSetting(f"{_PREFIX}storage.validity.timeout.secs", "how long a lease lasts that is not renewed", "300", "s"),
        LockSetting(
            f"{_PREFIX}storage.renew.interval.secs", "how often it is renewed", "30", "s",
            alternatives=(f"{_PREFIX}storage.heartbeat.poll.secs",),
        ),
    ),
    *_of(
        "DynamoDBBasedLockProvider",
        LockSetting(f"{_PREFIX}dynamodb.table", "the table that holds the locks", otherwise="`hudi_locks`"),
        LockSetting(f"{_PREFIX}dynamodb.partition_key", "the key of this lock in it", otherwise="the table's name"),
        LockSetting(f"{_PREFIX}dynamodb.region", "the region of the service", "us-east-1"),
        LockSetting(f"{_PREFIX}dynamodb.endpoint_url", "its endpoint", otherwise="that of the region"),
        LockSetting(f"{_PREFIX}dynamodb.billing_mode", "how a table is paid that has to be made first", "PAY_PER_REQUEST"),
        LockSetting(f"{_PREFIX}dynamodb.read_capacity", "reads a second that are paid for, if PROVISIONED", "20", ""),
        LockSetting(f"{_PREFIX}dynamodb.write_capacity", "writes a second that are paid for, if PROVISIONED", "10", ""),
        LockSetting(f"{_PREFIX}dynamodb.table_creation_timeout", "how long one waits for a new table", "600000", "ms"),
    ),
    *_of(
        "ZookeeperBasedLockProvider",
        LockSetting(f"{_PREFIX}zookeeper.url", "host and port of the servers, `a:2181,b:2181`; mandatory"),
        LockSetting(f"{_PREFIX}zookeeper.port", "the port, where the url has none"),
        LockSetting(f"{_PREFIX}zookeeper.base_path", "the node below which locks lie; mandatory"),
        LockSetting(f"{_PREFIX}zookeeper.lock_key", "the name of this lock there", otherwise="the table's name"),
        LockSetting(f"{_PREFIX}zookeeper.session_timeout_ms", "after how much silence a session ends", "60000", "ms"),
        LockSetting(f"{_PREFIX}zookeeper.connection_timeout_ms", "how long one waits for a connection", "15000", "ms"),
    ),
    *_of(
        "HiveMetastoreBasedLockProvider",
        LockSetting(f"{_PREFIX}hivemetastore.database", "the database of the table that is locked; mandatory"),
        LockSetting(f"{_PREFIX}hivemetastore.table", "that table; mandatory"),
        LockSetting(f"{_PREFIX}hivemetastore.uris", "the metastore, `thrift://host:9083`; mandatory"),
        LockSetting(f"{_PREFIX}heartbeat_interval_ms", "how often the metastore hears of the holder", "60000", "ms"),
    ),
)  # fmt: skip


@dataclass(frozen=True)
class About:
    """A provider: where it keeps the lock, what ends it when its holder is gone, and when to choose it."""

    keeps: str
    ends: str
    choose: str


#: By the last part of the class's name.
ABOUT = {
    "InProcessLockProvider": About(
        "the memory of this process", "the end of the process", "all writers and services are threads of one process"
    ),
    "FileSystemBasedLockProvider": About(
        "the file `.hoodie/lock`, or one in another folder",
        "nothing: somebody deletes the file; with `expire` that time without a renewal",
        "a local or shared file system that creates files exclusively; not object stores",
    ),
    "StorageBasedLockProvider": About(
        "the object `.hoodie/.locks/table_lock.json`", "`validity.timeout.secs` without a renewal",
        "an object store with conditional writes: nothing else has to be run",
    ),
    "DynamoDBBasedLockProvider": About(
        "an item of a table in DynamoDB", "`wait_time_ms` in which its version does not change",
        "writers in AWS; the store has no conditional writes",
    ),
    "ZookeeperBasedLockProvider": About(
        "a node below `base_path/lock_key`", "the end of its session, `session_timeout_ms` after its last sign of life",
        "ZooKeeper is there already; holders that die have to be noticed within seconds",
    ),
    "HiveMetastoreBasedLockProvider": About(
        "the metastore's table of locks", "`hive.txn.timeout` of the metastore without a sign of life",
        "the metastore is there already, with a transaction manager",
    ),
}  # fmt: skip
BY_KEY = {setting.key: setting for setting in SETTINGS}


def library(name: str) -> Any:
    """A module that only this provider needs. Raises Misuse where it is not installed."""
    try:
        return import_module(name)
    except ImportError as error:
        raise Misuse(
            "the lock provider needs a library", rule="LOCK-003", expected=name, found=str(error),
            remedy="pip install 'hudi-conformance[locks]'",
        ) from error  # fmt: skip


def text_of(options: Mapping[str, str], key: str, otherwise: str | None = None) -> str:
    """The value of a setting, by its older name too; else `otherwise`, else the default. Raises Misuse where there is none."""
    setting = BY_KEY[key]
    given = next((options[name] for name in (key, *setting.alternatives) if options.get(name)), otherwise or setting.default)
    if given is None:
        raise Misuse(f"{key} is missing", rule="LOCK-003", expected=setting.meaning, found="no value")
    return given


def number_of(options: Mapping[str, str], key: str, least: int = 0) -> int:
    """The value of a setting that is a number. Raises Misuse where it is none, or less than `least`."""
    text = text_of(options, key)
    if not (text.isascii() and text.isdigit() and int(text) >= least):
        unit = BY_KEY[key].unit
        raise Misuse(
            f"{key} is no such number", rule="LOCK-003", expected=f"a number{f' of {unit}' * bool(unit)}, at least {least}",
            found=repr(text),
        )  # fmt: skip
    return int(text)
