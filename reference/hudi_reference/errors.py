"""One exception class for each kind of error, in five families.

* `MalformedTable`: a stored object violates the specification; a writer or the storage is at fault;
* `UnsupportedFeature`: the table is valid, and this implementation refuses it instead of guessing;
* `Misuse`: the call is invalid;
* `WriteConflict`: a concurrent action conflicts with this one;
* `StorageFault`: the storage refuses the request or does not answer.

An error prints rule, offset, expected, found and remedy on one line each, after its class, path and message.
"""

from dataclasses import dataclass


@dataclass(eq=False)
class HudiError(Exception):
    """The base class of all errors.

    Attributes:
        message: what is wrong, as a sentence.
        rule: the id of the violated rule, e.g. `TL-027`; `hudi-conformance explain` shows it.
        path: the object, relative to the base path of the table.
        offset: the place in the object, in bytes from its start.
        expected: what the rule requires.
        found: what is there instead.
        remedy: what the user can do.
    """

    message: str
    rule: str | None = None
    path: str | None = None
    offset: int | None = None
    expected: str | None = None
    found: str | None = None
    remedy: str | None = None

    def __post_init__(self) -> None:
        super().__init__(self.message)

    def __str__(self) -> str:
        place = "" if self.path is None else f"{self.path}: "
        head = f"{type(self).__name__}: {place}{self.message}"
        facts = {
            "rule": self.rule,
            "offset": None if self.offset is None else f"byte {self.offset}",
            "expected": self.expected,
            "found": self.found,
            "remedy": self.remedy,
        }
        lines = [f"  {name:<9} {text}" for name, text in facts.items() if text is not None]
        if self.rule is not None:
            lines.append(f"  {'see':<9} hudi-conformance explain {self.rule}")
        return "\n".join([head, *lines])

    def __reduce__(self) -> tuple[object, ...]:
        fields = (self.message, self.rule, self.path, self.offset, self.expected, self.found, self.remedy)
        return type(self), fields


class MalformedTable(HudiError):
    """A stored object violates a rule of the format."""


class UnsupportedFeature(HudiError):
    """A valid table or request that this implementation does not support. `feature` is the name in the contract for engines."""

    feature = "unknown"


class Misuse(HudiError):
    """The call is invalid; the table is not changed."""


class WriteConflict(HudiError):
    """A concurrent action conflicts with this one. This one has no effect on the table."""


class StorageFault(HudiError):
    """The storage does not execute a request. Nothing was changed, unless the error states otherwise."""


class TableNotFound(MalformedTable):
    """There is no table at this path."""


class MalformedProperties(MalformedTable):
    """`hoodie.properties` is missing or truncated, or its checksum is wrong."""


class MissingProperty(MalformedProperties):
    """`hoodie.properties` lacks a mandatory key."""


class InvalidProperty(MalformedProperties):
    """A key of `hoodie.properties` has a value that its definition does not allow."""


class InterruptedUpdate(MalformedProperties):
    """An update of the properties was interrupted, and neither the file nor its backup is complete."""


class MalformedInstantName(MalformedTable):
    """The name of a file in the timeline folder has the form of an instant but violates a rule."""


class UnfinishedMigration(MalformedTable):
    """A table of version 8 has instants of version 6: a migration is not complete."""


class MalformedInstantTime(MalformedTable):
    """An instant time is not a date and time where one is needed: a counter, a reserved time, or a date that does not exist."""


class MalformedMetadata(MalformedTable):
    """The file of an action cannot be decoded, or does not contain the record of the action."""


class ActionRemoved(MalformedMetadata):
    """The file of an action was removed after the timeline was listed, by archiving or a rollback; or it cannot be read."""


class UnsafePlan(MalformedTable):
    """The plan of a service would delete a file that this service must keep."""


class MalformedHistory(MalformedTable):
    """A manifest or level file of the timeline history is missing or cannot be read."""


class MalformedIndexEntry(MalformedTable):
    """A key or value of the metadata table is not valid in its partition."""


class MalformedSchema(MalformedTable):
    """A stored schema is not an Avro record schema, or the table has no schema."""


class MalformedFileName(MalformedTable):
    """The name of a data file does not follow the grammar of base and log files."""


class PathOutsideTable(MalformedTable):
    """A partition path, file id or file path in the metadata leads outside the table."""


class SymbolicLinkInTable(PathOutsideTable):
    """A file or folder below the base path is a symbolic link, whose target may be outside the table."""


class MissingDataFile(MalformedTable):
    """A data file of a completed action is missing in storage."""


class MalformedBaseFile(MalformedTable):
    """A base file is truncated, or has another format than its extension."""


class MalformedBloomFilter(MalformedTable):
    """The bytes of a bloom filter are truncated, or its sizes are inconsistent."""


class MalformedLogFile(MalformedTable):
    """A log file contains bytes that are not a block."""


class CorruptCommittedBlock(MalformedLogFile):
    """A log block of a completed action is damaged; to skip it would lose committed changes."""


class MalformedLogBlock(MalformedLogFile):
    """The envelope of a log block is valid, its header or content is not."""


class UnsupportedTableVersion(UnsupportedFeature):
    """This implementation does not support the table version."""

    feature = "table-version"


class UnsupportedTimelineLayout(UnsupportedFeature):
    """The timeline layout version is unknown."""

    feature = "timeline-layout"


class UnsupportedMergeStrategy(UnsupportedFeature):
    """The table needs a merger that this implementation does not have."""

    feature = "merge.custom"


class UnknownMerger(UnsupportedMergeStrategy):
    """None of the given mergers has the merge strategy or payload class of the table."""


class UnsupportedFileFormat(UnsupportedFeature):
    """This implementation does not read the base file format or log block type."""

    feature = "file-format"


class UnsupportedBloomFilter(UnsupportedFeature):
    """This implementation does not know the kind of bloom filter, or its hash function."""

    feature = "bloom-filter"


class UnsupportedSchema(UnsupportedFeature):
    """This implementation does not support a type, or a change of a type."""

    feature = "schema"


class UnsupportedTableFeature(UnsupportedFeature):
    """A property of the table enables a feature that this implementation does not support."""

    feature = "table-feature"


class UnsupportedKeyGenerator(UnsupportedFeature):
    """This implementation cannot write with the key generator of the table."""

    feature = "key-generator"


class MigrationRefused(UnsupportedFeature):
    """The table has a state that cannot be migrated to version 8."""

    feature = "migration"


class TableExists(Misuse):
    """A table exists already at this path."""


class IllegalTransition(Misuse):
    """An action of this kind cannot take the requested step from its state."""


class CannotUndo(Misuse):
    """The instant cannot be rolled back or restored in the current state of the table."""


class CannotProtect(Misuse):
    """The instant cannot have a savepoint, or has none to delete."""


class ClockBehindTimeline(Misuse):
    """The clock of the writer is behind the newest instant by more than the longest wait."""


class LockNotHeld(Misuse):
    """The caller does not hold the lock."""


class InvalidRows(Misuse):
    """Rows to write lack a key column, have a null key, or do not fit the schema of the table."""


class InvalidQuery(Misuse):
    """A column, comparison or instant of a query is not valid for this table."""


class MergerFault(Misuse):
    """A merger of the caller violates the contract of mergers, so that rows would be lost or changed."""


class MalformedOrdering(MalformedTable):
    """An ordering value does not have the form that the payload class of the table defines."""


class IncomparableOrdering(Misuse):
    """Two ordering values of one key cannot be compared."""


class InstantExists(WriteConflict):
    """The instant was already created by another writer."""


class ConcurrentChange(WriteConflict):
    """Another action changed the state on which this one is based. A retry on the current state may succeed."""


class HeartbeatLost(WriteConflict):
    """The heartbeat of the writer expired, so that others may have rolled its action back."""


class TableChanged(WriteConflict):
    """Another process wrote to the table during an operation that must run alone."""


class HistoryChanged(WriteConflict):
    """Another process changed the timeline history at the same time."""


class LockNotObtained(WriteConflict):
    """Another owner held the lock of the table during the whole wait."""


@dataclass(eq=False)
class LockLost(LockNotHeld, WriteConflict):
    """The owner lost the lock: its lease expired, or another process removed it. Objects published before may exist."""

    remedy: str | None = "check the timeline, then start the action again"


class MalformedLock(MalformedTable):
    """The lock object cannot be parsed, so that its owner is unknown."""


class StorageUnavailable(StorageFault):
    """The storage did not answer, or asked to retry later, at every try."""


class AccessDenied(StorageFault):
    """The storage rejects the credentials, or they do not permit the request."""


class StorageFull(StorageFault):
    """There is no space left, or the quota of the user is used up."""


class NameNotStorable(StorageFault):
    """The storage cannot have an object of this name: it is too long, it is that of a folder, or a file is in its path."""


class OutcomeUnknown(StorageFault):
    """The answer to a change was lost, and its effect could not be checked.

    The change may have happened or may still happen.
    """


class UnfitStorage(StorageFault):
    """The storage ignores the conditions of writes, so that concurrent writers would overwrite each other."""


def damaged_committed_block(path: str, offset: int, found: str) -> CorruptCommittedBlock:
    """The error for a damaged block among the bytes of a completed action; `found` is what is wrong with it."""
    return CorruptCommittedBlock(
        "a committed block is damaged", rule="BLK-015", path=path, offset=offset,
        expected="a whole block", found=found, remedy="restore the file from another copy of the table",
    )  # fmt: skip


def missing_data_file(path: str) -> MissingDataFile:
    """The error for the file at `path`."""
    return MissingDataFile(
        "the file of a completed action is missing",
        rule="TL-036", path=path, expected="the file, until a clean deletes its slice",
        remedy="restore the file, or read the table as of a later time if a clean deleted it, else of an earlier time",
    )  # fmt: skip
