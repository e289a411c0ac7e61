"""The inspection of one file by the classes of Apache Hudi (`schemas/file-inspection.json`).

Log files through HoodieLogFileReader and the records that its blocks iterate over; HFiles through the reader that the
release uses by default (HBase's in 1.0.2, Hudi's own in 1.2.0); Parquet and ORC base files through HoodieFileReader, their
footers through ParquetUtils and OrcUtils; bloom filters through BloomFilterFactory; instants through HoodieTimeline, files of
the history through LSMTimeline.
"""

import base64
import json
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

from hudi_conformance.cases.values import canonical_from_json
from hudi_conformance.contract import EngineError, Refused
from hudi_conformance.engines.apache_hudi.functions.history import History, is_history_file
from hudi_conformance.engines.apache_hudi.functions.instants import Instants
from hudi_conformance.engines.apache_hudi.jvm.avro_json import canonical_rows
from hudi_conformance.engines.apache_hudi.jvm.faults import in_contract_words
from hudi_conformance.engines.apache_hudi.jvm.log_drain import Drains, frames, pairs
from hudi_conformance.engines.apache_hudi.jvm.session import Session
from hudi_conformance.engines.apache_hudi.jvm.tables import path_of

Json = dict[str, Any]

#: Block type of HoodieLogBlock -> its name in the contract.
_BLOCKS = {
    "COMMAND_BLOCK": "command",
    "DELETE_BLOCK": "delete",
    "CORRUPT_BLOCK": "corrupt",
    "AVRO_DATA_BLOCK": "avro",
    "HFILE_DATA_BLOCK": "hfile",
    "PARQUET_DATA_BLOCK": "parquet",
    "CDC_DATA_BLOCK": "cdc",
}
_ROWS = ("avro", "parquet", "hfile", "cdc")
_VERSIONED = ("avro", "delete", "cdc")
#: Java class of ordering values -> its name in the contract, and the type of its canonical text.
_ORDERINGS = {
    "Boolean": "boolean",
    "Integer": "int",
    "Long": "long",
    "Float": "float",
    "Double": "double",
    "ByteBuffer": "bytes",
    "String": "string",
    "Utf8": "string",
    "Date": "date",
    "LocalDate": "date",
    "BigDecimal": "decimal",
    "LocalTime": "time-micros",
    "Timestamp": "timestamp-micros",
    "Instant": "timestamp-micros",
}
#: Type of an ordering value -> conversion of its text, except for strings.
_PLAIN: Mapping[str, Callable[[str], Any]] = {"boolean": "true".__eq__, "int": int, "float": np.float32}
_FOOTER = ("hoodie_min_record_key", "hoodie_max_record_key", "hoodie_bloom_filter_type_code")
_BLOOM_FILTER = "org.apache.hudi.bloomfilter"
#: The largest number of positions in an answer, because a few bytes may have more positions than fit into memory.
_MOST_POSITIONS = 1000
_BUFFER = 1 << 20
#: Names of instants consist of a time, an optional second one, and a word.
_INSTANT = re.compile(r"\d+(_\d+)?\.[a-z]")
#: The stored number of the type.
_CHANGE_CAPTURE = 6


class Files:
    """Inspects files in a session; one instance for each session."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.hudi = session.hudi
        self.drains = Drains(session)
        self.storage = self.hudi.storage.HoodieStorageUtils.getStorage("file:///", session.storage)
        self.instants = Instants(session, self.drains.plain, self.storage)
        self.history = History(session, self.instants)

    def inspect(self, uri: str, keys: Sequence[str] | None, prefix: str | None) -> Json:
        """The contents of one file. The name determines the format, as in Hudi."""
        path = self.hudi.storage.StoragePath(uri)
        file = Path(path_of(uri))
        if self.hudi.common.fs.FSUtils.isLogFile(file.name):
            return {"format": "log", "blocks": self._blocks(path, file)}
        if file.name.startswith("hoodie.properties"):
            return self._properties(path)
        if is_history_file(file.name):
            return self.history.inspect(path)
        extension = file.suffix.removeprefix(".")
        if extension == "hfile":
            return self._hfile(path, file.stat().st_size, keys, prefix)
        if extension in ("parquet", "orc"):
            return self._base_file(path, extension, keys)
        if _INSTANT.match(file.name):
            return self.instants.inspect(path, file.stat().st_size)
        raise Refused("inspect.base-file", f"the name {file.name} is none that Hudi gives to log files, base files or instants")

    def _properties(self, path: Any) -> Json:
        found, stream = self.session.jvm.java.util.Properties(), self.storage.open(path)
        try:
            found.load(stream)
        finally:
            stream.close()
        entries = {str(key): str(found.getProperty(key)) for key in found.stringPropertyNames()}
        if "hoodie.table.checksum" not in entries:
            return {"format": "properties", "entries": entries, "checksum": "absent"}
        is_valid = "hoodie.table.name" in entries and self.hudi.common.table.HoodieTableConfig.validateChecksum(found)
        return {"format": "properties", "entries": entries, "checksum": "valid" if is_valid else "wrong"}

    # log files

    def _blocks(self, path: Any, file: Path) -> list[Json]:
        log_file = self.hudi.common.model.HoodieLogFile(path, file.stat().st_size)
        schema = self._change_capture_schema(path, file)
        reader = self.hudi.common.table.log.HoodieLogFileReader(
            self.storage, log_file, schema, _BUFFER, False, False, "_hoodie_record_key"
        )
        try:
            found: list[Json] = []
            position = 0
            with file.open("rb") as data:
                while reader.hasNext():
                    block = self.drains.plain.next(reader)
                    shown = self._block(block, position, data)
                    position += shown["length"]
                    found.append(shown)
            return found
        finally:
            reader.close()

    def _change_capture_schema(self, path: Any, file: Path) -> Any:
        """The schema that the reader needs for CDC blocks; None for other blocks, whose own schema it uses."""
        with file.open("rb") as data:
            if not file.name.endswith(".cdc") and _int_at(data, 18) != _CHANGE_CAPTURE:
                return None
        stream = self.storage.openSeekable(path, _BUFFER, False)
        try:
            stream.seek(22)
            header = self.hudi.common.table.log.block.HoodieLogBlock.getHeaderMetadata(stream)
        finally:
            stream.close()
        schema = self.session.jvm.org.apache.avro.Schema.Parser().parse(json.loads(self.drains.plain.map(header))["SCHEMA"])
        return self.hudi.common.schema.HoodieSchema.fromAvroSchema(schema) if self.session.has_schema_class else schema

    def _block(self, block: Any, offset: int, data: Any) -> Json:
        """One block, which begins at the end of the previous one.

        The versions are read from the bytes, because the classes do not expose them.
        """
        told = json.loads(self.drains.plain.block(block))
        kind = _BLOCKS[told["type"]]
        if kind == "corrupt":
            return {"offset": offset, "length": told["content_at"] + told["content_length"] - offset, "type": kind}
        shown: Json = {
            "offset": offset,
            "length": told["end"] - offset,
            "type": kind,
            "version": _int_at(data, offset + 14),
            "header": told["header"],
            "footer": told["footer"],
        }
        if kind in _VERSIONED and told["content_length"] >= 4:
            shown["content_version"] = _int_at(data, told["content_at"])
        try:
            return shown | self._content(block, kind, shown["header"])
        except EngineError as error:
            return shown | {"error": str(error)}

    def _content(self, block: Any, kind: str, header: Mapping[str, str]) -> Json:
        found: Json = {}
        with in_contract_words():
            if kind in _ROWS:
                found["rows"] = self._rows(block.getRecordIterator(self._avro))
            if kind == "delete":
                found["deletes"] = [_delete(entry) for entry in json.loads(self.drains.plain.deletes(block))]
            if "RECORD_POSITIONS" in header:
                found["positions"] = self.drains.plain.positions(block.getRecordPositions(), _MOST_POSITIONS).split()
        return found

    @property
    def _avro(self) -> Any:
        return getattr(self.session.jvm, "org.apache.hudi.common.model.HoodieRecord$HoodieRecordType").AVRO

    def _rows(self, iterator: Any) -> list[Json]:
        data = bytes(self.drains.plain.records(iterator))
        return canonical_rows(self.drains.plain.schema(), frames(data)) if data else []

    # HFiles

    def _hfile(self, path: Any, size: int, keys: Sequence[str] | None, prefix: str | None) -> Json:
        hfile = _HBaseFile(self, path) if self.drains.hbase is not None else _NativeFile(self, path, size)
        try:
            shown = hfile.shape() | {"format": "hfile", "entries": _entries(hfile.entries(None, None))}
            info = {key.decode(): value for key, value in hfile.info()}
            filter_text = hfile.meta("bloomFilter")
            shown["info"] = {key: value.hex() for key, value in info.items()}
            shown["meta"] = {} if filter_text is None else {"bloomFilter": filter_text.hex()}
            if keys is not None or prefix is not None:
                shown["found"] = _entries(self._found(hfile, keys, prefix))
            if filter_text is not None:
                kind = info.get("bloomFilterTypeCode", b"SIMPLE").decode()
                shown["bloom"] = self._bloom(filter_text.decode(), kind, keys)
            return shown
        finally:
            hfile.close()

    def _found(self, hfile: Any, keys: Sequence[str] | None, prefix: str | None) -> list[tuple[bytes, bytes]]:
        """The matching entries in the order of the file; one that matches both a key and `prefix` is returned once."""
        begun = [] if prefix is None else hfile.entries(None, prefix)
        rows = {row for row, _ in begun}
        wanted = self.session.list_of(sorted({key for key in keys or () if key.encode() not in rows}, key=str.encode))
        return sorted([*begun, *hfile.entries(wanted, None)], key=lambda entry: entry[0])

    # base files

    def _base_file(self, path: Any, extension: str, keys: Sequence[str] | None) -> Json:
        utils = self.hudi.common.util.ParquetUtils() if extension == "parquet" else self.hudi.common.util.OrcUtils()
        factory = self.hudi.io.storage.HoodieIOFactory.getIOFactory(self.storage).getReaderFactory(self._avro)
        names = self.session.spark.sparkContext._gateway.new_array(self.session.jvm.java.lang.String, 4)
        for number, name in enumerate((*_FOOTER, _BLOOM_FILTER)):
            names[number] = name
        footer = json.loads(self.drains.plain.map(utils.readFooter(self.storage, False, path, names)))
        reader = factory.getFileReader(self.hudi.common.config.HoodieConfig(), path)
        shown: Json = {
            "format": extension,
            "rows": self._rows(reader.getRecordIterator()),
            "footer": {name: footer[name] for name in _FOOTER if name in footer},
        }
        reader.close()
        if _BLOOM_FILTER in footer:
            kind = footer.get("hoodie_bloom_filter_type_code", "SIMPLE")
            shown["bloom"] = self._bloom(footer[_BLOOM_FILTER], kind, keys)
        return shown

    def _bloom(self, text: str, kind: str, keys: Sequence[str] | None) -> Json:
        """A bloom filter. Hudi tests its keys; its parameters, which Hudi does not expose, come from the serialized form."""
        found = self.hudi.common.bloom.BloomFilterFactory.fromString(text, kind)
        written = base64.b64decode(found.serializeToString())
        _, hashes, _, bits = struct.unpack_from(">iiBi", written)
        shown = {"type": str(found.getBloomFilterTypeCode()), "hashes": hashes, "bits": str(bits)}
        return shown if keys is None else shown | {"may_hold": [bool(found.mightContain(key)) for key in keys]}


class _NativeFile:
    """An HFile, read by Hudi's own reader."""

    def __init__(self, files: Files, path: Any, size: int) -> None:
        self.drain = files.drains.plain
        self.reader = files.hudi.io.hfile.HFileReaderImpl(files.storage.openSeekable(path, _BUFFER, False), size)
        self.reader.initializeMetadata()

    def shape(self) -> Json:
        trailer = self.drain.hidden(self.reader, "trailer")
        return {"compression": _codec(trailer.getCompressionCodec()), "levels": trailer.getNumDataIndexLevels()}

    def entries(self, keys: Any, prefix: str | None) -> list[tuple[bytes, bytes]]:
        return pairs(bytes(self.drain.entries(self.reader, keys, prefix)))

    def info(self) -> list[tuple[bytes, bytes]]:
        return pairs(bytes(self.drain.info(self.reader)))

    def meta(self, name: str) -> bytes | None:
        found = self.reader.getMetaBlock(name)
        return bytes(self.drain.bytes(found.get())) if found.isPresent() else None

    def close(self) -> None:
        self.reader.close()


class _HBaseFile:
    """An HFile, read by HBase's reader, which the releases 1.0 use."""

    def __init__(self, files: Files, path: Any) -> None:
        jvm, hfile = files.session.jvm, files.hudi.org.apache.hadoop.hbase.io.hfile
        configuration = files.session.storage.unwrap()
        place = jvm.org.apache.hadoop.fs.Path(path.toUri())
        system = place.getFileSystem(configuration)
        self.drains = files.drains
        self.reader = hfile.HFile.createReader(system, place, hfile.CacheConfig(configuration), True, configuration)

    def shape(self) -> Json:
        trailer = self.reader.getTrailer()
        return {"compression": _codec(trailer.getCompressionCodec()), "levels": trailer.getNumDataIndexLevels()}

    def entries(self, keys: Any, prefix: str | None) -> list[tuple[bytes, bytes]]:
        return pairs(bytes(self.drains.hbase.entries(self.reader, keys, prefix)))

    def info(self) -> list[tuple[bytes, bytes]]:
        return pairs(bytes(self.drains.hbase.info(self.reader)))

    def meta(self, name: str) -> bytes | None:
        found = self.drains.hbase.meta(self.reader, name)
        return None if found is None else bytes(found)

    def close(self) -> None:
        self.reader.close()


def _codec(codec: Any) -> str:
    return {"GZIP": "gz", "GZ": "gz", "NONE": "none"}.get(str(codec), str(codec).lower())


def _entries(found: Sequence[tuple[bytes, bytes]]) -> list[Json]:
    return [{"key": row.decode("utf-8", "backslashreplace"), "value": value.hex()} for row, value in found]


def _delete(entry: Sequence[Any]) -> Json:
    key, partition, ordering = entry
    return {"key": key, "partition": partition, "ordering": _ordering(ordering)}


def _ordering(stored: Sequence[Any] | None) -> Json | None:
    if stored is None:
        return None
    name, value = stored
    if name == "ArrayComparable":
        return {"type": "array", "value": [_ordering(part) for part in value]}
    kind = _ORDERINGS.get(name)
    if kind is None:
        raise EngineError(f"an ordering value of class {name}")
    if kind == "decimal":
        return {"type": kind, "value": format(Decimal(value), "f")}
    return {"type": kind, "value": canonical_from_json(_PLAIN.get(kind, str)(value), kind)}


def _int_at(data: Any, offset: int) -> int:
    data.seek(offset)
    return int.from_bytes(data.read(4), "big", signed=True)
