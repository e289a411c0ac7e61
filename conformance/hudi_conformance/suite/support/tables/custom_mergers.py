"""Tables that merge by payload classes or custom mergers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from hudi_conformance.contract.messages import TableSpec
from hudi_conformance.suite.support.tables.written_tables import table_folder

PACKAGE = "org.apache.hudi.common.model."
#: The merge strategy ids of payload classes, and of a merger that no engine has.
PAYLOADS, UNKNOWN = "00000000-0000-0000-0000-000000000000", "0c0c0c0c-0000-4000-8000-00000000000c"
TYPES: Mapping[str, pa.DataType] = {"string": pa.string(), "long": pa.int64(), "boolean": pa.bool_()}
PLAIN = (("ts", "long"), ("name", "string"), ("price", "string"))
#: Values of the columns `PLAIN`: the stored row and a later one with a lower ordering value.
OLD, NEW = (2, "name_2", "price_2"), (1, "name_1", "price_1")
Values = tuple[Any, ...]


@dataclass(frozen=True)
class Rule:
    """How a table merges: its properties, its columns beside the key, and its ordering field."""

    properties: Mapping[str, str]
    columns: tuple[tuple[str, str], ...] = PLAIN
    mode: Any = "CUSTOM"

    @property
    def ordering(self) -> str:
        """The first of the columns."""
        return self.columns[0][0]

    def spec(self, kind: str) -> TableSpec:
        """Return the table to create."""
        fields = [{"name": "id", "type": "string"}]
        fields += [{"name": n, "type": ["null", t], "default": None} for n, t in self.columns]  # type: ignore[dict-item]
        return TableSpec(
            name="custom", type=kind, schema={"type": "record", "name": "custom", "fields": fields}, record_key=("id",),  # type: ignore[arg-type]
            ordering=(self.ordering,), merge_mode=self.mode, properties=self.properties,
        )  # fmt: skip

    def rows(self, found: Sequence[tuple[str, Values]]) -> pa.Table:
        """Return rows, each a key and the values of the columns."""
        names = ["id", *(name for name, _ in self.columns)]
        kinds = [pa.string(), *(TYPES[kind] for _, kind in self.columns)]
        columns = zip(*((key, *values) for key, values in found), strict=True)
        return pa.table([pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)], names=names)


def stored_properties(uri: str) -> dict[str, str]:
    """Return the entries of the table's properties file, whose texts have only simple escapes."""
    lines = (table_folder(uri) / ".hoodie" / "hoodie.properties").read_text().splitlines()
    pairs = (line.partition("=") for line in lines if line and not line.startswith("#"))
    return {key.replace("\\", ""): value.replace("\\:", ":").replace("\\=", "=") for key, _, value in pairs}
