"""What Apache Hudi makes of base files and bloom filters, for tests; run by the python of the extra `apache-hudi`.

`java_base_files.py VERSION` takes a list of jobs as JSON on standard input and answers with a list of what came out, each a value
or `{"error": text}`. A job is one of

    {"do": "filter", "type", "text", "keys"}                        which keys the filter may hold
    {"do": "make", "type", "entries", "rate", "max_entries", "keys"}  the filter as text
    {"do": "footer", "path", "keys"}                                least and greatest key, and which keys the filter may hold
    {"do": "write", "table", "select", "options", "mode"}           a write of the data source with the rows of a SELECT
    {"do": "read", "table"}                                         the rows of a snapshot
"""

import json
import os
import sys
from typing import Any

from hudi_conformance.engines.apache_hudi.jvm.session import Session

WRITE = {
    "hoodie.write.table.version": "8",
    "hoodie.write.auto.upgrade": "false",
    "hoodie.metadata.enable": "false",
    "hoodie.embed.timeline.server": "false",
    "hoodie.write.markers.type": "DIRECT",
    "hoodie.clean.automatic": "false",
    "hoodie.archive.automatic": "false",
    "hoodie.upsert.shuffle.parallelism": "1",
    "hoodie.insert.shuffle.parallelism": "1",
    "hoodie.bloom.index.parallelism": "1",
}


class Engine:
    """A Spark session with the bundle of one release."""

    def __init__(self, version: str) -> None:
        self.session = Session(version)
        self.bloom = self.session.hudi.common.bloom.BloomFilterFactory

    def do(self, job: dict[str, Any]) -> Any:
        """The outcome of one job."""
        match job["do"]:
            case "filter":
                return self.held(self.bloom.fromString(job["text"], job["type"]), job["keys"])
            case "make":
                made = self.bloom.createBloomFilter(job["entries"], job["rate"], job["max_entries"], job["type"])
                for key in job["keys"]:
                    made.add(key)
                return made.serializeToString()
            case "footer":
                return self.footer(job)
            case "write":
                frame = self.session.spark.sql(job["select"])
                frame.write.format("hudi").options(**WRITE, **job["options"]).mode(job["mode"]).save(job["table"])
                return None
            case _:
                frame = self.session.spark.read.format("hudi").options(**job.get("options", {})).load(job["table"])
                return [json.loads(row) for row in frame.toJSON().collect()]

    def held(self, bloom: Any, keys: list[str]) -> list[bool]:
        return [bloom.mightContain(key) for key in keys]

    def footer(self, job: dict[str, Any]) -> dict[str, Any]:
        hudi, path = self.session.hudi, self.session.hudi.storage.StoragePath(job["path"])
        storage = hudi.storage.HoodieStorageUtils.getStorage(path, self.session.storage)
        utils = hudi.io.storage.HoodieIOFactory.getIOFactory(storage).getFileFormatUtils(path)
        bloom = utils.readBloomFilterFromMetadata(storage, path)
        return {
            "range": list(utils.readMinMaxRecordKeys(storage, path)),
            "held": None if bloom is None else self.held(bloom, job["keys"]),
            "keys": sorted(str(key) for key in utils.readRowKeys(storage, path)),
        }


def root_cause(error: Exception) -> str:
    """The innermost causes that a Java stack trace names."""
    lines = [line.strip() for line in str(error).splitlines() if "Exception" in line or "Error" in line]
    return " | ".join(dict.fromkeys(line[:300] for line in lines[-4:])) or repr(error)


def main(version: str) -> None:
    """Do all jobs in one session."""
    out = os.dup(1)
    os.dup2(2, 1)  # what Java prints is no answer
    engine = Engine(version)
    answers = []
    for job in json.load(sys.stdin):
        try:
            answers.append(engine.do(job))
        except Exception as error:
            answers.append({"error": root_cause(error)})
    engine.session.stop()
    with os.fdopen(out, "w") as answer:
        json.dump(answers, answer)


if __name__ == "__main__":
    main(sys.argv[1])
