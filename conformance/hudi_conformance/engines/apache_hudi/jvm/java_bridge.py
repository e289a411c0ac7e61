"""The access to Java of both adapters of Apache Hudi, independent of the library (Py4J or JPype)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any


class JavaBridge:
    """Hudi's classes in a Java virtual machine: `jvm.java…`, `jvm.org…`, `hudi` for `org.apache.hudi`."""

    version: str
    jvm: Any
    hudi: Any
    #: A HadoopStorageConfiguration.
    storage: Any
    #: Whether tables may be in an object store.
    has_object_store = False
    #: Whether a number from Java keeps its type when it is passed back.
    keeps_numbers = True

    @property
    def has_schema_class(self) -> bool:
        """Whether the release passes schemas as its own class and not as Avro's: since 1.2."""
        return not self.version.startswith(("1.0.", "1.1."))

    def engine_context(self) -> Any:
        """Hudi's HoodieEngineContext of the adapter."""
        raise NotImplementedError

    def upgrade_helper(self) -> Any:
        """Hudi's SupportsUpgradeDowngrade of the adapter's engine."""
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

    def array_of(self, kind: str, items: Sequence[Any]) -> Any:
        """The items as a Java array of that class."""
        arrays = self.jvm.java.lang.reflect.Array
        found = arrays.newInstance(self.jvm.java.lang.Class.forName(kind), len(items))
        for place, item in enumerate(items):
            arrays.set(found, place, item)
        return found

    def bytes_of(self, data: bytes) -> Any:
        """The bytes as a Java array."""
        return data

    def records_of(self, records: Iterable[Any]) -> Any:
        """Records, or keys of records, in the form that the write client accepts."""
        return self.list_of(records)

    def stored(self, statuses: Any) -> tuple[Iterable[Any], Any]:
        """The write statuses after the files are stored: as a list to check, and in the form to commit."""
        return statuses, statuses

    def replacing(self, client: Any, call: str, given: Any, instant: str) -> Any:
        """The result of a write that replaces file groups."""
        return getattr(client, call)(given, instant)

    def hidden(self, found: Any, name: str, *types: str) -> Callable[..., Any]:
        """A private Java method; of several, the one whose first parameters have these types."""
        owner = found.getClass()
        while owner is not None:
            for method in owner.getDeclaredMethods():
                takes = [str(kind.getSimpleName()) for kind in method.getParameterTypes()]
                if str(method.getName()) == name and takes[: len(types)] == list(types):
                    method.setAccessible(True)
                    return partial(_invoke, self, method, found)
            owner = owner.getSuperclass()
        raise AttributeError(name)

    def without_checksums(self, hadoop: Any) -> None:
        """Disable the .crc files that Hadoop's shared instance of the local file system writes by default."""
        self.jvm.org.apache.hadoop.fs.FileSystem.get(self.jvm.java.net.URI("file:///"), hadoop).setWriteChecksum(False)


def _invoke(bridge: JavaBridge, method: Any, found: Any, *given: Any) -> Any:
    return method.invoke(found, bridge.list_of(given).toArray())
