"""Write the files of `apache_hudi_files.py` with Apache Hudi; runs in the Python environment of that engine.

    python -m tools.corpus.base.apache_hudi_writer --version 1.0.2 [--only PATTERN] [--refreeze]

Files are frozen: an existing file is replaced only with --refreeze.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from tools.corpus.base import apache_hudi_files
from tools.corpus.base.apache_hudi_files import HudiFile
from tools.corpus.base.apache_hudi_rows import BASE_INSTANT, FILE_ID, INSTANT, TOKEN, encode_rows, schema_text
from tools.corpus.writing import FIXTURES

#: Small filters, because the default filter for 60,000 entries has 430 kB.
CONFIG = {
    "hoodie.table.name": "corpus",
    "hoodie.index.bloom.num_entries": "10",
    "hoodie.index.bloom.fpp": "0.01",
    "hoodie.bloom.index.filter.dynamic.max.entries": "20",
    "hoodie.parquet.compression.codec": "gzip",
}


class Writer:
    """The writers of one release."""

    def __init__(self, version: str) -> None:
        from hudi_conformance.engines.apache_hudi.jvm.log_drain import java_object
        from hudi_conformance.engines.apache_hudi.jvm.session import Session

        self.session = Session(version)
        self.deletes = java_object(self.session, Path(__file__).with_name("HudiDeletes.java"))
        self.hudi, self.jvm, self.version = self.session.hudi, self.session.jvm, version
        self.storage = self.hudi.storage.HoodieStorageUtils.getStorage("file:///", self.session.storage)

    def write(self, made: HudiFile, folder: Path) -> Path:
        """Write the file into the folder; return its path."""
        path = folder / made.file
        if made.blocks:
            self._log_file(made, folder)
        else:
            self._base_file(made, path)
        return path

    def _log_file(self, made: HudiFile, folder: Path) -> None:
        builder = self.hudi.common.table.log.HoodieLogFormat.newWriterBuilder()
        builder = builder.onParentPath(self._path(folder)).withFileExtension(".log").withFileId(FILE_ID)
        builder = builder.withInstantTime(INSTANT).withLogWriteToken(TOKEN).withLogVersion(1).withFileSize(0)
        builder = builder.withStorage(self.storage).withTableVersion(self._enum("common.table.HoodieTableVersion", "EIGHT"))
        if made.file.endswith(".cdc"):
            builder = builder.withSuffix(".cdc")
        writer = builder.build()
        writer.appendBlocks(self.session.list_of(self._block(block) for block in made.blocks))
        writer.close()

    def _block(self, block: Mapping[str, Any]) -> Any:
        header = self.jvm.java.util.HashMap()
        for key, value in block["header"].items():
            # The block writes the positions itself, from those of its records.
            if key != "RECORD_POSITIONS":
                header.put(self._enum("common.table.log.block.HoodieLogBlock$HeaderMetadataType", key), value)
        return _BLOCKS[block["type"]](self, block, header)

    def avro(self, block: Mapping[str, Any], header: Any) -> Any:
        """A data block of Avro records."""
        return self.hudi.common.table.log.block.HoodieAvroDataBlock(self._records(block), header, "_hoodie_record_key")

    def parquet(self, block: Mapping[str, Any], header: Any) -> Any:
        """A data block that is a Parquet file."""
        blocks = self.hudi.common.table.log.block
        return blocks.HoodieParquetDataBlock(self._records(block), header, "_hoodie_record_key", "gzip", 0.1, True)

    def hfile(self, block: Mapping[str, Any], header: Any) -> Any:
        """A data block that is an HFile. In 1.0.2 HBase writes it."""
        where = self._path(Path("/unused"))
        kind = self.hudi.common.table.log.block.HoodieHFileDataBlock
        more = (False,) if self.version.startswith("1.0.") else ()
        return kind(self._records(block), header, "gz", where, *more)

    def cdc(self, block: Mapping[str, Any], header: Any) -> Any:
        """A block of changes."""
        return self.hudi.common.table.log.block.HoodieCDCDataBlock(self._records(block), header, "op")

    def command(self, block: Mapping[str, Any], header: Any) -> Any:
        """A rollback."""
        return self.hudi.common.table.log.block.HoodieCommandBlock(header)

    def delete(self, block: Mapping[str, Any], header: Any) -> Any:
        """A delete block, with positions if the block has them."""
        places = block.get("positions") or ["-1"] * len(block["given"])
        keys, kinds, texts = (self.session.list_of(part) for part in zip(*block["given"], strict=True))
        entries = self.deletes.of(keys, kinds, texts, self.session.list_of(places))
        return self.hudi.common.table.log.block.HoodieDeleteBlock(entries, header)

    def _records(self, block: Mapping[str, Any]) -> Any:
        model = self.hudi.common.model
        places = block.get("positions") or [None] * len(block["given"])
        records = []
        for record, row, place in zip(self._avro_records(block["schema"], block["given"]), block["given"], places, strict=True):
            key = model.HoodieKey(row.get("_hoodie_record_key", ""), "")
            records.append(model.HoodieAvroIndexedRecord(key, record))
            if place is not None:
                records[-1].setCurrentLocation(model.HoodieRecordLocation(BASE_INSTANT, FILE_ID, int(place)))
        return self.session.list_of(records)

    def _path(self, path: Path) -> Any:
        return self.hudi.storage.StoragePath(path.as_uri())

    def _enum(self, kind: str, name: str) -> Any:
        return getattr(getattr(self.jvm, f"org.apache.hudi.{kind}"), name)

    def _base_file(self, made: HudiFile, path: Path) -> None:
        """A base file with its meta columns, min and max keys and bloom filter, by the writer of its extension."""
        config = self._config(made.options)
        avro = self._schema(made.schema)
        kind = self._enum("common.model.HoodieRecord$HoodieRecordType", "AVRO")
        supplier = self.hudi.common.engine.LocalTaskContextSupplier()
        factory = self.hudi.io.storage.HoodieFileWriterFactory
        writer = factory.getFileWriter(INSTANT, self._path(path), self.storage, config, avro, supplier, kind)
        for record, row in zip(self._avro_records(made.schema, made.rows), made.rows, strict=True):
            if made.with_meta:
                writer.writeAvroWithMetadata(self.hudi.common.model.HoodieKey(row["id"], ""), record)
            else:
                writer.writeAvro(row["key"], record)
        writer.close()

    def _config(self, options: Mapping[str, str]) -> Any:
        builder = self.hudi.config.HoodieWriteConfig.newBuilder().withPath("/unused")
        return builder.withProps(self.session.properties({**CONFIG, **options})).build()

    def _schema(self, schema: Mapping[str, Any]) -> Any:
        avro = self.jvm.org.apache.avro.Schema.Parser().parse(schema_text(schema))
        return avro if self.version.startswith("1.0.") else self.hudi.common.schema.HoodieSchema.fromAvroSchema(avro)

    def _avro_records(self, schema: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> list[Any]:
        avro = self.jvm.org.apache.avro.Schema.Parser().parse(schema_text(schema))
        bytes_to_avro = self.hudi.avro.HoodieAvroUtils.bytesToAvro
        return [bytes_to_avro(bytearray(data), avro) for data in encode_rows(schema, rows)]


_BLOCKS: Mapping[str, Callable[[Writer, Mapping[str, Any], Any], Any]] = {
    "avro": Writer.avro,
    "parquet": Writer.parquet,
    "hfile": Writer.hfile,
    "cdc": Writer.cdc,
    "command": Writer.command,
    "delete": Writer.delete,
}


def main() -> int:
    """Write the missing files, or all selected files."""
    parser = argparse.ArgumentParser(prog="tools.corpus.base.apache_hudi_writer", description=__doc__)
    parser.add_argument("--version", required=True)
    parser.add_argument("--only", default="*", help="pattern of case ids")
    parser.add_argument("--refreeze", action="store_true", help="replace committed files")
    asked = parser.parse_args()
    writer = Writer(asked.version)
    for made in apache_hudi_files.list_files():
        target = FIXTURES / made.area / made.name / "bytes" / made.file
        if made.version != asked.version or not fnmatch(f"{made.area}.{made.name}", asked.only):
            continue
        if asked.refreeze or not target.exists():
            with tempfile.TemporaryDirectory() as folder:
                data = writer.write(made, Path(folder)).read_bytes()
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
            print(f"written  {made.area}.{made.name}  {len(data)} bytes", flush=True)
    writer.session.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
