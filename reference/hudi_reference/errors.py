"""One exception class per way of being wrong, in five families by blame.

* `MalformedTable`: what lies in storage is not what the specification says (the last writer's or the storage's fault);
* `UnsupportedFeature`: the table is fine, this implementation refuses it (nobody's fault; never a guess);
* `Misuse`: the caller asked for something that cannot be;
* `WriteConflict`: another writer got there first;
* `StorageFault`: the storage refuses, or does not answer (whoever runs it, or the network).

Each error says in one readable block which rule is broken, where, what was expected and what was found.
"""

from dataclasses import dataclass


@dataclass(eq=False)
class HudiError(Exception):
    """The root of the families. `path` is relative to the table's base path; `offset` is in bytes from the file's start."""

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
    """Something in storage breaks a rule of the format."""


class UnsupportedFeature(HudiError):
    """A legal table, or a legal wish, that this implementation refuses. `feature` is the contract's word for it."""

    feature = "unknown"


class Misuse(HudiError):
    """The caller's mistake; the table is as it was."""


class WriteConflict(HudiError):
    """Another writer's action excludes this one; the table is as the other left it."""


class StorageFault(HudiError):
    """The storage does not do what it is asked. Where the error does not say otherwise nothing was changed."""


class TableNotFound(MalformedTable):
    """No table at this path."""


class MalformedProperties(MalformedTable):
    """`hoodie.properties` is missing, cut, or its checksum is wrong."""


class MissingProperty(MalformedProperties):
    """`hoodie.properties` lacks a key without which the table cannot be understood."""


class InvalidProperty(MalformedProperties):
    """A key of `hoodie.properties` has a value that its definition does not allow."""


class InterruptedUpdate(MalformedProperties):
    """An update of the properties ended half-way, and nothing whole is left to go on with."""


class MalformedInstantName(MalformedTable):
    """A file of the timeline folder claims to be an instant and is not one."""


class UnfinishedMigration(MalformedTable):
    """Instants of version 6 lie where a migration to version 8 has not yet taken them away, or left some behind."""


class MalformedInstantTime(MalformedTable):
    """An instant time that is no moment, where a moment is needed: a counter, a reserved time, a day that does not exist."""


class MalformedMetadata(MalformedTable):
    """The content of an action's file cannot be decoded, or is not the record that the action carries."""


class UnsafePlan(MalformedTable):
    """The plan of a service on the timeline would delete a file that services of its kind must keep."""


class MalformedHistory(MalformedTable):
    """A manifest or level file of the timeline history is missing or cannot be read."""


class MalformedIndexEntry(MalformedTable):
    """A key or value of the metadata table is not what its partition holds."""


class MalformedSchema(MalformedTable):
    """A schema stored in the table is not an Avro record schema, or no schema can be found."""


class MalformedFileName(MalformedTable):
    """A data file's name does not follow the grammar of base and log files."""


class PathOutsideTable(MalformedTable):
    """A partition path, file id or file path in the table's metadata leads outside the table."""


class SymbolicLinkInTable(PathOutsideTable):
    """A file or folder below the table's base path is a symbolic link, so that its target may lie outside the table."""


class MissingDataFile(MalformedTable):
    """A completed action names a data file that is not in storage."""


class MalformedBaseFile(MalformedTable):
    """A base file is cut, or is not of the table's base file format."""


class MalformedBloomFilter(MalformedTable):
    """The bytes of a bloom filter are cut, or its sizes do not fit each other."""


class MalformedLogFile(MalformedTable):
    """A log file holds bytes that are no block, where a block must be."""


class CorruptCommittedBlock(MalformedLogFile):
    """A completed action's log block is damaged; going on would silently drop committed changes."""


class MalformedLogBlock(MalformedLogFile):
    """The envelope of a log block is whole, its header or content is not."""


class UnsupportedTableVersion(UnsupportedFeature):
    """The table version is not one that this implementation reads and writes."""

    feature = "table-version"


class UnsupportedTimelineLayout(UnsupportedFeature):
    """The timeline layout version is unknown."""

    feature = "timeline-layout"


class UnsupportedMergeStrategy(UnsupportedFeature):
    """The table asks for a merger that is not known here."""

    feature = "merge.custom"


class UnknownMerger(UnsupportedMergeStrategy):
    """The table names a merge strategy, or a payload class, that none of the mergers given here has."""


class UnsupportedFileFormat(UnsupportedFeature):
    """A base file format or log block type that this implementation does not read."""

    feature = "file-format"


class UnsupportedBloomFilter(UnsupportedFeature):
    """A kind of bloom filter, or a hash function in one, that this implementation does not know."""

    feature = "bloom-filter"


class UnsupportedSchema(UnsupportedFeature):
    """A type, or a change of type, that this implementation does not know."""

    feature = "schema"


class UnsupportedTableFeature(UnsupportedFeature):
    """A property of the table switches something on that this implementation does not do."""

    feature = "table-feature"


class UnsupportedKeyGenerator(UnsupportedFeature):
    """The table's key generator is not one that this implementation can write with."""

    feature = "key-generator"


class MigrationRefused(UnsupportedFeature):
    """A table holds something that is not migrated to version 8 as it is."""

    feature = "migration"


class TableExists(Misuse):
    """A table is to be created where one is."""


class IllegalTransition(Misuse):
    """An action is asked to take a step that actions of its kind do not take from the state that it is in."""


class CannotUndo(Misuse):
    """An instant that cannot be rolled back, or an earlier one that cannot be restored, as the table is now."""


class CannotProtect(Misuse):
    """An instant that cannot have a savepoint, or has none that could be deleted."""


class ClockBehindTimeline(Misuse):
    """The writer's clock is so far behind the newest instant that waiting for it makes no sense."""


class LockNotHeld(Misuse):
    """A lock is to be given up by somebody who does not hold it."""


class InvalidRows(Misuse):
    """Rows to be written lack a key column, hold a null key, or do not fit the table's schema."""


class InvalidQuery(Misuse):
    """A column, comparison or instant of a query that means nothing for this table."""


class MergerFault(Misuse):
    """A merger that the caller gave breaks what holds of every merger; going on would lose or change rows."""


class MalformedOrdering(MalformedTable):
    """An ordering value is not of the form that the table's payload class gives it."""


class IncomparableOrdering(Misuse):
    """Two ordering values of one key cannot be compared."""


class InstantExists(WriteConflict):
    """The instant was already created by another writer."""


class ConcurrentChange(WriteConflict):
    """Another action changed meanwhile what this one is based on. To write again on the new state may help."""


class HeartbeatLost(WriteConflict):
    """A writer was silent for so long that others may take its action for a failed one."""


class TableChanged(WriteConflict):
    """Somebody wrote to a table that nobody else may write to meanwhile; it is as the other left it."""


class HistoryChanged(WriteConflict):
    """Another process changed the timeline history while this one did."""


class LockNotObtained(WriteConflict):
    """Another owner held the lock of the table for as long as one would wait."""


class LockLost(LockNotHeld, WriteConflict):
    """The lock was this owner's, and is not any more: its lease ran out, or somebody took it away. What was published before
    may be there."""


class MalformedLock(MalformedTable):
    """The file of a lock says nothing that can be understood, so that nobody knows whether somebody holds it."""


class StorageUnavailable(StorageFault):
    """The storage gave no answer, or put the request off, as often as it was asked."""


class AccessDenied(StorageFault):
    """The storage does not know the credentials, or does not allow them what is asked."""


class OutcomeUnknown(StorageFault):
    """A change whose answer never came, and nobody could look whether it happened. It may be there, or still come."""


class UnfitStorage(StorageFault):
    """The storage cannot keep writers apart: it carries out what it should refuse."""


def missing_data_file(path: str) -> MissingDataFile:
    """The error, for the file at `path`."""
    return MissingDataFile(
        "the file of a completed action is missing",
        rule="TL-036", path=path, expected="the file in storage until a clean removes its slice",
        remedy="restore the file, or read the table as of an earlier instant",
    )  # fmt: skip
