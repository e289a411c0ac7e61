"""What the reference raises on an executor, brought back to the driver.

Spark carries an executor's exception as the text of its traceback. The reference's errors print all they know, so the exception
can be made again from its text.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.errors import PySparkException

from hudi_reference import errors
from hudi_reference.errors import HudiError

_HEAD = re.compile(r"^hudi_reference\.errors\.(\w+): \1: (.*)$", re.MULTILINE)
_FACT = re.compile(r"^  (rule|offset|expected|found|cure) +(.*)$", re.MULTILINE)


@contextmanager
def errors_of_executors() -> Iterator[None]:
    """Around an action on a DataFrame: an error of the reference on an executor is raised as itself, any other as Spark's."""
    try:
        yield
    except PySparkException as error:
        found = from_traceback(str(error))
        if found is None:
            raise
        raise found from error


def from_traceback(text: str) -> HudiError | None:
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
