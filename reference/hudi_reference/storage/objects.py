"""A prefix of a bucket as storage.

A request over a network has three outcomes: done, refused, and unknown. A read whose answer was lost is sent again. A
creation or replacement whose answer was lost may have happened. Therefore each one stores a unique mark in the metadata of
the object (`hudiwriter`), and the mark of the stored object identifies its writer. A writer thus never takes the object
of another writer for its own, even if the contents are equal, and never overwrites one because the answer to its own request
was lost.
"""

import io
import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Any, TypeVar
from uuid import uuid4

import pyarrow as pa

from hudi_reference.errors import AccessDenied, StorageFault, UnfitStorage
from hudi_reference.limits import OBJECT_BYTES
from hudi_reference.requirement import implements
from hudi_reference.storage.object_errors import (
    S3_SETTINGS,
    AccessSettings,
    check_process,
    library_errors,
    outcome_unknown,
    refusals,
    translate_error,
)
from hudi_reference.storage.protocol import ObjectChanged, ObjectExists, ObjectInfo, is_below, require_inside_table
from hudi_reference.storage.wrapped import ObjectReader

Answer = TypeVar("Answer")
#: The name of the mark in the metadata of an object. Azure permits letters, digits and `_`, and S3 no `_` everywhere.
MARK = "hudiwriter"
#: Objects up to this size in bytes are fetched completely when they are opened.
WHOLE = 1 << 20
#: Errors of a ranged GET of an object without bytes, or from a store that ignores ranges.
_NO_RANGE = re.compile(r"status code: 416\b|non-partial response")
#: Files of pending actions, and markers, are empty, so an empty object with such a name stands for no folder.
_EMPTY_FILES = (".requested", ".inflight", ".marker.CREATE", ".marker.MERGE", ".marker.APPEND")
#: The object of the request that checks, before the first conditional write, whether the store evaluates conditions.
_PROBES = ".hoodie/.temp"


@dataclass(frozen=True)
class RetryPolicy:
    """The pauses in seconds before a request without an answer, or with a request to slow down, is sent again."""

    pauses: tuple[float, ...] = (0.05, 0.2, 0.8, 2.0)
    pause: Callable[[float], None] = time.sleep

    def tries(self) -> Iterator[bool]:
        """Sleep between tries, and yield for each one whether it is the last."""
        for seconds in self.pauses:
            yield False
            self.pause(seconds)
        yield True


class ObjectStorage:
    """A prefix of a bucket, accessed through obstore.

    `store` is an obstore store with the base path of the table as root. It must not retry requests, because then the answer
    to a creation would not identify the writer of the object. `name` identifies the place in this process. `access` has the
    settings that an error names.

    In addition to the errors of `Storage`, all methods raise StorageUnavailable and AccessDenied, and those that write raise
    OutcomeUnknown and UnfitStorage.
    """

    def __init__(
        self,
        store: Any,
        *,
        retries: RetryPolicy | None = None,
        writer: str | None = None,
        name: str = "",
        access: AccessSettings = S3_SETTINGS,
    ) -> None:
        self.name = name
        self._store = store
        self._access = access
        self._retries = retries or RetryPolicy()
        self._writer = writer or uuid4().hex
        self._marks = 0
        self._is_fit = False
        self._checking = Lock()

    def __getstate__(self) -> dict[str, Any]:
        """A copy in another process is a writer of its own, so that it does not take objects of this one for its own."""
        return {name: value for name, value in vars(self).items() if name not in ("_checking", "_writer")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _checking=Lock(), _writer=uuid4().hex)

    def get(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        """A ranged GET; no bytes after the end of the object."""
        if start == 0 and length is None:
            return self._whole(path)
        info = self.head(path)
        if info is None:
            raise FileNotFoundError(path)
        end = info.size if length is None else min(info.size, start + length)
        return self.range(path, start, end)

    def open(self, path: str) -> pa.NativeFile:
        """A small object completely, a large one by ranged GETs: the first for its end, where base files have their footer."""
        end, size = self._end(path)
        if size == len(end):
            return pa.BufferReader(end)
        return pa.PythonFile(io.BufferedReader(ObjectReader(partial(self.range, path), size, end), WHOLE), mode="r")

    @implements("LAY-004")
    def head(self, path: str) -> ObjectInfo | None:
        """A HEAD request."""
        import obstore

        try:
            return _object_info(
                self._send_idempotent("HEAD", path, lambda: obstore.head(self._store, require_inside_table(path)))
            )
        except FileNotFoundError:
            return None

    @implements("LAY-004")
    def list(self, prefix: str = "", *, skip: str | None = None) -> list[ObjectInfo]:
        """LIST, all pages."""
        import obstore

        folder = require_inside_table(prefix) or None
        pages = self._send_idempotent("LIST", prefix, lambda: list(obstore.list(self._store, folder)))
        found = [_object_info(meta) for page in pages for meta in page]
        kept = [info for info in found if is_below(info.path, prefix) and not (skip and is_below(info.path, skip))]
        folders = self._folders_among(kept, folder or "")
        return sorted((info for info in kept if info.path not in folders), key=lambda info: info.path)

    def names(self, folder: str) -> tuple[str, ...]:
        """LIST with the delimiter `/`, all pages."""
        import obstore

        place = require_inside_table(folder) or None
        found = self._send_idempotent("LIST", folder, lambda: obstore.list_with_delimiter(self._store, place))
        objects = (meta["path"].rpartition("/")[2] for meta in found["objects"] if meta["path"] != (place or ""))
        folders = (f"{prefix.rstrip('/').rpartition('/')[2]}/" for prefix in found["common_prefixes"])
        return tuple(sorted([*objects, *folders]))

    def _folders_among(self, found: Iterable[ObjectInfo], listed: str) -> set[str]:
        """The paths of empty objects that stand for folders: Hadoop's file systems make an object `a/b/` for the folder `a/b`.

        The library returns their names without the slash. Those without an object below are told from empty files by their
        names in a listing with the delimiter `/`.
        """
        empty = {info.path for info in found if not info.size and not info.path.endswith(_EMPTY_FILES)}
        if not empty:
            return empty
        folders = {listed} | {above for info in found for above in _folders_above(info.path)}
        return empty & folders | self._without_objects(empty - folders)

    def _without_objects(self, empty: set[str]) -> set[str]:
        """Those of the empty objects that stand for folders without an object."""
        found = set()
        for folder in {path.rpartition("/")[0] for path in empty}:
            names = {f"{folder}/{name}" if folder else name for name in self.names(folder)}
            found |= {path for path in empty if f"{path}/" in names and path not in names}
        return found

    def put(self, path: str, data: bytes) -> None:
        """PUT in one request: readers see the old object or the complete new one."""
        import obstore

        try:
            self._send_idempotent(
                "PUT", path, lambda: obstore.put(self._store, require_inside_table(path), data, use_multipart=False)
            )
        except FileNotFoundError as error:
            raise translate_error("PUT", path, error, self._access) from error

    @implements("S3-001", "S3-002", "S3-006")
    def create(self, path: str, data: bytes) -> None:
        """PUT with If-None-Match: *, in one request."""
        self._check_fit()
        if not self._send_conditional(path, data, "create", None):
            raise ObjectExists(path)

    @implements("S3-001", "S3-003")
    def replace(self, path: str, data: bytes, version: str) -> None:
        """PUT with If-Match.

        It also fails if it was applied, its answer was lost, and another writer replaced the object since.
        """
        self._check_fit()
        if not self._send_conditional(path, data, {"e_tag": version}, version):
            raise ObjectChanged(path)

    @implements("LAY-004")
    def delete(self, path: str) -> None:
        """DELETE."""
        import obstore

        with suppress(FileNotFoundError):
            self._send_idempotent("DELETE", path, lambda: obstore.delete(self._store, require_inside_table(path)))

    def _whole(self, path: str) -> bytes:
        return self._send_idempotent("GET", path, lambda: self._fetch(path))

    def _fetch(self, path: str) -> bytes:
        import obstore

        found = obstore.get(self._store, require_inside_table(path))
        OBJECT_BYTES.check(found.meta["size"], path)
        return bytes(found.bytes())

    def _end(self, path: str) -> tuple[bytes, int]:
        """The last megabyte of an object, or all of a smaller one, and its size, in one request."""
        import obstore

        def fetch() -> tuple[bytes, int]:
            try:
                found = obstore.get(self._store, require_inside_table(path), options={"range": {"suffix": WHOLE}})
            except library_errors() as error:
                if not _NO_RANGE.search(str(error)):
                    raise
                whole = self._fetch(path)
                return whole, len(whole)
            return bytes(found.bytes()), found.meta["size"]

        return self._send_idempotent("GET", path, fetch)

    def range(self, path: str, start: int, end: int) -> bytes:
        """The bytes from `start` to `end`, exclusive, which must be within the object."""
        import obstore

        if start >= end:
            return b""
        OBJECT_BYTES.check(end - start, path, start)
        return self._send_idempotent(
            "GET", path, lambda: bytes(obstore.get_range(self._store, require_inside_table(path), start=start, end=end))
        )

    def _send_idempotent(self, what: str, path: str, send: Callable[[], Answer]) -> Answer:
        """The answer to an idempotent request, which may be retried."""
        check_process()
        for is_last in self._retries.tries():
            try:
                return send()
            except FileNotFoundError:
                raise
            except library_errors() as error:
                fault = translate_error(what, path, error, self._access)
                if is_last or isinstance(fault, AccessDenied):
                    raise fault from error
        raise AssertionError("a last try")

    def _send_conditional(self, path: str, data: bytes, mode: Any, before: str | None) -> bool:
        """Send a conditional write; whether the stored object is the one that was sent. `before` is the version it may replace.

        A failed condition means that another object is stored, or that two requests conflicted and neither was applied. After a
        failed condition or a lost answer, the object is read, and the request is sent again if the object has not changed.
        """
        import obstore

        check_process()
        self._marks += 1
        mark, is_out = f"{self._writer}-{self._marks}", False
        for is_last in self._retries.tries():
            try:
                obstore.put(
                    self._store, require_inside_table(path), data, mode=mode, attributes={MARK: mark}, use_multipart=False
                )
            except library_errors(FileNotFoundError) as error:
                is_out = is_out or not isinstance(error, refusals())
                fault = translate_error("PUT", path, error, self._access)
                fault = outcome_unknown(path, fault) if is_out else fault
                if isinstance(fault, AccessDenied):
                    raise fault from error
                version, found = self._read_version_and_mark(path, fault)
                if found == mark:
                    return True
                if version != before:
                    return False
                if is_last:
                    raise fault from error
            else:
                return True
        raise AssertionError("a last try")

    def _read_version_and_mark(self, path: str, fault: StorageFault) -> tuple[str | None, str | None]:
        """Version and mark of the stored object. Raises `fault` if they cannot be read."""
        try:
            found = self._head_with_metadata(path)
        except FileNotFoundError:
            return None, None
        except StorageFault as error:
            raise fault from error
        return _version_of(found.meta), found.attributes.get(MARK)

    def _head_with_metadata(self, path: str) -> Any:
        """The answer of the library to a HEAD request. Raises FileNotFoundError."""
        import obstore

        return self._send_idempotent(
            "HEAD", path, lambda: obstore.get(self._store, require_inside_table(path), options={"head": True})
        )

    def _check_fit(self) -> None:
        """Check before the first conditional write that the store evaluates conditions.

        Raises UnfitStorage, without a change of the table.
        """
        with self._checking:  # threads share the object of the check
            if not self._is_fit:
                self._probe_conditions()
                self._is_fit = True

    def _probe_conditions(self) -> None:
        """Write one object twice with conditions that do not hold. Raises UnfitStorage."""
        probe = f"{_PROBES}/probe-{self._writer}"
        self._send_conditional(probe, b"probe", "create", None)
        try:
            for condition, mode, before in (("If-None-Match", "create", None), ("If-Match", {"e_tag": '"none"'}, '"none"')):
                if self._send_conditional(probe, b"again", mode, before):
                    raise UnfitStorage(
                        "the store ignores the conditions of writes, so that writers would overwrite each other", rule="S3-002",
                        path=probe, expected=f"a PUT with {condition} fails if the condition is false",
                        found="it succeeded", remedy="use a store that supports conditional writes",
                    )  # fmt: skip
        finally:
            self.delete(probe)


def _folders_above(path: str) -> Iterator[str]:
    """The paths of the folders that have an object."""
    while folder := path.rpartition("/")[0]:
        yield folder
        path = folder


def _object_info(meta: Any) -> ObjectInfo:
    return ObjectInfo(meta["path"], meta["size"], int(meta["last_modified"].timestamp() * 1000), _version_of(meta))


def _version_of(meta: Any) -> str:
    """The entity tag in quotes, as conditions name it; a listing of Azure has it without."""
    tag = str(meta["e_tag"])
    return tag if tag.endswith('"') else f'"{tag}"'
