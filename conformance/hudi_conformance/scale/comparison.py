"""Compare engines on large tables: each engine that runs SQL writes one, and all engines answer the same questions."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from hudi_conformance.contract import ContractError
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.digests import Digest
from hudi_conformance.engines import registry
from hudi_conformance.engines.support.large_tables import VARIABLE
from hudi_conformance.scale.large_table import Answer, Progress, Question, after_compaction, ask, write_large_table
from hudi_conformance.scale.workload import Workload

#: A step may take an hour.
MESSAGE_TIMEOUT = 3600.0


class NoWriter(ValueError):
    """No chosen engine writes the rows of an SQL query."""


@dataclass(frozen=True)
class Verdict:
    """The judgement of one answer. `differences` are the groups with expected and found digest; None: the group is missing."""

    writer: str
    reader: str
    answer: Answer
    differences: Sequence[tuple[str | None, Digest | None, Digest | None]] = ()

    @property
    def is_right(self) -> bool:
        """Whether the engine answered with the expected rows."""
        return self.answer.refused is None and self.answer.error is None and not self.differences

    @property
    def is_failure(self) -> bool:
        """Whether the answer is wrong or an error; a refusal is neither."""
        return self.answer.error is not None or bool(self.differences)


@dataclass(frozen=True)
class FailedWriter:
    """An engine that could not write its table."""

    writer: str
    error: str


def compare(names: Sequence[str], workload: Workload, folder: Path, progress: Progress) -> Iterator[Verdict | FailedWriter]:
    """The verdicts on the answers of all engines, table by table.

    Args:
        names: engines, or command lines of adapters.
        workload: the rows of each table.
        folder: where the tables are written; one folder each.
        progress: receives one line for each step.

    Raises:
        NoWriter: no engine of these offers `write.sql`.
        ContractError: an engine does not start.
    """
    with ExitStack() as stack:
        clients = [stack.enter_context(_connect(name, progress)) for name in names]
        writers = [client for client in clients if {"write.sql", "create"} <= client.hello.features]
        if not writers:
            raise NoWriter("no chosen engine makes rows from SQL; add spark or apache-hudi@1.2.0")
        for number, writer in enumerate(writers):
            yield from _judge_table(writer, clients, (folder / str(number)).as_uri(), workload, progress)


def _connect(name: str, progress: Progress) -> Client:
    return registry.connect(name, message_timeout=MESSAGE_TIMEOUT, progress=progress, variables={VARIABLE: "1"})


def _judge_table(
    writer: Client, readers: Sequence[Client], uri: str, workload: Workload, progress: Progress
) -> Iterator[Verdict | FailedWriter]:
    """The verdicts on the answers about one table, before and after its compaction."""
    try:
        questions = write_large_table(writer, uri, workload, progress)
        yield from _judge(writer, readers, uri, questions, workload, progress)
        if "service.compaction" in writer.hello.features:
            writer.service(uri, "compaction", options={"hoodie.compact.inline.max.delta.commits": "1"})
            progress(f"{writer.name}: compaction")
            yield from _judge(writer, readers, uri, after_compaction(workload), workload, progress)
    except ContractError as error:
        yield FailedWriter(writer.name, f"{type(error).__name__}: {error}")


def _judge(
    writer: Client, readers: Sequence[Client], uri: str, questions: Sequence[Question], workload: Workload, progress: Progress
) -> Iterator[Verdict]:
    """The verdicts on all answers to some questions."""
    expected = workload.digests({question.name: question.rows for question in questions})
    for reader in readers:
        for answer in ask(reader, uri, questions, progress):
            wrong = () if answer.refused or answer.error else differences(expected[answer.question], answer.digests)
            yield Verdict(writer.name, reader.name, answer, wrong)


def differences(
    expected: Sequence[Digest], found: Sequence[Digest]
) -> tuple[tuple[str | None, Digest | None, Digest | None], ...]:
    """The groups whose digests differ, each with the expected and the found one."""
    left, right = _by_group(expected), _by_group(found)
    groups = sorted(left.keys() | right.keys(), key=lambda group: group or "")
    return tuple((group, left.get(group), right.get(group)) for group in groups if left.get(group) != right.get(group))


def _by_group(digests: Sequence[Digest]) -> Mapping[str | None, Digest]:
    return {one.group: one for one in digests}
