"""Write a large table through one engine, and ask other engines the same queries."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from hudi_conformance.contract import ContractError, Query, Refused, TableSpec
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.digests import Digest
from hudi_conformance.scale.workload import SCHEMA, Rows, Workload

GROUP = "region"
#: Settings of writes: Hudi's defaults of tasks, instead of the one task of the suite's small tables.
WRITE_OPTIONS: Mapping[str, str] = {
    f"hoodie.{kind}.shuffle.parallelism": "8" for kind in ("insert", "upsert", "delete", "bulkinsert")
}

#: Receives one line for each step.
Progress = Callable[[str], None]


@dataclass(frozen=True)
class Question:
    """A query of a large table, and the rows that it must return."""

    name: str
    query: Query
    rows: Rows


@dataclass(frozen=True)
class Answer:
    """What an engine answered to a question: digests, or the text of a refusal or an error; and the seconds that it took."""

    question: str
    seconds: float
    digests: Sequence[Digest] = ()
    refused: str | None = None
    error: str | None = None


def write_large_table(writer: Client, uri: str, workload: Workload, progress: Progress) -> list[Question]:
    """Create a merge-on-read table of a workload, and the questions about it.

    Raises:
        ContractError: the engine refuses or fails.
    """
    spec = TableSpec("large", "MERGE_ON_READ", SCHEMA, record_key=("id",), partition=(GROUP,), ordering=("ts",))
    writer.create(uri, spec)
    instants = []
    for commit in workload.commits:
        began = time.monotonic()
        instants.append(writer.write_sql(uri, commit.operation, workload.sql(commit), options=WRITE_OPTIONS))
        progress(f"{writer.name}: {commit.operation} {commit.number} of {workload.newest}, {time.monotonic() - began:.0f} s")
    return _questions(workload, instants, _completions(writer, uri))


def _completions(writer: Client, uri: str) -> dict[str, str]:
    """Completion times of the actions of a table by their requested times."""
    return {one["requested"]: one["completion"] for one in writer.inspect(uri)["timeline"]["completed"]}


def _questions(workload: Workload, instants: Sequence[str], completions: Mapping[str, str]) -> list[Question]:
    """Questions about the table before its compaction.

    The window of the incremental query begins one millisecond after the completion of the commit before the last one, because
    releases differ in whether the begin belongs to the window (ER-101).
    """
    newest = workload.newest
    begin = str(int(completions[instants[-2]]) + 1)
    middle = 1 + newest // 2
    least = workload.commits[-1].ordering
    return [
        Question("snapshot", Query(), Rows(newest)),
        Question(f"as of commit {middle}", Query("as-of", as_of=instants[middle - 1]), Rows(middle)),
        Question("incremental, last commit", Query("incremental", begin=begin), Rows(newest, since=newest)),
        Question(f"snapshot, ts >= {least}", Query(where=(("ts", ">=", least),)), Rows(newest, least=least)),
    ]


def after_compaction(workload: Workload) -> list[Question]:
    """Questions about the table after its compaction."""
    rows = Rows(workload.newest)
    return [
        Question("compacted, snapshot", Query(), rows),
        Question("compacted, read-optimized", Query("read-optimized"), rows),
    ]


def ask(reader: Client, uri: str, questions: Sequence[Question], progress: Progress) -> list[Answer]:
    """The answers of an engine. A question that fails does not stop the others."""
    found = []
    for question in questions:
        found.append(_ask(reader, uri, question))
        progress(f"{reader.name}: {question.name}, {found[-1].seconds:.0f} s")
    return found


def _ask(reader: Client, uri: str, question: Question) -> Answer:
    """The answer to one question, with the seconds until it was there."""
    began, digests, refused, failed = time.monotonic(), list[Digest](), None, None
    try:
        digests = reader.digest(uri, question.query, GROUP)
    except Refused as refusal:
        refused = str(refusal)
    except (ContractError, ValueError) as error:
        failed = f"{type(error).__name__}: {error}"
    return Answer(question.name, time.monotonic() - began, digests, refused, failed)
