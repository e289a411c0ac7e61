"""The inspection of one file by the reference (`schemas/file-inspection.json`)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from hudi_conformance.cases.values import canonical_from_arrow, type_of_arrow
from hudi_conformance.engines.reference.history import history_file, is_history_file, place_of
from hudi_conformance.engines.reference.instants import instant_file
from hudi_conformance.engines.reference.properties import is_properties_file, properties_file
from hudi_conformance.engines.support.avro_values import canonical_record
from hudi_reference.errors import MalformedLogBlock
from hudi_reference.files.base.footer import FILTER, FILTER_TYPE
from hudi_reference.files.base_file import read_base_file
from hudi_reference.files.bloom.bloom import decode_filter
from hudi_reference.files.hfile.cell import Entry
from hudi_reference.files.hfile.reader import HFile, open_hfile
from hudi_reference.files.inspection.base_file import FOOTER_KEYS, inspect_base
from hudi_reference.files.inspection.file_type import KnownFile, format_of_name, identify, locate
from hudi_reference.files.inspection.log import InspectedBlock, inspect_log
from hudi_reference.files.inspection.records import Records
from hudi_reference.files.log.block import BlockType, CorruptBlock, HeaderKey
from hudi_reference.timeline.instants.instant import parse_instant_name

#: Names of block types in the contract.
BLOCKS = {
    BlockType.COMMAND: "command",
    BlockType.DELETE: "delete",
    BlockType.CORRUPT: "corrupt",
    BlockType.AVRO_DATA: "avro",
    BlockType.HFILE_DATA: "hfile",
    BlockType.PARQUET_DATA: "parquet",
    BlockType.CDC_DATA: "cdc",
}
#: Wrapper of ordering values -> its name in the contract and the Avro type of its `value`.
WRAPPERS: dict[str, tuple[str, Any]] = {
    "BooleanWrapper": ("boolean", "boolean"),
    "IntWrapper": ("int", "int"),
    "LongWrapper": ("long", "long"),
    "FloatWrapper": ("float", "float"),
    "DoubleWrapper": ("double", "double"),
    "BytesWrapper": ("bytes", "bytes"),
    "StringWrapper": ("string", "string"),
    "DateWrapper": ("date", {"type": "int", "logicalType": "date"}),
    "LocalDateWrapper": ("date", {"type": "int", "logicalType": "date"}),
    "DecimalWrapper": ("decimal", "decimal"),
    "TimeMicrosWrapper": ("time-micros", {"type": "long", "logicalType": "time-micros"}),
    "TimestampMicrosWrapper": ("timestamp-micros", {"type": "long", "logicalType": "timestamp-micros"}),
}


def inspect_file(uri: str, *, keys: Sequence[str] | None = None, prefix: str | None = None) -> dict[str, Any]:
    """The contents of one file. Raises a HudiError for a file that readers must refuse.

    `keys` and `prefix` are looked up in an HFile; in the bloom filter of a base file, the keys only. The type of a
    file follows from its name, as in readers of tables, or from its bytes if the name has no known form.
    """
    storage, path = locate(uri)
    if is_history_file(path):
        return history_file(*place_of(uri))
    if is_properties_file(path):
        return properties_file(storage, path)
    if (instant := parse_instant_name(path)) is not None:
        return instant_file(storage, path, instant)
    file = identify(storage, path)
    kind = format_of_name(file.name) or file.format
    if kind == "log":
        return log_file(inspect_log(file.storage, file.path))
    if kind == "hfile":
        return hfile(open_hfile(file.storage, file.path), keys, prefix)
    return base_file(file, keys)


def log_file(blocks: Iterable[InspectedBlock]) -> dict[str, Any]:
    """The blocks of a log file. Raises for a block that a reader must not skip."""
    return {"format": "log", "blocks": [log_block(block) for block in blocks]}


def log_block(found: InspectedBlock) -> dict[str, Any]:
    """One block; content that cannot be decoded is absent, and `error` has the reason."""
    if found.refusal is not None:
        raise found.refusal
    block = found.block
    shown: dict[str, Any] = {"offset": block.offset, "length": block.size, "type": BLOCKS[block.kind]}
    if isinstance(block, CorruptBlock):
        return shown | {"reason": block.reason}
    shown |= {
        "version": block.version,
        "header": headers(block.header),
        "footer": {str(key): text for key, text in block.footer.items()},
    }
    if found.content_version is not None:
        shown["content_version"] = found.content_version
    error = found.error
    try:
        if found.rows is not None:
            shown["rows"] = json_rows(found.rows)
        if found.deletes is not None:
            shown["deletes"] = [delete(entry) for entry in found.deletes]
    except MalformedLogBlock as unfit:
        error = unfit
    if found.positions is not None:
        shown["positions"] = [str(position) for position in found.positions.first]
    return shown if error is None else shown | {"error": str(error)}


def headers(entries: Mapping[int, str]) -> dict[str, str]:
    """A header by the names of its keys, or by the number of an unknown key."""
    return {header_name(key): text for key, text in entries.items()}


def header_name(number: int) -> str:
    """The name of a header key, or its number."""
    return HeaderKey(number).name if number in HeaderKey.__members__.values() else str(number)


def json_rows(rows: "pa.Table | Records", most: int | None = None) -> list[dict[str, Any]]:
    """The first rows, all if `most` is None, as canonical values, in stored order; of a union of records the value of its
    branch.
    """
    if isinstance(rows, Records):
        return [canonical_record(value, rows.schema) for value in rows.values[:most]]
    head = rows.slice(0, most)
    columns = {
        f.name: [canonical_from_arrow(v, type_of_arrow(f.type)) for v in head.column(i)] for i, f in enumerate(head.schema)
    }
    return [{name: values[i] for name, values in columns.items()} for i in range(head.num_rows)]


def delete(entry: Mapping[str, Any]) -> dict[str, Any]:
    """One entry of a delete block, with the type of its ordering value."""
    return {"key": entry["recordKey"], "partition": entry["partitionPath"], "ordering": ordering(entry["orderingVal"])}


def ordering(stored: Any) -> dict[str, Any] | None:
    """An ordering value as stored, type and value; a list of such for several ordering fields."""
    if stored is None:
        return None
    name, record = stored
    wrapper = name.rpartition(".")[2]
    if wrapper == "ArrayWrapper":
        return {"type": "array", "value": [ordering(part) for part in record["wrappedValues"] or ()]}
    word, declared = WRAPPERS[wrapper]
    if word == "decimal":  # with its stored scale
        return {"type": word, "value": format(record["value"], "f")}
    return {"type": word, "value": canonical_record({"value": record["value"]}, _holder(declared))["value"]}


def _holder(declared: Any) -> dict[str, Any]:
    return {"type": "record", "name": "holder", "fields": [{"name": "value", "type": declared}]}


def hfile(found: HFile, keys: Sequence[str] | None = None, prefix: str | None = None) -> dict[str, Any]:
    """An HFile with all its entries."""
    metas = {name: found.meta(name) or b"" for name in found.metas}
    shown: dict[str, Any] = {
        "format": "hfile",
        "compression": compression(found),
        "levels": found.trailer.data_index_levels,
        "entries": entries(found),
        "meta": {name: content.hex() for name, content in metas.items()},
        "info": {name: value.hex() for name, value in found.info.items()},
    }
    if keys is not None or prefix is not None:
        shown["found"] = entries(look_up(found, keys or (), prefix))
    if "bloomFilter" in metas:
        kind = found.info.get("bloomFilterTypeCode", b"SIMPLE").decode()
        shown["bloom"] = bloom(metas["bloomFilter"].decode("ascii", "replace"), kind, found.place.path, keys)
    return shown


def compression(found: HFile) -> str:
    """The name of an HFile codec in the contract."""
    return {1: "gz", 2: "none"}[found.trailer.compression]


def look_up(found: HFile, keys: Sequence[str], prefix: str | None) -> list[Entry]:
    """The entries of these keys and those that begin with `prefix`, in the order of the file."""
    chosen = list(found.get(*keys)) if keys else []
    begun = list(found.prefix(prefix)) if prefix is not None else []
    rows = {entry.row for entry in begun}
    return sorted([*begun, *(entry for entry in chosen if entry.row not in rows)], key=lambda entry: entry.row)


def entries(found: Iterable[Entry]) -> list[dict[str, str]]:
    """The entries of an HFile, keys as text and values as hex."""
    return [{"key": row.decode("utf-8", "backslashreplace"), "value": value.hex()} for row, value in found]


def base_file(file: KnownFile, keys: Sequence[str] | None = None) -> dict[str, Any]:
    """A Parquet or ORC base file with all its rows."""
    found = inspect_base(file)
    rows = found.rows() if file.name is None else read_base_file(file.storage, file.path)
    shown: dict[str, Any] = {
        "format": file.format,
        "rows": json_rows(rows),
        "footer": {key: found.footer[key] for key in FOOTER_KEYS if key in found.footer},
    }
    if FILTER in found.footer:
        shown["bloom"] = bloom(found.footer[FILTER], found.footer.get(FILTER_TYPE, "SIMPLE"), file.path, keys)
    return shown


def bloom(text: str, kind: str, path: str, keys: Sequence[str] | None = None) -> dict[str, Any]:
    """A bloom filter's parameters, and which of the keys it may hold."""
    found = decode_filter(kind, text, path)
    shown = {"type": found.kind.value, "hashes": found.hashes, "bits": str(found.bits)}
    return shown if keys is None else shown | {"may_hold": found.may_hold(keys)}
