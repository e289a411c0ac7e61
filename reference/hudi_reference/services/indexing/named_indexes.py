"""Indexes that users name: creating them as `CREATE INDEX` does, and dropping indexes of any kind, as `DROP INDEX` does.

    create_index(table, "by_city", "city")                                        CREATE INDEX by_city ON t (city)
    create_index(table, "by_day", "ts", using="column_stats", function="to_date") CREATE INDEX by_day ON t USING
                                                                                  column_stats(ts) OPTIONS(expr='to_date')

The definition is stored under the lock in which the plan is published; the index is then built by the plan. To drop an index,
the properties are changed first, so that no process uses it any more; then its definition and its files are removed. An index
that is not maintained here can be dropped too: then the table can be written.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from hudi_reference.errors import Misuse, UnsupportedTableFeature
from hudi_reference.layout.metadata_settings import INFLIGHT, USABLE
from hudi_reference.layout.properties import read_properties
from hudi_reference.locks import hold_lock, new_owner
from hudi_reference.metadata.availability import METADATA_FOLDER, read_definitions, write_definitions
from hudi_reference.metadata.definitions import V1, IndexDefinition, version_at_creation
from hudi_reference.metadata.indexes.all import named_index
from hudi_reference.metadata.indexes.expression_index import check_expression
from hudi_reference.metadata.indexes.index import Index
from hudi_reference.metadata.indexes.secondary_index import check_column
from hudi_reference.metadata.partitions import BuiltIn, Kind, index_partition
from hudi_reference.query.table import Table
from hudi_reference.requirement import implements
from hudi_reference.schema.avro import arrow_schema
from hudi_reference.services.metadata_table.metadata_sync import MetadataSync
from hudi_reference.settings import boolean_setting
from hudi_reference.write.commit import transitions_of

Options = Mapping[str, str]
#: How an index is stored: a secondary index, or the kind of an expression index.
Using = Literal["secondary_index", "column_stats", "bloom_filters"]

_NAME = "hoodie.index.name"
_SECONDARY, _EXPRESSION = "hoodie.metadata.index.secondary", "hoodie.metadata.index.expression"
_KIND, _FUNCTION = "hoodie.expression.index.type", "hoodie.expression.index.function"
#: Names of indexes are names of folders.
_VALID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


@implements("IDX-022", "IDX-023", "IDX-032", "IDX-033")
def definition_of(
    name: str, column: str, using: Using = "secondary_index", function: str = "identity", options: Options | None = None
) -> IndexDefinition:
    """The definition of an index, of version V1. Raises Misuse for a name that is no name of a folder.

    Apache Hudi 1.2.0 fails to write to a table of version 8 with an expression index without a version, 1.0.2 ignores it.
    """
    if not _VALID.fullmatch(name):
        raise Misuse("not a name of an index", rule="IDX-001", expected="letters, digits, _, - and .", found=name)
    if using == "secondary_index":
        return IndexDefinition(index_partition(Kind.SECONDARY, name), using, function, (column,), dict(options or {}), V1)
    given = {"expr": function, **(options or {})}
    return IndexDefinition(index_partition(Kind.EXPRESSION, name), using, function, (column,), given, V1)


@implements("IDX-021", "IDX-032")
def definition_in(options: Options) -> IndexDefinition | None:
    """The index that settings of a writer by Hudi's names describe; None if they describe none."""
    if (column := options.get(f"{_SECONDARY}.column")) and boolean_setting(options, f"{_SECONDARY}.enable", default=True):
        return definition_of(options.get(_NAME, column), column)
    column = options.get(f"{_EXPRESSION}.column")
    if not column or not boolean_setting(options, f"{_EXPRESSION}.enable"):
        return None
    pairs = (part.partition("=") for part in options.get(f"{_EXPRESSION}.options", "").split(",") if part)
    given = {key.strip(): value for key, _, value in pairs}
    function = given.pop("expr", options.get(_FUNCTION, "identity"))
    using: Using = "bloom_filters" if options.get(_KIND, "").lower() == BuiltIn.BLOOM_FILTERS else "column_stats"
    return definition_of(options.get(_NAME, column), column, using, function, given)


def in_table(definition: IndexDefinition, table: Table) -> IndexDefinition:
    """The definition with the version of a new index in this table."""
    return replace(definition, version=version_at_creation(definition.partition, table.properties.version))


@implements("IDX-021", "IDX-034")
def check_definition(table: Table, definition: IndexDefinition, indexes: Iterable[str]) -> Index:
    """The index of a definition, if this table can have it; `indexes` are those that it has or gets with it.

    Raises UnsupportedTableFeature for functions and types that cannot be indexed, and for a secondary index of a table without
    a record index; Misuse for a column that the table lacks.
    """
    index, schema = named_index(definition), arrow_schema(table.view().schema)
    check = check_column if definition.kind == Kind.SECONDARY else check_expression
    check(definition, schema, table.properties)
    if definition.kind == Kind.SECONDARY and BuiltIn.RECORD_INDEX not in set(indexes):
        raise UnsupportedTableFeature(
            "a secondary index of a table without a record index, which has the places of its records", rule="IDX-021",
            expected="hoodie.metadata.record.index.enable=true", found=", ".join(indexes),
        )  # fmt: skip
    return index


def store_definition(sync: MetadataSync, definition: IndexDefinition) -> None:
    """Add a definition to those of the table, or replace the one of its partition, while the lock is held."""
    table = sync.table
    others = (one for one in read_definitions(table.storage, table.properties) if one.partition != definition.partition)
    _store(sync, (*others, definition))


@implements("IDX-021", "IDX-022")
def drop_definitions(sync: MetadataSync, partitions: Iterable[str]) -> None:
    """Remove the definitions of partitions, while the lock is held; nothing if there are none."""
    dropped, found = set(partitions), read_definitions(sync.table.storage, sync.table.properties)
    if kept := tuple(one for one in found if one.partition not in dropped):
        if kept != found:
            _store(sync, kept)
    elif found:
        _store(sync, ())


def _store(sync: MetadataSync, definitions: Iterable[IndexDefinition]) -> None:
    table = sync.table
    properties = write_definitions(table.storage, table.properties, table.clock, definitions, sync.times.lock, owner=sync.owner)
    sync.table = replace(table, properties=properties)


@dataclass(frozen=True)
class DropPlan:
    """What would be dropped: partitions of the metadata table, and the paths of their files below the base path."""

    partitions: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


@implements("IDX-021", "PROP-012")
def plan_drop(table: Table, name: str) -> DropPlan:
    """What dropping the index of this name would delete; nothing if there is no such index. Changes nothing.

    The index `files` is the whole metadata table, and statistics of partitions are dropped with those of columns.

    Raises Misuse for an index that is being built, and for a record index on which secondary indexes depend.
    """
    properties = read_properties(table.storage)
    usable, building = properties.fields(USABLE), properties.fields(INFLIGHT)
    defined = {one.partition for one in read_definitions(table.storage, properties)}
    named = {name, *(index_partition(kind, name) for kind in Kind)}
    found = named & {*usable, *building, *defined}
    if found & set(building):
        raise Misuse("the index is being built", rule="IDX-021", expected="a usable index", found=name)
    if BuiltIn.FILES in found:
        found = {*usable, *building}
    if BuiltIn.COLUMN_STATS in found:
        found |= {BuiltIn.PARTITION_STATS.value} & set(usable)
    dependent = [one for one in usable if one.startswith(f"{Kind.SECONDARY}_") and one not in found]
    if BuiltIn.RECORD_INDEX in found and dependent:
        raise Misuse(
            "secondary indexes need the record index", rule="IDX-021", found=", ".join(dependent), remedy="drop them first"
        )
    folders = [METADATA_FOLDER] if BuiltIn.FILES in found else [f"{METADATA_FOLDER}/{one}" for one in sorted(found)]
    return DropPlan(tuple(sorted(found)), tuple(info.path for one in folders for info in table.storage.list(f"{one}/")))


@implements("IDX-021", "PROP-012")
def drop_index(table: Table, name: str) -> bool:
    """Drop the index of this name, under the lock of the table.

    Returns:
        Whether there was such an index.

    Raises:
        Misuse: the index is being built, or secondary indexes depend on it.
    """
    transitions, owner = transitions_of(table), new_owner(f"drop the index {name}")
    with hold_lock(transitions.times.lock, owner):
        dropped = plan_drop(table, name).partitions
        sync = MetadataSync.for_table(table, transitions.times, owner, dropping=dropped)
        if BuiltIn.FILES in dropped:
            sync.drop()
        else:
            for partition in dropped:
                sync.drop_partition(partition)
        if dropped:
            drop_definitions(sync, dropped)
    return bool(dropped)
