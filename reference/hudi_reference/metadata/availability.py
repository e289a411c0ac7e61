"""Which partitions of the metadata table are usable, and what they index, spec "Table Properties", "Storage Layout".

The table's properties list them. A partition that is not listed may be out of date or incomplete.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from hudi_reference.clock import Clock
from hudi_reference.errors import InvalidQuery, MalformedMetadata, PathOutsideTable
from hudi_reference.layout.metadata_settings import INFLIGHT, USABLE
from hudi_reference.layout.properties import META_FOLDER, TableProperties
from hudi_reference.layout.properties_writer import update_properties
from hudi_reference.locks import Lock, lock_of
from hudi_reference.metadata.definitions import V1, IndexDefinition, dump_definitions, parse_definitions, version_at_creation
from hudi_reference.metadata.partitions import BuiltIn
from hudi_reference.query.table import Table
from hudi_reference.requirement import implements
from hudi_reference.storage import Storage
from hudi_reference.timeline.instants.times import format_time

METADATA_FOLDER = f"{META_FOLDER}/metadata"
DEFINITIONS_PATH = f"{META_FOLDER}/.index_defs/index.json"
PATH_KEY = "hoodie.table.index.defs.path"

#: The partitions that can be read without a definition. The Java client of Apache Hudi stores none for statistics.
_WITHOUT_DEFINITION = frozenset({*BuiltIn} - {BuiltIn.RECORD_INDEX})

#: A step of a partition: its build begins, completes, or the partition is dropped.
Step = Literal["begin", "complete", "drop"]


@implements("PROP-012", "PROP-013")
def usable_partitions(properties: TableProperties) -> tuple[str, ...]:
    """The partitions that readers may use; none without the listing of files."""
    listed = properties.fields(USABLE)
    return listed if BuiltIn.FILES in listed else ()


@implements("LAY-014", "LAY-015")
def partition_files(storage: Storage, partition: str) -> tuple[str, ...]:
    """The names of the data files of a partition of the metadata table: the files in the folder of the same name."""
    folder = f"{METADATA_FOLDER}/{partition}/"
    names = (info.path.removeprefix(folder) for info in storage.list(folder))
    return tuple(name for name in names if "/" not in name and not name.startswith(".hoodie_partition_metadata"))


@implements("PROP-012")
def lists_after(step: Step, partition: str, usable: Iterable[str], inflight: Iterable[str]) -> tuple[list[str], list[str]]:
    """The two lists after a step. A partition becomes usable when its build completes; without the listing of files none is.

    Raises InvalidQuery for an invalid step: to complete a build that has not begun, or to begin the build of a usable
    partition.
    """
    ready, building = set(usable), set(inflight)
    if step == "begin":
        _require(partition not in ready, step, partition, "a partition that is not usable yet")
        building.add(partition)
    elif step == "complete":
        _require(partition in building, step, partition, "a partition whose build has begun")
        building.remove(partition)
        ready.add(partition)
    else:
        ready, building = ready - {partition}, building - {partition}
        if partition == BuiltIn.FILES:
            ready, building = set(), set()
    return sorted(ready), sorted(building)


def _require(holds: bool, step: Step, partition: str, expected: str) -> None:
    if not holds:
        raise InvalidQuery(
            f"the step {step} is not possible for this partition", rule="PROP-012", expected=expected, found=partition
        )


@implements("PROP-014", "LAY-016")
def read_definitions(storage: Storage, properties: TableProperties) -> tuple[IndexDefinition, ...]:
    """The definitions in the file that the property names; none without the property.

    The file may be missing while no partition that needs a definition is listed: Apache Hudi 1.2.0 deletes it when it truncates
    a table, and keeps the property.

    Raises MalformedMetadata if the file is missing or malformed, PathOutsideTable for a path into another table.
    """
    text = properties.get(PATH_KEY)
    if text is None:
        return ()
    path = definitions_path(text)
    try:
        return parse_definitions(storage.get(path), path)
    except FileNotFoundError as error:
        if {*properties.fields(USABLE), *properties.fields(INFLIGHT)} <= _WITHOUT_DEFINITION:
            return ()
        raise MalformedMetadata(
            "the definitions of indexes are missing", rule="LAY-016", path=path, expected=f"the file that {PATH_KEY} names"
        ) from error


def definition_of(storage: Storage, properties: TableProperties, partition: str) -> IndexDefinition | None:
    """The definition of the index in a partition of the metadata table; None if it has none. Raises as `read_definitions`."""
    named = BuiltIn.COLUMN_STATS if partition == BuiltIn.PARTITION_STATS else partition
    return next((one for one in read_definitions(storage, properties) if one.partition == named), None)


@implements("IDX-043", "IDX-049")
def index_version(storage: Storage, properties: TableProperties, partition: str) -> str:
    """The version of the index in a partition of the metadata table; of one without a definition that of a new index."""
    found = definition_of(storage, properties, partition)
    return version_at_creation(partition, properties.version) if found is None else found.version or V1


def definitions_path_of(properties: TableProperties) -> str:
    """The path of the definitions below the base path, as the property says, or as it will be. Raises PathOutsideTable."""
    return definitions_path(properties.get(PATH_KEY) or DEFINITIONS_PATH)


@implements("PROP-014")
def definitions_path(text: str) -> str:
    """The path of the definitions below the base path.

    Deployed writers store a relative path (ER-019). An absolute path, as in the specification, may be from a former place of
    the table: only the part after the base path is used.
    """
    before, found, rest = f"/{text}".rpartition(f"/{META_FOLDER}/")
    is_absolute = text.startswith("/") or "://" in text
    if not found or ".." in rest.split("/") or (before and not is_absolute):
        raise PathOutsideTable(
            "the definitions of indexes are stored outside the table", rule="PROP-014", expected=DEFINITIONS_PATH, found=text
        )
    return f"{META_FOLDER}/{rest}"


@implements("PROP-014", "LAY-016", "S3-005")
def write_definitions(
    storage: Storage,
    properties: TableProperties,
    clock: Clock,
    definitions: Iterable[IndexDefinition],
    lock: Lock | None = None,
    owner: str = "",
) -> TableProperties:
    """Under the lock of the table, store the definitions, then their path. Without definitions, remove both.

    `owner`, if given, holds the lock already.
    """
    used, stored, path = lock or lock_of(storage), tuple(definitions), definitions_path_of(properties)
    if stored:
        storage.put(path, dump_definitions(stored))
        return update_properties(storage, used, {PATH_KEY: path}, comment=_comment(clock), owner=owner)
    changed = update_properties(storage, used, {}, [PATH_KEY], comment=_comment(clock), owner=owner)
    storage.delete(path)
    return changed


def _comment(clock: Clock) -> str:
    return f"Updated at {format_time(clock.now())} UTC"


def inspect_metadata_table(table: Table) -> dict[str, Any]:
    """The metadata table in the shape of the contract's `inspect`."""
    usable = usable_partitions(table.properties)
    definitions: Mapping[str, Any] = {
        one.partition: {"type": one.kind, "function": one.function, "columns": list(one.columns), "options": dict(one.options)}
        for one in read_definitions(table.storage, table.properties)
    }
    return {
        "partitions": sorted(usable),
        "inflight": sorted(table.properties.fields(INFLIGHT)),
        "files": {partition: list(partition_files(table.storage, partition)) for partition in sorted(usable)},
        "index_definitions": definitions,
    }
