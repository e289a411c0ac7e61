"""Golden cases as pytest items: one case file, one item per engine."""

import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from hudi_conformance.cases import case as cases
from hudi_conformance.cases.case import Case
from hudi_conformance.cases.schema import CaseError
from hudi_conformance.cases.verdict import (
    Answer,
    Judgement,
    Outcome,
    Result,
    describe_missing_features,
    empty_result,
    judge_answer,
    judge_exception,
)
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError, EngineCrash, EngineTimeout
from hudi_conformance.runner.pytest_session import get_session
from hudi_conformance.runner.session import Session
from hudi_conformance.runner.table_copies import TableCopies


class ChapterFolder(pytest.Directory):
    """A folder of folders of golden cases. Each file in it is known, so that no plugin has to be asked about it."""

    def collect(self) -> Iterator[pytest.Collector]:
        """The cases: those that are named to pytest if it is not asked for the whole folder, otherwise all."""
        is_named = self.session.isinitpath
        everything = any(map(is_named, (self.path, *self.path.parents)))
        for name in sorted(entry.name for entry in os.scandir(self.path) if entry.is_dir()):
            folder = self.path / name
            if is_named(folder, with_parents=True):  # pytest then looks for this folder by its path
                yield CaseFolder.from_parent(self, path=folder)
            elif everything and (folder / "case.json").is_file():
                yield make_case_file(self, folder / "case.json")


class CaseFolder(pytest.Directory):
    """The folder of a golden case. The folders inside it are those of a table, which has no tests."""

    def collect(self) -> Iterator[pytest.Collector]:
        """The case file."""
        yield make_case_file(self, self.path / "case.json")


class CaseFile(pytest.File):
    """A `case.json`; a mistake in it is an error of collection, reported in one line."""

    session_of_run: Session

    def collect(self) -> Iterator[pytest.Item]:
        """One item per engine, named after it."""
        case = cases.load_case(self.path)
        for engine in self.session_of_run.engines:
            item: CaseItem = CaseItem.from_parent(self, name=engine, case=case, run=self.session_of_run)
            item.add_marker(pytest.mark.hudi_engine(engine))
            yield item

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The error of the case file without a traceback, because the mistake is in the file."""
        if isinstance(excinfo.value, CaseError):
            return str(excinfo.value)
        return super().repr_failure(excinfo)


def make_case_file(parent: pytest.Collector, path: Path) -> CaseFile:
    """The collector of the case in the file `path`."""
    file: CaseFile = CaseFile.from_parent(parent, path=path)
    file.session_of_run = get_session(parent.config)
    return file


class CaseItem(pytest.Item):
    """One case on one engine. Running it does not raise the errors of the engine: the result has them."""

    def __init__(self, *, case: Case, run: Session, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.case = case
        self.run = run
        self.result: Result | None = None

    def runtest(self) -> None:
        """Ask the engine and judge the answer."""
        if (stopped := self.run.stop_reason(self.name)) is not None:
            self.result = empty_result(self.case, self.name).with_judgement(Judgement(Outcome.NOT_RUN, stopped))
            return
        try:
            client = self.run.client(self.name)
        except ContractError as error:
            found = judge_exception(error)
            self.result = empty_result(self.case, self.name).with_judgement(found)
            return
        self.case = self.case.at_version(self._named_version(client))
        started = time.perf_counter()
        is_asked = describe_missing_features(self.case.needs, client.hello) is None
        answer = ask_engine(client, self.case, self.run.copies) if is_asked else None
        self.result = judge_answer(self.case, self.name, client.hello, answer, time.perf_counter() - started)

    def _named_version(self, client: Client) -> int | None:
        """The table version that the run names, if the engine knows it."""
        version = self.run.table_version
        return version if f"table-version.{version}" in client.hello.features else None

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """The case id and the engine, for headings."""
        return self.path, None, f"{self.case.id} on {self.name}"


#: After so many crashes or time-outs in one case of several questions, the others are not asked.
MOST_CRASHES = 3


def ask_engine(client: Client, case: Case, copies: TableCopies | None = None) -> Answer | list[Answer]:
    """The answer of the engine to the case, on a copy of its table or file; an exception is an answer too.

    For a case of several questions it is a list: one answer for each of its variants, reads or vectors, in order. With
    `copies`, cases of one table share a copy while it is unchanged.
    """
    if case.vectors is not None:
        function = case.vectors.function
        return _each(partial(client.compute, function, test.arguments) for test in case.vectors.tests)
    if copies is not None and case.table is not None:
        return _ask_about(client, case, copies.find_copy(client.name, case))
    with tempfile.TemporaryDirectory(prefix="hudi-conformance-case-") as scratch:
        folder = Path(scratch)
        if not case.variants:
            return _ask_about(client, case, cases.copy_subject(case, folder))
        data = case.subject.read_bytes()
        damaged = enumerate(variant.apply(data) for variant in case.variants)
        return _each(partial(_inspect_bytes, client, case, folder / str(number), copy) for number, copy in damaged)


def _ask_about(client: Client, case: Case, uri: str) -> Answer | list[Answer]:
    """The answer or answers about a copy of a table or file."""
    if case.reads:
        return _each(partial(client.read, uri, read.query) for read in case.reads)
    if case.inspects:
        return _answer(lambda: client.inspect(uri, keys=case.keys, prefix=case.prefix))
    return _answer(lambda: client.read(uri, case.query))


def _inspect_bytes(client: Client, case: Case, folder: Path, data: bytes) -> Answer:
    folder.mkdir()
    return client.inspect(cases.write_file(case.subject.name, data, folder), keys=case.keys, prefix=case.prefix)


def _each(questions: Iterable[Callable[[], Answer]]) -> list[Answer]:
    answers: list[Answer] = []
    crashes: list[Answer] = []
    for question in questions:
        answers.append(crashes[-1] if len(crashes) == MOST_CRASHES else _answer(question))
        if isinstance(answers[-1], EngineCrash | EngineTimeout):
            crashes.append(answers[-1])
    return answers


def _answer(question: Callable[[], Answer]) -> Answer:
    try:
        return question()
    except Exception as error:  # any exception is the engine's answer, and is judged
        return error
