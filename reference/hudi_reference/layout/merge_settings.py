"""The settings of a writer that define how a new table merges, spec "Record Merger > Merge Mode Configs", "Payload Configs".

Each setting has older names, and payload classes have a name in Flink; the first name that is set counts.
"""

import uuid
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from hudi_reference.errors import InvalidProperty, Misuse
from hudi_reference.layout.merge_config import MERGE_CONFIGURATION, MODE_ONLY
from hudi_reference.layout.properties import TABLE_VERSION, TableProperties
from hudi_reference.layout.stored_merging import REPLACED_PAYLOADS, StoredMerging, stored_merging
from hudi_reference.requirement import implements

#: Field of `MergeSettings` -> the names of the setting, the newest first.
SETTINGS: dict[str, tuple[str, ...]] = {
    "mode": ("hoodie.write.record.merge.mode", "hoodie.record.merge.mode"),
    "strategy": (
        "hoodie.write.record.merge.strategy.id", "hoodie.datasource.write.record.merger.strategy",
        "hoodie.record.merge.strategy.id", "hoodie.compaction.record.merger.strategy",
    ),
    "classes": ("hoodie.write.record.merge.custom.implementation.classes", "hoodie.datasource.write.record.merger.impls"),
    "payload": ("hoodie.datasource.write.payload.class", "payload.class", "hoodie.compaction.payload.class"),
    "ordering": (
        "hoodie.table.ordering.fields", "hoodie.payload.ordering.field", "hoodie.datasource.write.precombine.field",
        "hoodie.table.precombine.field",
    ),
}  # fmt: skip


@implements("MRG-036", "MRG-040", "PAY-019", "PAY-021")
@dataclass(frozen=True)
class MergeSettings:
    """The merge settings of a writer; None or empty if they are not set."""

    mode: str | None = None
    strategy: str | None = None
    payload: str | None = None
    classes: tuple[str, ...] = ()
    ordering: tuple[str, ...] = ()

    @classmethod
    def from_options(cls, options: Mapping[str, str]) -> Self:
        """The settings among options, by any of their names."""
        said = {what: next((options[name] for name in names if options.get(name)), None) for what, names in SETTINGS.items()}
        mode = said["mode"]
        return cls(mode.upper() if mode else None, said["strategy"], said["payload"],
                   _split_list(said["classes"]), _split_list(said["ordering"]))  # fmt: skip


def _split_list(text: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in (text or "").split(",") if part.strip())


@implements("API-006", "MRG-035", "PAY-001", "PAY-005", "PAY-011", "PAY-013")
def configure_merging(
    mode: str | None, settings: MergeSettings, ordering: Sequence[str], version: int = TABLE_VERSION
) -> StoredMerging:
    """What a new table stores about merging. Raises Misuse for contradictory or incomplete settings.

    Without a mode, the ordering fields decide. A payload class is supported and deprecated.
    """
    if mode and settings.mode and mode != settings.mode:
        raise Misuse("two merge modes", rule="MRG-021", expected="one", found=f"{mode} and {settings.mode}")
    try:
        found = stored_merging(
            mode or settings.mode, settings.strategy, settings.payload, is_ordered=bool(ordering), version=version
        )
    except InvalidProperty as error:
        raise Misuse(
            f"the merge settings are invalid: {error.message}", rule=error.rule, expected=error.expected, found=error.found,
            remedy="set one merge mode; for CUSTOM also a strategy id and its merger",
        ) from error  # fmt: skip
    ordering = found.ordering or ordering
    if found.mode == "EVENT_TIME_ORDERING" and not ordering:
        raise Misuse("event-time mode needs an ordering field", rule="MRG-034", expected="ordering=(field,)")
    if found.strategy is not None:
        check_strategy(found.strategy)
    if settings.payload and settings.payload not in {payload for _, payload in MERGE_CONFIGURATION.values()}:
        message = f"payload classes such as {settings.payload} are deprecated since Hudi 1.1.0: use a merge mode or a merger"
        warnings.warn(message, DeprecationWarning, stacklevel=3)
    return found


@implements("API-006")
def check_strategy(strategy: str) -> None:
    """Raises Misuse for an id that is not a UUID, for example a class name."""
    try:
        uuid.UUID(strategy)
    except ValueError as error:
        raise Misuse("a merge strategy id is a UUID", rule="API-006", expected="a UUID", found=strategy) from error


@implements("MRG-022", "MRG-024")
def check_unchanged(properties: TableProperties, options: Mapping[str, str]) -> None:
    """Raises Misuse for settings of a writer that differ from the merge configuration of the table."""
    said = MergeSettings.from_options(options)
    if properties.version >= MODE_ONLY:
        return _check_stored(properties, said)
    stored = properties.merging
    _check_equal("merge mode", stored.mode, said.mode)
    return _check_equal("merge strategy", stored.strategy, said.strategy)


@implements("MRG-045")
def _check_stored(properties: TableProperties, said: MergeSettings) -> None:
    """The same at version 9, where a setting may only repeat what is stored, or name a class that means the same."""
    _check_equal("merge mode", properties.merge_mode, said.mode)
    _check_equal("ordering fields", ",".join(properties.ordering_fields), ",".join(said.ordering))
    _check_equal("merge strategy", properties.get("hoodie.record.merge.strategy.id"), said.strategy)
    classes = (properties.get(f"hoodie.{name}.payload.class") for name in ("compaction", "table.legacy"))
    known = [name for name in classes if name]
    meaning = REPLACED_PAYLOADS.get(said.payload or "")
    if said.payload not in known and (meaning is None or not _means(meaning, properties)):
        _check_equal("payload class", ", ".join(known) or None, said.payload)


def _means(replacement: StoredMerging, properties: TableProperties) -> bool:
    """Whether a table of version 9 merges as the replacement of a payload class does."""
    return (
        (replacement.mode, replacement.partial_update) == (properties.merge_mode, properties.partial_update_mode)
        and replacement.ordering in ((), properties.ordering_fields)
        and all(properties.merge_property(name) == value for name, value in replacement.properties.items())
    )


def _check_equal(what: str, stored: str | None, given: str | None) -> None:
    """Raises Misuse for a setting with another value than the stored one."""
    # ER-057: the text lets a write override the mode; deployed readers follow the property alone.
    if given and given != stored:
        raise Misuse(
            f"a write cannot change the {what} of a table", rule="MRG-024", expected=stored or "no setting", found=given,
            remedy="remove the setting, or create a new table",
        )  # fmt: skip
