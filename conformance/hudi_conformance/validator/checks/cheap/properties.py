"""The table properties: which of the two files counts, its checksum, and unknown or contradictory values."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from hudi_conformance.validator.checks.finding import Check, Finding, Severity, Tally, finding_of
from hudi_conformance.validator.checks.remedies import rebuild
from hudi_conformance.validator.stored.stored_properties import is_allowed
from hudi_conformance.validator.stored.table import StoredTable
from hudi_reference.errors import HudiError
from hudi_reference.layout.java_properties import entries_of
from hudi_reference.layout.merge_config import MODE_OF_STRATEGY, MODE_ONLY
from hudi_reference.layout.metadata_settings import INFLIGHT, USABLE
from hudi_reference.layout.names import parse_data_file_name, split_path
from hudi_reference.layout.properties import BACKUP_PATH, LAYOUTS, PROPERTIES_PATH, checksum
from hudi_reference.layout.property_table import BY_KEY, KEY_GENERATORS, MANDATORY
from hudi_reference.layout.stored_merging import REPLACED_PAYLOADS, StoredMerging
from hudi_reference.schema.avro import parse_schema

INITIAL = "hoodie.table.initial.version"
MODE = "hoodie.record.merge.mode"
STRATEGY, PAYLOAD = "hoodie.record.merge.strategy.id", "hoodie.compaction.payload.class"
#: The names of table versions from 0 on, which the version of the creation may have.
_VERSION_NAMES = ("ZERO", "ONE", "TWO", "THREE", "FOUR", "FIVE", "SIX", "SEVEN", "EIGHT", "NINE")
#: Control characters without the blanks and ends of lines of the format.
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0e-\x1f\x7f]")
Run = Callable[[StoredTable, Any, Tally], Iterator[Finding]]
RESTORE = "restore the file from another copy of the table, or from hoodie.properties.backup if its values are right"
REFUSED = "Readers and writers refuse the table."


def _file(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """At least one of the two files is whole."""
    main, backup = table.stored_properties.files.get(PROPERTIES_PATH), table.stored_properties.files.get(BACKUP_PATH)
    tally.looked("LAY-013")
    if main is None:
        has_backup = backup is not None and not isinstance(backup, HudiError)
        meaning = "Readers use the backup until the next update restores the file." if has_backup else REFUSED
        found = "only hoodie.properties.backup" if has_backup else "neither the file nor a readable backup"
        yield Finding("LAY-013", "cosmetic" if has_backup else "wrong-answers", PROPERTIES_PATH, meaning, "the file", found,
                      RESTORE)  # fmt: skip
    for error in table.stored_properties.files.values():
        tally.looked("PROP-011")
        if isinstance(error, HudiError):
            yield finding_of(error, "wrong-answers", REFUSED, rule="PROP-011", path=PROPERTIES_PATH, remedy=RESTORE)
    if main is not None and not isinstance(main, HudiError) and table.entries is not main:
        lost = sorted(table.entries.keys() - main.keys())
        is_right = "hoodie.table.checksum" in main and _expected_checksum(main) == main["hoodie.table.checksum"]
        yield Finding(
            "PROP-011", "wrong-answers" if is_right else "cosmetic", PROPERTIES_PATH,
            "Readers lack settings, because the checksum does not show the loss." if is_right
            else "Readers use the backup until the next update; Apache Hudi 1.0 takes a cut file without checksum for whole.",
            f"{len(table.entries)} entries, as in the backup",
            f"{len(main)} entries; {len(lost)} are lost, as {lost[0]}", f"copy {BACKUP_PATH} over the file",
        )  # fmt: skip


def _expected_checksum(entries: Mapping[str, str]) -> str:
    return checksum(entries.get("hoodie.database.name", ""), entries.get("hoodie.table.name", ""))


def _ending(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """The last line is terminated. Writers store the keys in any order, so that a cut file may lack any of them."""
    texts = table.stored_properties.texts
    for path, text in texts.items():
        tally.looked("PROP-011")
        if path == PROPERTIES_PATH and BACKUP_PATH not in texts and text and not text.endswith((b"\n", b"\r")):
            yield Finding("PROP-011", "wrong-answers", path, "Readers lack the settings that were in the rest of the file.",
                          "a line break at the end", f"{len(text)} bytes without one", RESTORE, offset=len(text))  # fmt: skip


def _checksum(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """The checksum is that of the two names. Every writer stores one; readers take a file without it as it is."""
    for path, entries in table.stored_properties.files.items():
        if isinstance(entries, HudiError) or not entries:
            continue
        tally.looked("PROP-011")
        if "hoodie.table.checksum" not in entries:
            yield Finding(
                "PROP-011", "cosmetic", path, "Readers cannot tell whether the rest of the file was cut off.",
                "a line hoodie.table.checksum=...", "no checksum", "compare the file with another copy of the table",
                key="hoodie.table.checksum",
            )  # fmt: skip
            continue
        expected = _expected_checksum(entries)
        found = entries["hoodie.table.checksum"]
        if found != expected:
            yield Finding(
                "PROP-011", "wrong-answers" if entries is table.entries else "cosmetic", path,
                "Readers take the file for truncated, and refuse it.", expected, found,
                "restore hoodie.database.name and hoodie.table.name, or the whole file from another copy of the table",
                key="hoodie.table.checksum",
            )  # fmt: skip


def _mandatory(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """The keys without a default have a value."""
    is_readable = any(not isinstance(entries, HudiError) for entries in table.stored_properties.files.values())
    for key in MANDATORY if is_readable else ():
        rule = BY_KEY[key].rule
        tally.looked(rule)
        if not table.entries.get(key):
            yield Finding(rule, "wrong-answers", PROPERTIES_PATH, REFUSED, f"a line {key}=...", "no value", RESTORE, key=key)


def _values(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """Keys with a closed set of values have one of them, and no key is newer than the version of the table."""
    for key, value in table.entries.items():
        known = BY_KEY.get(key)
        if known is None:
            continue
        tally.looked(known.rule)
        if not is_allowed(key, value):
            yield Finding(known.rule, "wrong-answers", PROPERTIES_PATH, REFUSED, " or ".join(known.values or ()), repr(value),
                          RESTORE, key=key)  # fmt: skip
    for key in ("hoodie.table.version", "hoodie.timeline.layout.version"):
        value = table.entries.get(key, "")
        if value and not re.fullmatch("[0-9]{1,9}", value):
            yield Finding(
                BY_KEY[key].rule, "wrong-answers", PROPERTIES_PATH, REFUSED, "a number", repr(value), RESTORE, key=key
            )


def _once(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """PROP-001: no key has two values. A reader takes the last one, another program may take the first one."""
    for path, text in table.stored_properties.texts.items():
        if isinstance(table.stored_properties.files[path], HudiError):
            continue
        known: dict[str, str] = {}
        for _, key, value in entries_of(text, path):
            tally.looked("PROP-001")
            if known.setdefault(key, value) != value:
                severity: Severity = "wrong-answers" if path == PROPERTIES_PATH else "cosmetic"
                yield Finding("PROP-001", severity, path, "Programs that take the first line follow another setting.",
                              f"one value of {key}", f"{known[key]!r} and {value!r}"[:200], "remove the line that is wrong",
                              key=key)  # fmt: skip


def _characters(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """PROP-011: no control character, which writers escape: one in the file comes from damage, although Java reads it."""
    texts = table.stored_properties.texts
    for path, text in texts.items():
        tally.looked("PROP-011")
        found = _CONTROL.search(text)
        if found is not None:
            is_used = path == PROPERTIES_PATH and not isinstance(table.stored_properties.files[path], HudiError)
            yield Finding(
                "PROP-011", "wrong-answers" if is_used else "cosmetic", path,
                "The setting in this line has another value, or is taken for another one.", "text without control characters",
                f"byte 0x{found[0].hex()}", RESTORE, offset=found.start(),
            )  # fmt: skip


def _located(run: Run) -> Run:
    """The check, whose findings about a property have the offset of its line. It can be pickled, to be sent to executors."""
    return partial(_with_offsets, run)


def _with_offsets(run: Run, table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """The findings of a check, with the offset of the line as far as the file can be read."""
    for finding in run(table, part, tally):
        yield finding if finding.offset is not None else replace(finding, offset=_offset(table, finding))


def _offset(table: StoredTable, finding: Finding) -> int | None:
    """The offset of the last line of a property, which counts."""
    if finding.key is None or isinstance(table.stored_properties.files.get(finding.path), (HudiError, type(None))):
        return None
    offsets = {key: offset for offset, key, _ in entries_of(table.stored_properties.texts[finding.path], finding.path)}
    return offsets.get(finding.key)


def _kinds(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """PROP-008: a partition field with a kind has one that the custom key generator knows."""
    for item in (table.entries.get("hoodie.table.partition.fields") or "").split(","):
        _, colon, kind = item.partition(":")
        tally.looked("PROP-008", at=bool(colon))
        if colon and kind.strip().upper() not in ("SIMPLE", "TIMESTAMP"):
            yield Finding(
                "PROP-008", "wrong-answers", PROPERTIES_PATH, "Writers fail, and queries cannot tell folders from values.",
                "a field with the kind SIMPLE or TIMESTAMP", item, "set the kind with which the table was created",
                key="hoodie.table.partition.fields",
            )  # fmt: skip


def _versions(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """The table version is known, and the timeline layout belongs to it."""
    version, layout = table.version, table.entries.get("hoodie.timeline.layout.version", "")
    if version is None:
        return
    tally.looked("COMPAT-002", "COMPAT-004", "PROP-010")
    if version not in LAYOUTS:
        newer = version > max(LAYOUTS)
        change = f"call downgrade_table to version {max(LAYOUTS)}" if newer else "or a later one call upgrade_table"
        yield Finding(
            "COMPAT-004" if newer else "COMPAT-002", "wrong-answers", PROPERTIES_PATH,
            "Readers that do not know the version refuse the table; the other checks take the nearest version for it.",
            f"hoodie.table.version={', '.join(map(str, LAYOUTS))}", str(version),
            f"with the release of Apache Hudi that wrote it {change}; if the line was edited, restore it",
            key="hoodie.table.version",
        )  # fmt: skip
    elif layout.isdigit() and int(layout) != LAYOUTS[version]:
        yield Finding("PROP-010", "wrong-answers", PROPERTIES_PATH, "Readers look for the timeline in another folder.",
                      str(LAYOUTS[version]), layout, RESTORE, key="hoodie.timeline.layout.version")  # fmt: skip


def _initial_version(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """PROP-006: the version with which the table was made is one that exists. A table that was downgraded had a greater one."""
    value = table.entries.get(INITIAL)
    if value is None:
        return
    tally.looked("PROP-006")
    if value not in (*map(str, range(max(LAYOUTS) + 1)), *_VERSION_NAMES):
        yield Finding(
            "PROP-006", "cosmetic", PROPERTIES_PATH, "Engines that read it when they change the version fail.",
            f"a version from 0 to {max(LAYOUTS)}", repr(value), RESTORE, key=INITIAL,
        )  # fmt: skip


def _merging(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """Merge mode, strategy id and payload class agree, and a delete marker has a column and a value."""
    tally.looked("MRG-016", "MRG-021", "MRG-014")
    meaning = "Engines merge the versions of a record in different ways, or refuse the table."
    try:
        if MODE not in table.entries or is_allowed(MODE, table.entries[MODE]):  # otherwise `_values` reports the value
            _ = table.properties.merging
    except HudiError as error:
        yield finding_of(error, "wrong-answers", meaning, rule="MRG-021", path=PROPERTIES_PATH,
                         remedy="set hoodie.record.merge.mode to the mode with which the table was created")  # fmt: skip
    try:
        _ = table.properties.delete_marker
    except HudiError as error:
        yield finding_of(error, "wrong-answers", meaning, rule="MRG-014", path=PROPERTIES_PATH, remedy=RESTORE)


def _made_merging(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """PROP-025 and MRG-021: from version 9 on the mode alone counts. A class or strategy id beside it shows how it was made."""
    version, mode = table.version, table.entries.get(MODE)
    if version is None or version < MODE_ONLY or version not in LAYOUTS:
        return
    legacy = table.entries.get("hoodie.table.legacy.payload.class")
    made = REPLACED_PAYLOADS.get(legacy or "")
    tally.looked("PROP-025", at=made is not None)
    for key, value in _entries_of(made).items() if made is not None else ():
        if table.entries.get(key) != value:
            yield Finding(
                "PROP-025", "cosmetic", PROPERTIES_PATH, "Engines merge by another rule than when the table was made.",
                f"{value}, as a table of {legacy} has it", str(table.entries.get(key)),
                f"set {key} to {value} unless it was changed on purpose", key=key,
            )  # fmt: skip
    replaced = REPLACED_PAYLOADS.get(table.entries.get(PAYLOAD, ""))
    modes = {STRATEGY: MODE_OF_STRATEGY.get(table.entries.get(STRATEGY, "")), PAYLOAD: replaced and replaced.entries()[MODE]}
    for key, expected in modes.items():
        tally.looked("MRG-021", at=expected is not None)
        if expected not in (None, mode) and made is None:
            yield Finding(
                "MRG-021", "cosmetic", PROPERTIES_PATH, "Engines follow the mode alone, which may have been changed.",
                f"the mode of {table.entries[key]}: {expected}", str(mode),
                f"remove {key}, or set the mode with which the table was created", key=key,
            )  # fmt: skip


def _entries_of(made: StoredMerging) -> dict[str, str]:
    """The properties of a table that was made with a payload class, the ordering fields only if they are those of the class."""
    ordering = {"hoodie.table.ordering.fields": ",".join(made.ordering)} if made.ordering else {}
    return made.entries() | ordering


def _key_generator(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """Type and class of the key generator agree with each other and with the partition fields."""
    kind, name = table.entries.get("hoodie.table.keygenerator.type"), table.entries.get("hoodie.table.keygenerator.class")
    if kind is None or not is_allowed("hoodie.table.keygenerator.type", kind):
        return
    tally.looked("PROP-001")
    meaning = "Writers that follow one of the two compute other record keys or partition paths than the rest of the table has."
    known = KEY_GENERATORS[kind]
    if name and known and name != known and name in KEY_GENERATORS.values():
        yield Finding("PROP-001", "wrong-answers", PROPERTIES_PATH, meaning, f"the class of {kind}: {known}", name,
                      "remove the one that is wrong", key="hoodie.table.keygenerator.class")  # fmt: skip
    keys, fields = (len(table.properties.fields(f"hoodie.table.{one}.fields")) for one in ("recordkey", "partition"))
    is_possible = {"SIMPLE": keys <= 1 and fields <= 1, "NON_PARTITION": not fields}
    if not is_possible.get(kind, True):
        yield Finding(
            "PROP-001", "wrong-answers", PROPERTIES_PATH, meaning,
            "a type for these fields, such as COMPLEX" if fields else "a type for several fields of the key",
            f"{kind} with {keys} record key fields and {fields} partition fields",
            "set the type with which the table was created", key="hoodie.table.keygenerator.type",
        )  # fmt: skip


def _fields(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """The schema of the table's creation is a schema."""
    text = table.entries.get("hoodie.table.create.schema")
    if text:
        tally.looked("LF-038")
        try:
            parse_schema(text, PROPERTIES_PATH)
        except HudiError as error:
            meaning = "A table without a commit cannot be read; later commits have schemas of their own."
            severity: Severity = "cosmetic" if any(commit.schema for commit in table.commits.values()) else "wrong-answers"
            yield finding_of(error, severity, meaning, rule="LF-038", path=PROPERTIES_PATH, remedy=RESTORE)


def _metadata_lists(table: StoredTable, part: object, tally: Tally) -> Iterator[Finding]:
    """No partition of the metadata table is both usable and being built, and listed partitions exist."""
    usable, building = table.properties.fields(USABLE), table.properties.fields(INFLIGHT)
    tally.looked("PROP-012", at=len(usable))
    remedy = "remove the name from the property; a writer then builds the partition again"
    for name in sorted(set(usable) & set(building)):
        yield Finding("PROP-012", "wrong-answers", PROPERTIES_PATH, "Readers use an index that may be incomplete.",
                      f"{name} in one of the two lists", f"in {USABLE} and in {INFLIGHT}", remedy, key=name)  # fmt: skip
    for name in usable:
        folder = f".hoodie/metadata/{name}/"
        names = (split_path(path)[1] for path in table.listing.files if path.startswith(folder))
        if all(parse_data_file_name(one) is None for one in names):
            yield Finding(
                "PROP-012", "wrong-answers", folder.rstrip("/"),
                "Readers that use the metadata table find no files, or fail." if name == "files"
                else "Readers that use this index fail, or skip files that have matching rows.",
                f"a partition of the metadata table, as {USABLE} lists it", "no data file", rebuild(name), key=name,
            )  # fmt: skip
    if usable and "files" not in usable:
        yield Finding("PROP-012", "cosmetic", PROPERTIES_PATH, "Readers use none of the indexes without the listing of files.",
                      "files among the partitions", ", ".join(usable), "let a writer build the metadata table again",
                      key=USABLE)  # fmt: skip


CHECKS = (
    Check("properties.file", ("LAY-013", "PROP-011"), "cheap", _file),
    Check("properties.ending", ("PROP-011",), "cheap", _ending),
    Check("properties.checksum", ("PROP-011",), "cheap", _located(_checksum)),
    Check("properties.mandatory", ("PROP-004", "PROP-005", "PROP-006", "PROP-010"), "cheap", _mandatory),
    Check("properties.values", tuple(sorted({one.rule for one in BY_KEY.values()})), "cheap", _located(_values)),
    Check("properties.characters", ("PROP-011",), "cheap", _characters),
    Check("properties.one-value", ("PROP-001",), "cheap", _located(_once)),
    Check("properties.partition-kinds", ("PROP-008",), "cheap", _located(_kinds)),
    Check("properties.versions", ("COMPAT-002", "COMPAT-004", "PROP-010"), "cheap", _located(_versions)),
    Check("properties.initial-version", ("PROP-006",), "cheap", _located(_initial_version)),
    Check("properties.merging", ("MRG-014", "MRG-016", "MRG-018", "MRG-021"), "cheap", _merging),
    Check("properties.made-merging", ("MRG-021", "PROP-025"), "cheap", _located(_made_merging), tables="data"),
    Check("properties.key-generator", ("PROP-001",), "cheap", _located(_key_generator)),
    Check("properties.create-schema", ("LF-038",), "cheap", _fields),
    Check("properties.metadata-lists", ("PROP-012",), "cheap", _metadata_lists),
)
