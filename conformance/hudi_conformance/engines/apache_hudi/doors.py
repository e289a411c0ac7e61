"""The few Java doors that both adapters of Apache Hudi go through, whichever bridge leads from Python to Java."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any


class Doors:
    """Hudi's classes in a Java virtual machine: `jvm.java…`, `jvm.org…`, `hudi` for `org.apache.hudi`."""

    version: str
    jvm: Any
    hudi: Any
    #: A HadoopStorageConfiguration.
    storage: Any
    #: Whether tables may lie in an object store.
    has_object_store = False

    def engine_context(self) -> Any:
        """Hudi's HoodieEngineContext of the adapter."""
        raise NotImplementedError

    def write_client(self, table: str, name: str, schema: str | None, settings: Mapping[str, str]) -> Any:
        """A write client for one table, whose rows have the Avro schema `schema`; the caller closes it."""
        raise NotImplementedError

    def meta_client(self, table: str) -> Any:
        """Hudi's HoodieTableMetaClient of the table, freshly loaded."""
        builder = self.hudi.common.table.HoodieTableMetaClient.builder()
        return builder.setConf(self.storage).setBasePath(table).setLoadActiveTimelineOnLoad(True).build()

    def properties(self, entries: Mapping[str, str]) -> Any:
        """`entries` as java.util.Properties."""
        found = self.jvm.java.util.Properties()
        for key, value in entries.items():
            found.setProperty(key, value)
        return found

    def list_of(self, items: Iterable[Any]) -> Any:
        """The items as a java.util.ArrayList."""
        found = self.jvm.java.util.ArrayList()
        for item in items:
            found.add(item)
        return found

    def hidden(self, found: Any, name: str) -> Callable[..., Any]:
        """A method of a Java object that its class keeps to itself."""
        kind = found.getClass()
        while kind is not None:
            for method in kind.getDeclaredMethods():
                if str(method.getName()) == name:
                    method.setAccessible(True)
                    return lambda *given: method.invoke(found, self.objects(given))
            kind = kind.getSuperclass()
        raise AttributeError(name)

    def objects(self, given: Sequence[Any]) -> Any:
        """The values as a Java array of objects."""
        found = self.list_of(given)
        return found.toArray()

    def without_checksums(self, hadoop: Any) -> None:
        """No .crc file beside every file: Hadoop's local file system, one shared instance, writes them unless told not to."""
        self.jvm.org.apache.hadoop.fs.FileSystem.get(self.jvm.java.net.URI("file:///"), hadoop).setWriteChecksum(False)
