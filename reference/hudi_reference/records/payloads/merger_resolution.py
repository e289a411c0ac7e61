"""The merger of a table, spec "Record Merger > Merge Mode Configs".

The strategy id in the properties names one of the two standard modes, a payload class, or one of the mergers given to
`open_table`. An unknown merger is refused, and never replaced by another one.
"""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.types as pt

from hudi_reference.errors import UnknownMerger
from hudi_reference.layout.merge_config import PAYLOAD_STRATEGY, MergeConfiguration
from hudi_reference.layout.properties import PROPERTIES_PATH, TableProperties
from hudi_reference.records.changes import DeleteMarker
from hudi_reference.records.mergers.fill import UNAVAILABLE
from hudi_reference.records.mergers.merger import RECORD_TYPE, Merging, RecordMerger
from hudi_reference.records.mergers.standard_mergers import PartialUpdateMerger
from hudi_reference.records.payloads import merger_of_payload
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import AvroSchema, arrow_schema


@implements("MRG-031", "MRG-010", "PAY-002", "API-008", "NBC-005")
def merging_of(properties: TableProperties, mergers: Sequence[RecordMerger] = (), schema: AvroSchema | None = None) -> Merging:
    """How a table with this schema merges. Raises UnknownMerger, InvalidProperty."""
    found = properties.merging
    ordering, marker = properties.ordering_fields, properties.delete_marker
    given = None if marker is None else DeleteMarker(*marker)
    partial_mode = properties.partial_update_mode
    if found.mode != "CUSTOM" and partial_mode is None:
        return Merging(found.mode, ordering, given)
    defaults = {} if schema is None else defaults_of(schema)
    if found.mode != "CUSTOM":
        merger = PartialUpdateMerger.from_modes(found.mode, partial_mode or "", _unavailable(properties))
        return Merging(found.mode, ordering, given, merger, defaults)
    if found.strategy != PAYLOAD_STRATEGY:
        return Merging("CUSTOM", ordering, given, custom_merger(found, mergers), defaults)
    payload = merger_of_payload(found.payload)
    return Merging("CUSTOM", payload.ordering or ordering, payload.marker or given, payload, defaults)


def _unavailable(properties: TableProperties) -> str:
    """The text of values that a source did not send."""
    return properties.merge_property("hoodie.write.partial.update.unavailable.value") or UNAVAILABLE


@implements("PAY-015")
def defaults_of(schema: AvroSchema) -> dict[str, Any]:
    """The default values of the columns that have one other than null."""
    kinds = arrow_schema(schema)
    given = {field["name"]: field["default"] for field in schema["fields"] if field.get("default") is not None}
    return {name: _value(default, kinds.field(name).type) for name, default in given.items()}


def _value(default: Any, kind: pa.DataType) -> Any:
    """A default as the value of a column: Avro stores bytes as text, dates and times as numbers."""
    if pt.is_binary(kind) or pt.is_fixed_size_binary(kind):
        return default.encode("latin-1")
    if pt.is_temporal(kind):
        return pa.scalar(default, pa.int32() if kind.bit_width < 64 else pa.int64()).cast(kind).as_py()
    return default


@implements("API-007", "MRG-035")
def custom_merger(configuration: MergeConfiguration, mergers: Sequence[RecordMerger]) -> RecordMerger:
    """The merger of a table with a custom strategy. Raises UnknownMerger."""
    found = index_of_merger(
        configuration.strategy, [(merger.strategy_id, merger.record_type) for merger in mergers], RECORD_TYPE
    )
    if found is None:
        known = ", ".join(f"{m.strategy_id} ({m.name}, {m.record_type})" for m in mergers)
        raise UnknownMerger(
            "the table has a custom merge strategy, and none of the given mergers has it", rule="API-008",
            path=PROPERTIES_PATH, expected=f"{RECORD_TYPE} merger with one of: {known or 'none was given'}",
            found=f"hoodie.record.merge.strategy.id={configuration.strategy}",
            remedy="give the merger: open_table(uri, mergers=[...]); or read the table with an engine that has it",
        )  # fmt: skip
    return mergers[found]


@implements("MRG-037", "MRG-038", "MRG-039", "API-017")
def index_of_merger(strategy: str | None, mergers: Sequence[tuple[str, str]], record_type: str) -> int | None:
    """The index of the first merger with the strategy id that supports the record type of the engine; None if there is none.

    Without a strategy id, the first merger that supports the record type. A merger is given as strategy id and record type.
    """
    for place, (found, works_on) in enumerate(mergers):
        if works_on == record_type and (not strategy or found == strategy):
            return place
    return None
