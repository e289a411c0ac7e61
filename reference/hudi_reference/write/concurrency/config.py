"""The concurrency settings of a writer: mode, policy for failed writes, retries, spec "Concurrency Control".

A writer without settings checks for conflicts as optimistic writers do, sends no heartbeats, and rolls back no failed writes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Self, TypeVar

from hudi_reference.errors import Misuse, UnsupportedTableFeature
from hudi_reference.layout.properties import TableProperties
from hudi_reference.requirement import implements
from hudi_reference.settings import boolean_setting, number_setting, with_present_names

MODE_KEY = "hoodie.write.concurrency.mode"
POLICY_KEY = "hoodie.clean.failed.writes.policy"
RETRIES_KEY = "hoodie.write.num.retries.on.conflict.failures"
EARLY_KEY = "hoodie.write.concurrency.early.conflict.detection.enable"
SCHEMAS_KEY = "hoodie.write.concurrency.schema.conflict.resolution.enable"
#: Deployed writers never compare keys: the name of this setting is ours.
KEYS_KEY = "hoodie.write.concurrency.record.key.check.enable"
INTERVAL_KEY, MISSES_KEY = "hoodie.client.heartbeat.interval_in_ms", "hoodie.client.heartbeat.tolerable.misses"
#: How the keys of a write are looked up, and the engine of a bucket index.
INDEX_KEY, ENGINE_KEY = "hoodie.index.type", "hoodie.index.bucket.engine"
BUCKETS_KEY, FIELDS_KEY = "hoodie.bucket.index.num.buckets", "hoodie.bucket.index.hash.field"


class Mode(StrEnum):
    """Which other writers the table may have at the same time."""

    SINGLE = "SINGLE_WRITER"
    OPTIMISTIC = "OPTIMISTIC_CONCURRENCY_CONTROL"
    NON_BLOCKING = "NON_BLOCKING_CONCURRENCY_CONTROL"


class Policy(StrEnum):
    """When failed writes are rolled back."""

    #: By the next write, before it begins: every pending write has failed, because there is only one writer.
    EAGER = "EAGER"
    #: By a clean, when the heartbeat of the writer has expired.
    LAZY = "LAZY"
    #: By explicit requests only.
    NEVER = "NEVER"


class IndexType(StrEnum):
    """How keys are looked up. Without a type, and with those that have no comment, the slices of a partition are searched."""

    INMEMORY = "INMEMORY"
    SIMPLE = "SIMPLE"
    BLOOM = "BLOOM"
    FLINK_STATE = "FLINK_STATE"
    RECORD_LEVEL_INDEX = "RECORD_LEVEL_INDEX"
    #: The key determines the file group.
    BUCKET = "BUCKET"
    #: The whole table is searched.
    GLOBAL_SIMPLE = "GLOBAL_SIMPLE"
    GLOBAL_BLOOM = "GLOBAL_BLOOM"
    #: The index `record_index` of the metadata table; the second name is that of release 1.2.
    RECORD_INDEX = "RECORD_INDEX"
    GLOBAL_RECORD_LEVEL_INDEX = "GLOBAL_RECORD_LEVEL_INDEX"


class BucketEngine(StrEnum):
    """How a bucket index maps hashes to file groups."""

    #: The remainder by the number of buckets, which never changes.
    SIMPLE = "SIMPLE"
    #: Ranges of hashes, which clusterings split and merge.
    CONSISTENT = "CONSISTENT_HASHING"


@dataclass(frozen=True)
class BucketIndex:
    """A bucket index: a hash of the key fields determines which of the partition's `buckets` file groups holds a record.

    Without `fields` the whole record key is hashed.
    """

    buckets: int = 256
    fields: tuple[str, ...] = ()
    engine: BucketEngine = BucketEngine.SIMPLE


@dataclass(frozen=True)
class Concurrency:
    """The concurrency settings of one writer, with the names and defaults of deployed writers."""

    mode: Mode | None = None
    policy: Policy = Policy.NEVER
    #: How often a write is repeated after a conflict.
    retries: int = 0
    #: Whether the markers of other writers are checked before a file is stored.
    early: bool = False
    #: Whether record keys are compared with those of the concurrent set.
    compares_keys: bool = False
    #: Whether a concurrent change of the schema is a conflict.
    compares_schemas: bool = True
    #: Milliseconds between two heartbeats, and how many may be missing before they expire.
    interval: int = 60_000
    misses: int = 2
    index: BucketIndex | None = None

    @classmethod
    def from_options(cls, options: Mapping[str, str]) -> Self:
        """The settings among these options. Raises Misuse for unknown values, and for values that exclude each other."""
        options = with_present_names(options)
        mode = _one_of(Mode, MODE_KEY, options)
        default = Policy.NEVER if mode is None else Policy.EAGER if mode is Mode.SINGLE else Policy.LAZY
        policy = _one_of(Policy, POLICY_KEY, options) or default
        if mode in (Mode.OPTIMISTIC, Mode.NON_BLOCKING) and policy is Policy.EAGER:
            raise Misuse(
                "with several writers, pending writes must not be rolled back before each write", rule="TL-030",
                expected=f"{POLICY_KEY}=LAZY", found="EAGER",
            )  # fmt: skip
        return cls(
            mode, policy, number_setting(options, RETRIES_KEY, 0), boolean_setting(options, EARLY_KEY),
            boolean_setting(options, KEYS_KEY), boolean_setting(options, SCHEMAS_KEY, default=True),
            max(1000, number_setting(options, INTERVAL_KEY, 60000)), number_setting(options, MISSES_KEY, 2), _index(options),
        )  # fmt: skip

    @property
    def begins_buckets_in_logs(self) -> bool:
        """Whether the first file of a bucket is a log file, in a merge-on-read table.

        Non-blocking writers may begin the same bucket at the same time, and only their log files merge. ER-234: other writers
        begin it with a base file as Apache Hudi on Spark does, except for ranges of hashes.
        """
        is_range = self.index is not None and self.index.engine is BucketEngine.CONSISTENT
        return self.mode is Mode.NON_BLOCKING or is_range

    @implements("NBC-004")
    def check(self, properties: TableProperties) -> None:
        """Raises Misuse if the mode or the index does not fit the table.

        Non-blocking control needs log files, which merge in any order, and a bucket index, by which two writers store a key
        that is new to both in the same file group. Consistent hashing needs log files too: splitting a bucket is a clustering.
        """
        is_simple = self.index is not None and self.index.engine is BucketEngine.SIMPLE
        if self.mode is Mode.NON_BLOCKING:
            _need(properties.is_merge_on_read, "a merge-on-read table", "a copy-on-write table")
            _need(is_simple, f"{INDEX_KEY}=BUCKET and {ENGINE_KEY}=SIMPLE", "another index")
        if self.index is None:
            return
        if not is_simple and not properties.is_merge_on_read:
            raise UnsupportedTableFeature(
                "consistent hashing is supported for merge-on-read tables only", rule="MRG-007",
                expected="a merge-on-read table", found=f"{ENGINE_KEY}={self.index.engine}",
            )  # fmt: skip
        strange = [name for name in self.index.fields if name not in properties.record_key]
        if strange or not properties.record_key:
            raise Misuse(
                "a bucket index hashes record key fields", rule="LAY-021", path=FIELDS_KEY,
                expected=", ".join(properties.record_key) or "a table with record key fields", found=", ".join(strange) or None,
            )  # fmt: skip


def _need(holds: bool, expected: str, found: str) -> None:
    if not holds:
        raise Misuse("non-blocking control does not fit this table", rule="NBC-004", expected=expected, found=found)


_E = TypeVar("_E", bound=StrEnum)


def _one_of(kind: type[_E], key: str, options: Mapping[str, str]) -> _E | None:
    text = options.get(key)
    if text is None:
        return None
    if text.upper() not in list(kind):
        raise Misuse(f"{key} has no such value", expected=", ".join(kind), found=repr(text))
    return kind(text.upper())


def index_type(options: Mapping[str, str]) -> IndexType | None:
    """The type of index in the settings of a writer. Raises Misuse for an unknown one."""
    return _one_of(IndexType, INDEX_KEY, options)


def _index(options: Mapping[str, str]) -> BucketIndex | None:
    if index_type(options) is not IndexType.BUCKET:
        return None
    engine = _one_of(BucketEngine, ENGINE_KEY, options) or BucketEngine.SIMPLE
    fields = tuple(field.strip() for field in options.get(FIELDS_KEY, "").split(",") if field.strip())
    return BucketIndex(number_setting(options, BUCKETS_KEY, 256, least=1), fields, engine)
