"""`docs/limits.md`: the limits of `hudi_reference.limits`, and those of the answers of adapters."""

from collections.abc import Iterable

from hudi_conformance.contract.arrow_files import ANSWER_BYTES, ANSWER_ROWS
from hudi_conformance.contract.process import JSON_LINE, STDERR_BYTES
from hudi_reference.limits import LIMITS, Limit

HEAD = """\
# Limits

<!-- Written by `python -m tools.pages` from hudi_reference/limits.py and hudi_conformance/contract. -->

After reading this page you know which stored objects the reference refuses because of their size, and how to raise a limit.

A small file may declare very much: types that name each other double with each level, a compressed block grows a thousandfold,
a byte becomes a record with many fields. A limit bounds what such a file may take, far above what deployed writers store.

    HUDI_REFERENCE_LIMIT_SCHEMA_NODES=1000000 hudi-conformance read TABLE

A refusal is a `LimitExceeded`. It names the file, the place in it, what was found, the limit, and the variable that raises it.
A value that is no number is ignored.

## Tables

"""
ADAPTERS = """
## Adapters

An adapter that exceeds a limit gets the error of a broken protocol, which names the variable.

"""
NEXT = """
## Memory

`read`, `inspect`, `validate`, `service` and `migrate` take no more memory than the machine, or its container, has free when
they start. A small file may decode to more: Parquet and ORC repeat a text by its number in a dictionary, and 12 kB can be 5 GB.
Then the command ends with a `StorageUnavailable` that names the file, and does not call it damaged; `validate` goes on with the
other files. For tables that you do not trust, set a smaller number of bytes:

    HUDI_REFERENCE_LIMIT_MEMORY=4000000000 hudi-conformance validate TABLE --deep

Systems without `/proc`, programs that use the package as a library, and commands that start a JVM (`--spark`, `--engine`) have
no such bound. There `ulimit -d` has the same effect. The ORC library does not check every allocation: with a bound, columns
of lists and maps in ORC files are read by another process, which inherits it and may end alone.

## What has no limit

* The total of all files that a query reads. `read` holds the rows of one file slice and the answer in memory.
* Depth of JSON: Python's parser refuses about 1,000 levels, which is an error of the file that has them.

Further bounds are fixed: an action's file has one record and no codec but deflate, and types without bytes are refused
([fuzzing.md](fuzzing.md)).

Read next: [damage.md](damage.md), [fuzzing.md](fuzzing.md).
"""


def limits_page() -> str:
    """The page's text."""
    adapters = [JSON_LINE, STDERR_BYTES, ANSWER_ROWS, ANSWER_BYTES]
    return HEAD + _table(LIMITS) + ADAPTERS + _table(adapters) + NEXT


def _table(limits: Iterable[Limit]) -> str:
    rows = (f"| {one.counts} | {one.default:,} | `{one.variable}` | {one.rule or ''} |\n" for one in limits)
    return "".join(["| counts | default | variable | rule |\n", "|---|---|---|---|\n", *rows])
