"""The type of a file: by its bytes first, then compared with its name."""

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from hudi_reference.errors import UnsupportedFileFormat, missing_data_file
from hudi_reference.files.magic import END, HEAD, Format, format_of
from hudi_reference.layout.names import BaseFileName, LogFileName, parse_data_file_name
from hudi_reference.storage import Storage, storage_of

#: The formats in words.
WORDS: dict[Format, str] = {"log": "a log file", "hfile": "an HFile", "parquet": "a Parquet file", "orc": "an ORC file"}


@dataclass(frozen=True)
class KnownFile:
    """A file of a known format. `size` in bytes; `name` is the parsed name, None if it follows no grammar."""

    storage: Storage
    path: str
    size: int
    format: Format
    name: BaseFileName | LogFileName | None

    @property
    def contradiction(self) -> str | None:
        """The contradiction between name and content; None if they agree or the name does not imply a format."""
        said = format_of_name(self.name)
        if said is None or said == self.format:
            return None
        return f"named like {WORDS[said]}, but its bytes are those of {WORDS[self.format]}"


def locate(uri: str | Path) -> tuple[Storage, str]:
    """The storage of a file's folder, and its name there, of a path or a `file://`, `s3://` or `memory://` URI."""
    text = str(uri.absolute()) if isinstance(uri, Path) else uri
    folder, _, name = text.rpartition("/")
    is_file_uri = urlsplit(text).scheme == "file"
    return storage_of(folder or ("/" if text.startswith("/") else ".")), unquote(name) if is_file_uri else name


def is_file(uri: str) -> bool:
    """Whether there is a file at `uri`, and not a folder. An object store has no objects for folders."""
    if "://" in uri and not urlsplit(uri).path.strip("/"):
        return False  # a whole bucket
    storage, path = locate(uri)
    return path not in ("", ".", "..") and storage.head(path) is not None


def identify(storage: Storage, path: str) -> KnownFile:
    """The type of the file at `path`, by its bytes; by its name if the file is damaged or empty.

    Raises MissingDataFile, and UnsupportedFileFormat if neither bytes nor name are of a known format.
    """
    info = storage.head(path)
    if info is None:
        raise missing_data_file(path)
    head, tail = storage.get(path, 0, HEAD), storage.get(path, max(0, info.size - END), END)
    name = parse_data_file_name(path.rpartition("/")[2])
    found = format_of(head, tail) or format_of_name(name)
    if found is None:
        raise UnsupportedFileFormat(
            "no file of the format", rule="BF-010", path=path, offset=0,
            expected="a log file (#HUDI#), Parquet (PAR1), ORC (ORC) or HFile (DATABLK*)",
            found=f"{head.hex(' ')} ({head.decode('ascii', 'replace')!r})" if head else "an empty file",
            remedy="give a base or log file of a table, or the table's folder",
        )  # fmt: skip
    return KnownFile(storage, path, info.size, found, name)


def format_of_name(name: BaseFileName | LogFileName | None) -> Format | None:
    """The format that a name implies."""
    if name is None:
        return None
    if isinstance(name, LogFileName):
        return "log"
    formats: dict[str, Format] = {"parquet": "parquet", "orc": "orc", "hfile": "hfile"}
    return formats[name.extension]
