"""chDB, the engine of ClickHouse in process, with its function `hudi()`. It reads and does not write.

`hudi()` accepts addresses of object stores only. A local table is copied to moto's server, which runs beside the adapter, and
is copied again when one of its files has changed. ClickHouse applies filters and projections itself.

`python -m hudi_conformance.engines.chdb` speaks the contract's protocol, in the environment of the extra `chdb`.
"""

import os
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import obstore
import pyarrow as pa
from obstore.store import S3Store

from hudi_conformance.contract import Engine, EngineError, Hello, Query, Refused
from hudi_conformance.contract.serve import serve
from hudi_conformance.engines.support.columns import META_COLUMNS
from hudi_conformance.engines.support.features import WITHOUT_LOGS
from hudi_conformance.processes.object_store import REGION, Store

FEATURES = frozenset(
    {
        *WITHOUT_LOGS,
        "read.snapshot",
        "read.projection",
        "read.filter",
        "read.filter.in",
        "read.filter.null",
        "read.filter.prefix",
        "read.meta-columns",
        "read.compares-files",
        "storage.s3",
        "table-version.9",
    }
)
_BUCKET = "tables"
#: Columns of texts are returned as texts, times in UTC; schemas of files are not kept, because tables change.
_SETTINGS = "SETTINGS output_format_arrow_string_as_string = 1, session_timezone = 'UTC', schema_inference_use_cache_for_s3 = 0"


class ChDb(Engine):
    """The installed release of chDB."""

    def __init__(self) -> None:
        self._tables = _CopiedTables()

    def hello(self) -> Hello:
        """Identity and features."""
        return Hello("chdb", version("chdb"), "c++", FEATURES)

    def read(self, table: str, query: Query) -> pa.Table:
        """The rows of a snapshot; everything else is refused."""
        if query.kind != "snapshot" or query.by_id:
            raise Refused(f"read.{query.kind}", "the function hudi() has snapshots only")
        source = self._source(table)
        types = self._types(source)
        chosen = query.columns or [name for name in types if name not in META_COLUMNS]
        where = " AND ".join(_condition(types, *one) for one in query.where)
        statement = f"SELECT {', '.join(map(_name, chosen))} FROM {source}"
        return _with_bytes(self._ask(f"{statement} WHERE {where}" if where else statement))

    def _types(self, source: str) -> dict[str, str]:
        """The columns with their types in ClickHouse, as `Nullable(String)`."""
        found = self._ask(f"DESCRIBE {source}")
        return dict(zip(found.column("name").to_pylist(), found.column("type").to_pylist(), strict=True))

    def _source(self, table: str) -> str:
        url, access, secret = self._tables.address(table)
        return f"hudi({_literal(url)}, {_literal(access)}, {_literal(secret)})"

    def _ask(self, statement: str) -> pa.Table:
        import chdb

        try:
            answer = chdb.query(f"{statement} {_SETTINGS}", "Arrow").bytes()
        except Exception as error:  # the package raises RuntimeError and classes of its own
            raise EngineError(" ".join(str(error).split())) from None
        return pa.ipc.open_file(pa.BufferReader(answer)).read_all()


class _CopiedTables:
    """Local tables on moto's server, which is started for the first of them."""

    def __init__(self) -> None:
        self._server: Store | None = None
        self._copied: dict[str, Mapping[str, tuple[int, int]]] = {}

    def address(self, table: str) -> tuple[str, str, str]:
        """The URL of the table, with the keys of the object store."""
        parsed = urlsplit(table)
        if parsed.scheme == "s3":
            environment = os.environ
            return (
                f"{environment['AWS_ENDPOINT_URL']}/{parsed.netloc}{parsed.path}/",
                environment["AWS_ACCESS_KEY_ID"],
                environment["AWS_SECRET_ACCESS_KEY"],
            )
        folder = Path(unquote(parsed.path))
        self._copy(folder)
        return f"{self._endpoint}/{_BUCKET}/{_key(folder)}/", "chdb", "secret"

    def stop(self) -> None:
        """Stop the server, if it was started."""
        if self._server is not None:
            self._server.stop()

    @property
    def _endpoint(self) -> str:
        if self._server is None:
            self._server = Store()
            self._server.create_bucket(_BUCKET)
        return self._server.endpoint

    def _copy(self, folder: Path) -> None:
        """Copy files that are new or changed, and delete those that are gone."""
        store = S3Store(
            _BUCKET, endpoint=self._endpoint, region=REGION,
            access_key_id="chdb", secret_access_key="secret", client_options={"allow_http": True},
        )  # fmt: skip
        before, now = self._copied.get(_key(folder), {}), _state(folder)
        for path in now:
            if before.get(path) != now[path]:
                obstore.put(store, f"{_key(folder)}/{path}", (folder / path).read_bytes())
        obstore.delete(store, [f"{_key(folder)}/{path}" for path in before.keys() - now.keys()])
        self._copied[_key(folder)] = now


def _state(folder: Path) -> dict[str, tuple[int, int]]:
    """Size and time of change of each file below a folder."""
    files = ((path, path.stat()) for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): (stat.st_size, stat.st_mtime_ns) for path, stat in files}


def _key(folder: Path) -> str:
    return folder.as_posix().lstrip("/")


def _name(column: str) -> str:
    """A column as SQL has it; a member of a struct is that of a tuple."""
    return ".".join("`" + part.replace("\\", "\\\\").replace("`", "\\`") + "`" for part in column.split("."))


def _with_bytes(rows: pa.Table) -> pa.Table:
    """The rows, with bytes in the columns that ClickHouse returns as texts, its only type for both, and that are no texts."""
    for number, column in enumerate(rows.columns):
        try:
            column.validate(full=True)
        except pa.ArrowInvalid:
            rows = rows.set_column(number, rows.column_names[number], column.cast(pa.binary()))
    return rows


def _condition(types: Mapping[str, str], column: str, op: str, value: Any) -> str:
    if op == "starts with":
        return f"startsWith({_name(column)}, {_literal(value)})"
    is_moment = "DateTime" in types.get(column, "")
    return f"{_name(column)} {op} {_literal(value, is_moment=is_moment)}"


def _literal(value: Any, *, is_moment: bool = False) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(_literal(one, is_moment=is_moment) for one in value)})"
    if value is None:
        return "NULL"
    if isinstance(value, bool | int | float):
        return str(value).lower()
    text = "'" + str(value).replace("\\", "\\\\").replace("'", "\\'") + "'"
    return f"parseDateTime64BestEffort({text}, 6, 'UTC')" if is_moment else text


if __name__ == "__main__":
    serve(ChDb)
