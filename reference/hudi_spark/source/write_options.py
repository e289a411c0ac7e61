"""The options of a write: operation, the properties of a table that it creates, and settings of the writer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import pyarrow as pa

from hudi_reference import WritableTable, create_table
from hudi_reference.errors import Misuse, TableNotFound
from hudi_reference.layout.merge_settings import SETTINGS, MergeSettings
from hudi_reference.layout.property_table import KEY_GENERATORS
from hudi_reference.schema.avro import META_COLUMNS
from hudi_reference.schema.from_arrow import avro_field
from hudi_reference.services.setting_names import FREE, SETTINGS_OF_WRITERS, check_known
from hudi_spark.arrow import with_times_in_microseconds
from hudi_spark.read import open_shared, shared_uri

Operation = Literal[
    "upsert", "insert", "bulk_insert", "delete", "partial_update", "insert_overwrite", "insert_overwrite_table",
    "delete_partition",
]  # fmt: skip
OPERATIONS: tuple[Operation, ...] = Operation.__args__  # type: ignore[attr-defined]
OPERATION = ("hoodie.datasource.write.operation", "operation")
#: What identifies a table -> its names in options of writers, then as a property.
_IDENTITY = {
    "name": ("hoodie.table.name", "hoodie.datasource.write.table.name"),
    "record_key": ("hoodie.datasource.write.recordkey.field", "hoodie.table.recordkey.fields"),
    "partition": ("hoodie.datasource.write.partitionpath.field", "hoodie.table.partition.fields"),
    "table_type": ("hoodie.datasource.write.table.type", "hoodie.table.type"),
    "version": ("hoodie.write.table.version", "hoodie.table.version"),
    "hive_style": ("hoodie.datasource.write.hive_style_partitioning",),
    "url_encode": ("hoodie.datasource.write.partitionpath.urlencode",),
    "database": ("hoodie.database.name",),
}
#: Options of writers -> table properties that they set.
_PROPERTIES = {
    "hoodie.datasource.write.keygenerator.class": "hoodie.table.keygenerator.class",
    "hoodie.datasource.write.keygenerator.type": "hoodie.table.keygenerator.type",
    "hoodie.populate.meta.fields": "hoodie.populate.meta.fields",
    "hoodie.datasource.write.drop.partition.columns": "hoodie.datasource.write.drop.partition.columns",
}
#: Of streams: what identifies the query that writes.
STREAM_ID = "hoodie.datasource.write.streaming.checkpoint.identifier"
#: Options of Spark that a sink is given and does not need.
_OF_SPARK = ("checkpointlocation", "path", "queryname")
WRITING = (
    *OPERATION,
    *(name for names in _IDENTITY.values() for name in names),
    *_PROPERTIES,
    STREAM_ID,
    *SETTINGS_OF_WRITERS,
)


@dataclass(frozen=True)
class WriteOptions:
    """Parsed options: the operation, what identifies the table, properties of a new table, settings of the writer."""

    #: None if no option names it: an upsert, as for deployed writers, or an insert into a table that generates its keys.
    operation: Operation | None
    identity: Mapping[str, str] = field(default_factory=dict)
    properties: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, options: Mapping[str, str]) -> "WriteOptions":
        """Read options. Raises Misuse for unknown and contradictory ones."""
        lower = {name if name.startswith("_") else name.lower(): value for name, value in options.items()}
        given = {name: value for name, value in lower.items() if name not in _OF_SPARK}
        check_known((n for n in given if not n.startswith(FREE)), WRITING)
        operation = _only("operation", {given[name].strip().lower() for name in OPERATION if name in given})
        if operation is not None and operation not in OPERATIONS:
            raise Misuse("unknown operation", expected=", ".join(OPERATIONS), found=operation)
        identity: dict[str, str] = {}
        for what, names in _IDENTITY.items():
            said = _only(what, {_FORMS.get(what, str.strip)(given[name]) for name in names if name in given})
            if said is not None:
                identity[what] = said
        named = {name for names in _IDENTITY.values() for name in names}
        properties = {_PROPERTIES.get(n, n): v for n, v in given.items() if n in _PROPERTIES or n.startswith("hoodie.table.")}
        properties = {name: value for name, value in properties.items() if name not in named}
        settings = {n: v for n, v in given.items() if n not in named and n not in (*OPERATION, *_PROPERTIES, STREAM_ID)}
        settings = {n: v for n, v in settings.items() if not n.startswith("hoodie.table.") or n in _OF_MERGING}
        return cls(operation, identity, properties, settings)

    def table_at(self, uri: str) -> WritableTable | None:
        """The table, if there is one and it is the one that the options describe. Raises Misuse."""
        try:
            table = open_shared(uri)
        except TableNotFound:
            return None
        stored = table.properties
        fields = {"record_key": ",".join(stored.record_key), "partition": stored.get("hoodie.table.partition.fields") or ""}
        found = {
            **fields, "name": stored.get("hoodie.table.name"), "table_type": stored.get("hoodie.table.type"),
            "version": str(stored.version), "database": stored.get("hoodie.database.name"),
            "hive_style": stored.get("hoodie.datasource.write.hive_style_partitioning") or "false",
            "url_encode": stored.get("hoodie.datasource.write.partitionpath.urlencode") or "false",
            "ordering": ",".join(stored.ordering_fields), "keygenerator": _generator_of(stored.get),
        }  # fmt: skip
        wanted = {**self.identity, **{name: ",".join(_split(self.identity[name])) for name in fields if name in self.identity}}
        said = {"ordering": ",".join(MergeSettings.from_options(self.settings).ordering),
                "keygenerator": _generator_of(self.properties.get)}  # fmt: skip
        wanted |= {what: value for what, value in said.items() if value}
        for what, value in wanted.items():
            if found.get(what, value) != value:
                raise Misuse(
                    f"the table has another {what}", rule="PROP-006", expected=found[what], found=value,
                    remedy="leave the option out, or write to another path",
                )  # fmt: skip
        for name, value in self.properties.items():
            if name not in _OF_MERGING and stored.get(name) not in (None, value):
                raise Misuse("a write cannot change a property of the table", rule="PROP-006", path=name,
                             expected=stored.get(name), found=value, remedy="leave the option out")  # fmt: skip
        return table

    def create(self, uri: str, columns: pa.Schema) -> WritableTable:
        """A new table with these columns. Raises Misuse if the options do not name it."""
        if "name" not in self.identity:
            raise Misuse("a new table needs a name", rule="PROP-005", expected="the option hoodie.table.name", found="no name")
        said = self.identity
        record = {"type": "record", "name": f"{said['name']}_record", "namespace": f"hoodie.{said['name']}"}
        fields = [one for one in with_times_in_microseconds(columns) if one.name not in META_COLUMNS]
        space = f"hoodie.{said['name']}.{said['name']}_record"
        keys = {name: _split(said.get(name, "")) for name in ("record_key", "partition")}
        flags = {name: said[name] == "true" for name in ("hive_style", "url_encode") if name in said}
        kind = {"table_type": said["table_type"]} if "table_type" in said else {}
        number = {"version": int(said["version"])} if "version" in said else {}
        base = {"database": said["database"]} if "database" in said else {}
        chosen: dict[str, Any] = {**keys, **flags, **kind, **number, **base}
        schema = {**record, "fields": [avro_field(one, space) for one in fields]}
        return create_table(shared_uri(uri), name=said["name"], schema=schema, properties=self.properties,
                            options=self.settings, **chosen)  # fmt: skip


_OF_MERGING = frozenset(name for names in SETTINGS.values() for name in names)


def _only(what: str, said: set[str]) -> str | None:
    """The one value that options give, None if there is none. Raises Misuse for several."""
    if len(said) > 1:
        raise Misuse("two options contradict each other", expected=f"one {what}", found=", ".join(sorted(said)))
    return said.pop() if said else None


def _flag(text: str) -> str:
    if text.strip().lower() not in ("true", "false"):
        raise Misuse("a flag is true or false", expected="true or false", found=text)
    return text.strip().lower()


def _version(text: str) -> str:
    if not text.strip().isdecimal():
        raise Misuse("the table version is not a number", rule="PROP-006", expected="a table version", found=text)
    return text.strip()


#: How the values of an option are compared; other values as they are, without spaces around them.
_FORMS: Mapping[str, Callable[[str], str]] = {
    "table_type": lambda text: text.strip().upper(), "version": _version, "hive_style": _flag, "url_encode": _flag,
}  # fmt: skip


def _generator_of(get: Callable[[str], str | None]) -> str | None:
    """The type of a key generator that properties name, by its type or its class."""
    name, kind = get("hoodie.table.keygenerator.class"), get("hoodie.table.keygenerator.type")
    return kind or next((kind for kind, known in KEY_GENERATORS.items() if known == name), name)


def _split(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())
