"""The Java virtual machine inside this process, through JPype, and what Hudi's Java client needs of it."""

import tempfile
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from hudi_conformance.engines.apache_hudi.jvm.java_bridge import JavaBridge
from hudi_conformance.engines.apache_hudi.jvm.session import JVM_FLAGS
from hudi_conformance.engines.apache_hudi_java.jars import class_path, java_library
from hudi_conformance.engines.support.environments import Progress, to_stderr

_DEFAULTS: Mapping[str, str] = {
    # Keys are looked up in the files of the table, as on Spark; the default of the client keeps them in memory only.
    "hoodie.index.type": "SIMPLE",
    # New keys go to file groups of their own. The client would put them into a small base file, of a slice with log files too,
    # and write that base file anew without its log files: what they say would be lost.
    "hoodie.parquet.small.file.limit": "0",
}
_OPENED = ("java.lang", "java.nio", "java.util", "java.net", "sun.nio.ch")


class Machine(JavaBridge):
    """The Java virtual machine of this process, which can be started once, with the client of one release."""

    def __init__(self, version: str, progress: Progress = to_stderr) -> None:
        import jpype.config

        self.version = version
        self._folder = tempfile.TemporaryDirectory(prefix="hudi-conformance-java-")
        jpype.config.destroy_jvm = False  # the shutdown would wait for threads of Hudi that never end
        jpype.startJVM(
            "-Xmx1g",
            *JVM_FLAGS.split(),
            "-Duser.timezone=UTC",
            "-Djol.skipHotspotSAAttach=true",  # measuring objects would look for an agent for ten seconds
            # The files of the JVM, and its report if it crashes, are deleted with this folder.
            f"-Djava.io.tmpdir={self._folder.name}",
            f"-XX:ErrorFile={self._folder.name}/hs_err.log",
            *(f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in _OPENED),
            jvmpath=java_library(),
            classpath=class_path(version, progress),
            convertStrings=True,
        )
        self.jvm = SimpleNamespace(java=jpype.JPackage("java"), org=jpype.JPackage("org"))
        self.hudi = self.jvm.org.apache.hudi
        log4j = self.jvm.org.apache.logging.log4j
        log4j.core.config.Configurator.setRootLevel(log4j.Level.FATAL)
        hadoop = self.jvm.org.apache.hadoop.conf.Configuration()
        self.storage = self.hudi.storage.hadoop.HadoopStorageConfiguration(hadoop)
        self.without_checksums(hadoop)

    def bytes_of(self, data: bytes) -> Any:
        """The bytes as a Java array, whose bytes are signed."""
        import jpype

        return jpype.JArray(jpype.JByte)(data)

    def engine_context(self) -> Any:
        """Hudi's engine context for plain Java, whose collections are lists."""
        return self.hudi.client.common.HoodieJavaEngineContext(self.storage)

    def upgrade_helper(self) -> Any:
        """What makes the write client and the table while the version changes."""
        return self.hudi.table.upgrade.JavaUpgradeDowngradeHelper.getInstance()

    def write_client(self, table: str, name: str, schema: str | None, settings: Mapping[str, str]) -> Any:
        """The write client of Hudi's Java engine."""
        config = self.write_config(table, name, schema, settings)
        return self.hudi.client.HoodieJavaWriteClient(self.engine_context(), config)

    def replacing(self, client: Any, call: str, given: Any, instant: str) -> Any:
        """An insert overwrite through the table object, because the client has no such call."""
        operation = self.hudi.common.model.WriteOperationType.INSERT_OVERWRITE
        table = client.initTable(operation, self.hudi.common.util.Option.of(instant))
        client.preWrite(instant, operation, table.getMetaClient())
        return getattr(table, call)(self.engine_context(), instant, given)

    def write_config(self, table: str, name: str, schema: str | None, settings: Mapping[str, str]) -> Any:
        """A HoodieWriteConfig for this engine."""
        builder = self.hudi.config.HoodieWriteConfig.newBuilder().withPath(table).forTable(name)
        if schema is not None:
            builder = builder.withSchema(schema)
        java = self.hudi.common.engine.EngineType.JAVA
        return builder.withProps(self.properties({**_DEFAULTS, **settings})).withEngineType(java).build()

    def stop(self) -> None:
        """Delete temporary files; the virtual machine stops with the process."""
        self._folder.cleanup()
