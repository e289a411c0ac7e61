"""Reads HFiles with the classes of Apache Hudi's bundle, for tests; run by the python of the extra `apache-hudi`.

`java_hfile.py VERSION` takes a list of jobs as JSON on standard input, `{"path", "keys": [...], "schema": null or text}`, and
answers with a list of what each reader found: `native` is Apache Hudi's own reader, `hbase` the one of HBase (1.0.2 only),
`records` and `prefixed` are what Apache Hudi's reader of Avro records on top of HBase makes of them.
"""

import base64
import json
import sys
from pathlib import Path

import pyspark
from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway

from hudi_conformance.engines.apache_hudi.jvm.bundle import bundle
from hudi_conformance.engines.support.environments import ensure_java

JARS = Path(pyspark.__file__).parent / "jars"


class Java:
    """The bundle of one release in a JVM that ends with this process."""

    def __init__(self, version):
        self.version = version
        ensure_java()
        (py4j,) = JARS.glob("py4j*.jar")
        port = launch_gateway(classpath=f"{bundle(version)}:{JARS}/*", jarpath=str(py4j), die_on_exit=True)
        self.gateway = JavaGateway(gateway_parameters=GatewayParameters(port=port))
        self.jvm = self.gateway.jvm
        self.hudi = self.jvm.org.apache.hudi
        self.hbase = self.hudi.org.apache.hadoop.hbase
        self.conf = self.jvm.org.apache.hadoop.conf.Configuration()

    def native(self, path, keys):
        data = Path(path).read_bytes()
        streams = self.hudi.common.util.io if self.version == "1.0.2" else self.hudi.io
        buffer = streams.ByteBufferBackedInputStream(bytearray(data))
        reader = self.hudi.io.hfile.HFileReaderImpl(self.hudi.io.ByteArraySeekableDataInputStream(buffer), len(data))
        reader.initializeMetadata()
        entries, more = [], reader.seekTo()
        while more:
            entries.append(self._pair(reader.getKeyValue().get()))
            more = reader.next()
        info = reader.getMetaInfo(self.hudi.io.hfile.UTF8StringKey("schema"))
        meta = reader.getMetaBlock("bloomFilter")
        reader.seekTo()
        found = {key: reader.seekTo(self.hudi.io.hfile.UTF8StringKey(key)) == 0 for key in sorted(keys, key=str.encode)}
        return {
            "entries": entries,
            "count": reader.getNumKeyValueEntries(),
            "schema": bytes(info.get()).decode() if info.isPresent() else None,
            "meta": self._text(meta.get()) if meta.isPresent() else None,
            "found": found,
        }

    def _pair(self, pair):
        start, length = pair.getValueOffset(), pair.getValueLength()
        return [pair.getKey().getContentInString(), encoded(pair.getBytes()[start : start + length])]

    def _text(self, buffer):
        return str(self.jvm.java.nio.charset.StandardCharsets.ISO_8859_1.decode(buffer))

    def by_hbase(self, path):
        place = self.jvm.org.apache.hadoop.fs.Path(path)
        files = self.hbase.io.hfile
        reader = files.HFile.createReader(place.getFileSystem(self.conf), place, files.CacheConfig(self.conf), True, self.conf)
        scanner = reader.getScanner(False, False)
        entries, more = [], scanner.seekTo()
        while more:
            cell, util = scanner.getCell(), self.hbase.CellUtil
            entries.append([bytes(util.cloneRow(cell)).decode(), encoded(util.cloneValue(cell))])
            more = scanner.next()
        reader.close()
        return {"entries": entries}

    def records(self, path, schema, keys):
        storage = self.hudi.storage.hadoop.HadoopStorageConfiguration(self.conf)
        avro = self.jvm.org.apache.avro.Schema.Parser().parse(schema)
        place = self.hudi.storage.StoragePath(path)
        reader = self.hudi.io.hadoop.HoodieHBaseAvroHFileReader(storage, place, self.hudi.common.util.Option.of(avro))
        wanted = self.jvm.java.util.ArrayList()
        for key in sorted(keys, key=str.encode):
            wanted.add(key)
        found = {
            "all": texts(reader.getIndexedRecordIterator(avro, avro)),
            "by_key": texts(reader.getIndexedRecordsByKeysIterator(wanted, avro)),
            "by_prefix": texts(reader.getIndexedRecordsByKeyPrefixIterator(wanted, avro)),
            "range": list(reader.readMinMaxRecordKeys()),
        }
        reader.close()
        return found


def texts(iterator):
    found = []
    while iterator.hasNext():
        found.append(json.loads(iterator.next().toString()))
    return found


def encoded(data):
    return base64.b64encode(bytes(data)).decode()


def main(version):
    java = Java(version)
    answers = []
    for job in json.load(sys.stdin):
        answer = {"native": java.native(job["path"], job["keys"])}
        if version == "1.0.2":
            answer["hbase"] = java.by_hbase(job["path"])
            if job["schema"]:
                answer["records"] = java.records(job["path"], job["schema"], job["keys"])
        answers.append(answer)
    json.dump(answers, sys.stdout)
    java.gateway.shutdown()


if __name__ == "__main__":
    main(sys.argv[1])
