"""Count the requests of operations on an object store: `python -m tools.bench.object_store`.

Small tables of four shapes are stored on the server of moto, and a proxy in front of it counts requests and bytes. The shapes
differ from the first one in one dimension each: files, partitions, writes. So the differences are the costs of one more file,
partition and write, and `docs/scale.md` derives the costs of large tables from them. No duration is measured.
"""

import os
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace

import pyarrow as pa
import typer
from rich.console import Console
from rich.table import Table as RichTable

from hudi_conformance.explorer.s3.proxy import Proxy
from hudi_conformance.processes.object_store import Store, client_environment
from hudi_reference import WritableTable, create_table, open_table
from hudi_reference.storage import MemoryStorage
from hudi_reference.storage.uris import storage_of

console = Console()
BUCKET = "bench"
SCHEMA = {
    "type": "record",
    "name": "counted",
    "fields": [{"name": "id", "type": "string"}, {"name": "p", "type": "string"}, {"name": "v", "type": "long"}],
}
#: Each insert makes a file group of its own, and services run only when they are called.
PLAIN = {"hoodie.parquet.small.file.limit": "0", "hoodie.clean.automatic": "false", "hoodie.archive.automatic": "false"}
INDEXED = {
    **PLAIN,
    "hoodie.metadata.enable": "true",
    "hoodie.metadata.index.column.stats.enable": "true",
    "hoodie.metadata.record.index.enable": "true",
}
MODES = {"without a metadata table": PLAIN, "with files, column statistics and a record index": INDEXED}


@dataclass(frozen=True)
class Shape:
    """The size of a table: file groups in each partition, partitions, and writes.

    Each file group of a partition is from another write; the other writes change one file group. A metadata table is compacted
    once for each ten writes, so that the numbers of writes have the same last digit.
    """

    files: int = 2
    partitions: int = 4
    writes: int = 12


#: How often a shape has its dimension more than the first one.
FACTOR = 6
OPERATIONS: Mapping[str, Callable[[WritableTable], object]] = {
    "snapshot": lambda table: table.snapshot(),
    "one partition": lambda table: table.snapshot(where=[("p", "=", "p0")]),
    "filter on a column": lambda table: table.snapshot(where=[("v", "=", 0)]),
    "one record key": lambda table: table.snapshot(where=[("_hoodie_record_key", "=", "g0-p0")]),
    "upsert of one row": lambda table: table.upsert(rows([("g0-p0", "p0", -1)])),
}


def rows(values: list[tuple[str, str, int]]) -> pa.Table:
    """Rows of the table."""
    keys, partitions, numbers = zip(*values, strict=True)
    return pa.table({"id": list(keys), "p": list(partitions), "v": pa.array(numbers, pa.int64())})


def make_table(uri: str, shape: Shape, options: Mapping[str, str]) -> None:
    """Write the table in memory, then copy it to the store."""
    memory = MemoryStorage()
    table = create_table(
        uri, name="counted", schema=SCHEMA, record_key=("id",), partition=("p",), options=options, storage=memory
    )
    for group in range(shape.files):
        table.insert(rows([(f"g{group}-p{p}", f"p{p}", group * shape.partitions + p) for p in range(shape.partitions)]))
    for write in range(shape.writes - shape.files):
        table.upsert(rows([("g0-p0", "p0", -2 - write)]))
    stored = storage_of(uri)
    for info in memory.list():
        stored.put(info.path, memory.get(info.path))


def count_requests(proxy: Proxy, uri: str, options: Mapping[str, str], act: Callable[[WritableTable], object]) -> Counter[str]:
    """The requests of an operation on a table that is opened for it, by kind; `bytes` are those of the answers."""
    before = len(proxy.exchanges)
    act(open_table(uri, options=options))
    found = proxy.exchanges[before:]
    counted = Counter(one.request.kind for one in found)
    counted["bytes"] = sum(len(one.answer.body) for one in found if one.answer is not None)
    return counted


def measure(store: Store, proxy: Proxy, options: Mapping[str, str], prefix: str) -> dict[str, dict[str, Counter[str]]]:
    """The requests of each operation on each shape. The first shape is named "", the others by their dimension."""
    base = Shape()
    shapes = {"": base} | {one.name: replace(base, **{one.name: FACTOR * getattr(base, one.name)}) for one in fields(Shape)}
    found: dict[str, dict[str, Counter[str]]] = {}
    for number, (name, shape) in enumerate(shapes.items()):
        uri = f"s3://{BUCKET}/{prefix}{number}"
        os.environ["AWS_ENDPOINT_URL"] = store.endpoint
        make_table(uri, shape, options)
        os.environ["AWS_ENDPOINT_URL"] = proxy.endpoint
        for operation, act in OPERATIONS.items():
            found.setdefault(operation, {})[name] = count_requests(proxy, uri, options, act)
    return found


def report(title: str, found: Mapping[str, Mapping[str, Counter[str]]]) -> None:
    """Print the costs of the first shape and of one more file group, partition and write."""
    shown = RichTable("operation", "first table", "one more file group", "one more partition", "one more write", title=title)
    base = Shape()
    more = {
        "files": (FACTOR - 1) * base.files * base.partitions,
        "partitions": (FACTOR - 1) * base.partitions,
        "writes": (FACTOR - 1) * base.writes,
    }
    for operation, counted in found.items():
        first = counted[""]
        cells = [_text(first, 1)]
        for name, number in more.items():
            cells.append(_text({kind: counted[name][kind] - first[kind] for kind in {*counted[name], *first}}, number))
        shown.add_row(operation, *cells)
    console.print(shown)


def _text(counted: Mapping[str, int], number: int) -> str:
    kinds = sorted(kind for kind, found in counted.items() if found and kind != "bytes")
    requests = ", ".join(f"{counted[kind] / number:.3g} {kind}" for kind in kinds)
    return f"{requests or '0'}; {counted.get('bytes', 0) / number / 1000:.2g} kB"


def main() -> None:
    """Make the tables, count, and print."""
    with Store() as store, Proxy(store.host, store.port) as proxy:
        store.create_bucket(BUCKET)
        os.environ.update(client_environment(store.endpoint, "bench"))
        for number, (mode, options) in enumerate(MODES.items()):
            report(mode, measure(store, proxy, options, f"m{number}-"))


if __name__ == "__main__":
    typer.run(main)
