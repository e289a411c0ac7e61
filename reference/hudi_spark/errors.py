"""Errors of executors, converted to exceptions of the reference on the driver.

Spark transfers an exception of an executor as text. The text of the reference's errors contains all their fields, so that they
can be built again. An error of Spark's Parquet reader becomes the error that the reference raises for such a file.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from hudi_reference import errors
from hudi_reference.errors import HudiError, MalformedBaseFile

_HEAD = re.compile(r"^hudi_reference\.errors\.(\w+): \1: (.*)$", re.MULTILINE)
_FACT = re.compile(r"^  (rule|offset|expected|found|remedy) +(.*)$", re.MULTILINE)
_UNREADABLE = re.compile(r"\[FAILED_READ_FILE[.\w]*\] Encountered error while reading file (\S+?)\.\s")
_CAUSE = re.compile(r"^Caused by: (.*)$", re.MULTILINE)


@contextmanager
def errors_of_executors() -> Iterator[None]:
    """Convert errors of an action on a DataFrame.

    An error of the reference on an executor is raised as that error, a base file that Spark cannot read as MalformedBaseFile,
    and any other error as Spark raises it.
    """
    try:
        yield
    except (PySparkException, Py4JJavaError) as error:
        text = str(error)
        found = reference_error(text) or parquet_reader_error(text)
        if found is None:
            raise
        raise found from error


def reference_error(text: str) -> HudiError | None:
    """The error of the reference that a traceback ends with; None if it ends with another one."""
    heads = list(_HEAD.finditer(text))
    if not heads:
        return None
    name, message = heads[-1].groups()
    family = getattr(errors, name, HudiError)
    facts: dict[str, str] = dict(_FACT.findall(text, heads[-1].end()))
    offset = facts.pop("offset", None)
    error: HudiError = family(message, offset=None if offset is None else int(offset.removeprefix("byte ")), **facts)
    return error


def parquet_reader_error(text: str) -> MalformedBaseFile | None:
    """The error for a base file that Spark could not read; None for another error."""
    if not (file := _UNREADABLE.search(text)):
        return None
    causes = _CAUSE.findall(text)
    return MalformedBaseFile(
        "Spark cannot read the base file", rule="BF-002", path=file[1], found=causes[-1] if causes else None,
        remedy="restore the file, or roll back the action that wrote it",
    )  # fmt: skip
