"""What a file is: told by its bytes first, then compared with what its name says."""

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
    """A file that is one of the format's. `size` in bytes; `name` taken apart, None where it follows no grammar."""

    storage: Storage
    path: str
    size: int
    format: Format
    name: BaseFileName | LogFileName | None

    @property
    def contradiction(self) -> str | None:
        """What is wrong between name and content, None where they agree or the name says nothing."""
        said = said_by(self.name)
        if said is None or said == self.format:
            return None
        return f"named like {WORDS[said]}, but its bytes are those of {WORDS[self.format]}"


def locate(uri: str | Path) -> tuple[Storage, str]:
    """The storage of the folder that a file lies in, and the file's name there: a path, `file://`, `s3://` or `memory://`."""
    text = str(uri.absolute()) if isinstance(uri, Path) else uri
    folder, _, name = text.rpartition("/")
    is_file_uri = urlsplit(text).scheme == "file"
    return storage_of(folder or ("/" if text.startswith("/") else ".")), unquote(name) if is_file_uri else name


def is_file(uri: str) -> bool:
    """Whether there is one file at `uri`, and no folder: for those an object store keeps no object."""
    if "://" in uri and not urlsplit(uri).path.strip("/"):
        return False  # a whole bucket
    storage, path = locate(uri)
    return path not in ("", ".", "..") and storage.head(path) is not None


def identify(storage: Storage, path: str) -> KnownFile:
    """What the file at `path` is.

    Its bytes say so where they can; of a damaged or empty file its name. Raises MissingDataFile, and UnsupportedFileFormat
    for a file that is neither by its bytes nor by its name one of the format's.
    """
    info = storage.head(path)
    if info is None:
        raise missing_data_file(path)
    head, tail = storage.get(path, 0, HEAD), storage.get(path, max(0, info.size - END), END)
    name = parse_data_file_name(path.rpartition("/")[2])
    found = format_of(head, tail) or said_by(name)
    if found is None:
        raise UnsupportedFileFormat(
            "no file of the format", rule="BF-010", path=path, offset=0,
            expected="a log file (#HUDI#), Parquet (PAR1), ORC (ORC) or HFile (DATABLK*)",
            found=f"{head.hex(' ')} ({head.decode('ascii', 'replace')!r})" if head else "an empty file",
            remedy="give a base or log file of a table, or the table's folder",
        )  # fmt: skip
    return KnownFile(storage, path, info.size, found, name)


def said_by(name: BaseFileName | LogFileName | None) -> Format | None:
    """The format that a name promises."""
    if name is None:
        return None
    if isinstance(name, LogFileName):
        return "log"
    formats: dict[str, Format] = {"parquet": "parquet", "orc": "orc", "hfile": "hfile"}
    return formats[name.extension]
