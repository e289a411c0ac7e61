"""How a table merges: mode, strategy id and payload class, each inferred from the others, spec "Table Properties", "Merging".

The tables are those of Apache Hudi for table version 8. ER-094: 1.0.2 treats `EventTimeAvroPayload` as a custom class.
"""

from dataclasses import dataclass
from typing import Literal

from hudi_reference.errors import InvalidProperty
from hudi_reference.requirement import implements

MergeMode = Literal["COMMIT_TIME_ORDERING", "EVENT_TIME_ORDERING", "CUSTOM"]

EVENT_TIME_STRATEGY = "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5"
COMMIT_TIME_STRATEGY = "ce9acb64-bde0-424c-9b91-f6ebba25356d"
#: The strategy id of tables that merge by their payload class.
PAYLOAD_STRATEGY = "00000000-0000-0000-0000-000000000000"

_PACKAGE = "org.apache.hudi.common.model."
DEFAULT_PAYLOAD = f"{_PACKAGE}DefaultHoodieRecordPayload"
#: Merge mode -> strategy id and payload class that a version 8 table stores for it.
MERGE_CONFIGURATION: dict[MergeMode, tuple[str, str]] = {
    "EVENT_TIME_ORDERING": (EVENT_TIME_STRATEGY, DEFAULT_PAYLOAD),
    "COMMIT_TIME_ORDERING": (COMMIT_TIME_STRATEGY, f"{_PACKAGE}OverwriteWithLatestAvroPayload"),
}
#: Strategy ids and payload classes that are not in these tables are CUSTOM.
MODE_OF_STRATEGY: dict[str, MergeMode] = {
    EVENT_TIME_STRATEGY: "EVENT_TIME_ORDERING",
    COMMIT_TIME_STRATEGY: "COMMIT_TIME_ORDERING",
}
MODE_OF_PAYLOAD: dict[str, MergeMode] = {
    DEFAULT_PAYLOAD: "EVENT_TIME_ORDERING",
    f"{_PACKAGE}EventTimeAvroPayload": "EVENT_TIME_ORDERING",
    f"{_PACKAGE}OverwriteWithLatestAvroPayload": "COMMIT_TIME_ORDERING",
}
#: Up to this table version, a known payload class decides; from version 8 on, the strategy id decides.
PAYLOAD_FIRST = 6
#: From this table version on the stored mode decides alone.
MODE_ONLY = 9


@dataclass(frozen=True)
class MergeConfiguration:
    """The merge configuration of a table, as a writer stores it."""

    mode: MergeMode
    strategy: str
    payload: str


@implements("MRG-010", "MRG-016", "MRG-017", "MRG-018", "MRG-021", "MRG-033")
def infer(
    mode: str | None, strategy: str | None, payload: str | None, *, is_ordered: bool, version: int = 8
) -> MergeConfiguration:
    """The complete configuration, inferred from the given parts; `is_ordered` is whether the table has ordering fields.

    Raises InvalidProperty for contradictory parts, and for a custom mode without strategy id and payload class.
    """
    if version >= MODE_ONLY:
        return _configuration_of_mode(mode, strategy, payload)
    by_strategy = MODE_OF_STRATEGY.get(strategy, "CUSTOM") if strategy else None
    by_payload = MODE_OF_PAYLOAD.get(payload, "CUSTOM") if payload else None
    found = by_payload or by_strategy if version <= PAYLOAD_FIRST else by_strategy or by_payload
    if found is None:
        found = _mode(mode) if mode else ("EVENT_TIME_ORDERING" if is_ordered else "COMMIT_TIME_ORDERING")
    elif mode and mode != found:
        raise _contradiction("merge mode and merge strategy contradict each other", found, f"hoodie.record.merge.mode={mode}")
    if version > PAYLOAD_FIRST and by_payload and by_strategy not in (None, "CUSTOM", by_payload):
        raise _contradiction("payload class and merge strategy contradict each other", found, f"{payload} and {strategy}")
    if version <= PAYLOAD_FIRST and by_strategy != "CUSTOM":  # ER-229: releases before version 8 store this id for each class
        strategy = None
    return _complete(found, strategy, payload)


@implements("MRG-041", "MRG-042")
def _configuration_of_mode(mode: str | None, strategy: str | None, payload: str | None) -> MergeConfiguration:
    """The configuration of a table of version 9: its mode is mandatory, and no other property contradicts it."""
    if not mode:
        raise InvalidProperty(
            "the merge mode is missing", rule="MRG-016", expected="hoodie.record.merge.mode", found="no value"
        )
    found = _mode(mode)
    return _complete(found, strategy, payload) if found == "CUSTOM" else MergeConfiguration(found, *MERGE_CONFIGURATION[found])


def _complete(mode: MergeMode, strategy: str | None, payload: str | None) -> MergeConfiguration:
    """The configuration with the usual strategy id and payload class of the mode, where they are not given."""
    if mode == "CUSTOM":
        if strategy in (None, "", PAYLOAD_STRATEGY) and not payload:
            raise _contradiction("the merge mode cannot be inferred", mode, "neither strategy id nor payload class")
        return MergeConfiguration(mode, strategy or PAYLOAD_STRATEGY, payload or DEFAULT_PAYLOAD)
    usual = MERGE_CONFIGURATION[mode]
    return MergeConfiguration(mode, usual[0], payload or usual[1])


def _mode(text: str) -> MergeMode:
    for mode in (*MERGE_CONFIGURATION, "CUSTOM"):
        if text == mode:
            return mode
    raise InvalidProperty("unknown merge mode", rule="MRG-016", found=text)


def _contradiction(message: str, mode: MergeMode, found: str) -> InvalidProperty:
    return InvalidProperty(message, rule="MRG-021", expected=f"hoodie.record.merge.mode={mode}", found=found)
