"""Cases written as Python tests: their engines, their names, and their results.

A folder of such tests has a `conftest.py` that imports everything named in `__all__` from here. That brings the fixtures
`engine`, `writer` and `reader` (each a `Client`), once per engine of `--engine` and once per ordered pair. The marks
`requirements("MRG-029", ...)` and `needs("read.snapshot", writer=("create", ...))` name the rules that a test checks and the
features that it needs; an engine that does not declare them is not asked. A test that creates its tables and has no mark
`versions` holds for each table version; the version is drawn by the id of the case.
"""

import itertools
import zlib
from dataclasses import replace
from pathlib import PurePath
from types import FunctionType
from typing import Any

import pytest

from hudi_conformance.cases.suite_marks import read_guarantee
from hudi_conformance.cases.verdict import Judgement, Outcome, Result, describe_missing_features, judge_exception, one_line
from hudi_conformance.contract.client import Client
from hudi_conformance.contract.errors import ContractError
from hudi_conformance.engines import registry
from hudi_conformance.requirements.chapters import chapter_of_test
from hudi_conformance.requirements.requirement import VERSIONS, holds_for_each_version, is_version_drawn
from hudi_conformance.runner.pytest_session import get_session
from hudi_conformance.runner.session import Session

__all__ = ["engine", "pytest_generate_tests", "reader", "writer"]


@pytest.fixture(scope="session")
def engine(request: pytest.FixtureRequest) -> Client:
    """The started engine under test."""
    return get_session(request.config).client(request.param)


@pytest.fixture(scope="session")
def writer(request: pytest.FixtureRequest) -> Client:
    """The engine that writes, in a relay of two."""
    return get_session(request.config).client(request.param)


@pytest.fixture(scope="session")
def reader(request: pytest.FixtureRequest) -> Client:
    """The engine that reads, in a relay of two; the result is its result."""
    return get_session(request.config).client(request.param)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Once per engine for tests that take `engine`; once per ordered pair for those that take `writer` and `reader`."""
    engines = get_session(metafunc.config).engines
    if "engine" in metafunc.fixturenames:
        params = [pytest.param(e, marks=pytest.mark.hudi_engine(e), id=e) for e in engines]
        metafunc.parametrize("engine", params, indirect=True, scope="session")
    if {"writer", "reader"} <= set(metafunc.fixturenames):
        pairs = itertools.product(engines, repeat=2)
        params = [pytest.param(w, r, marks=pytest.mark.hudi_engine(r, writer=w), id=f"{w}-to-{r}") for w, r in pairs]
        metafunc.parametrize(("writer", "reader"), params, indirect=True, scope="session")


def case_id(item: pytest.Item) -> str:
    """`<file>::<test>` with its parameters, without the engine; a relay names the engine that wrote."""
    mark = _engine_mark(item)
    function = getattr(item, "originalname", item.name)
    words = [f"by {mark.kwargs['writer']}"] if "writer" in mark.kwargs else []
    words += [f"{name}={_text(value)}" for name, value in _own_parameters(item).items()]
    return f"{item.path.stem}::{function}" + (f"[{', '.join(words)}]" if words else "")


def cited_rules(item: pytest.Item) -> tuple[str, ...]:
    """The rules that a Python case cites, each of them once."""
    return tuple(dict.fromkeys(str(rule) for mark in item.iter_markers("requirements") for rule in mark.args))


def versions_of_test(item: pytest.Item) -> tuple[int, ...]:
    """The table versions of the tables that a Python case makes: what the closest mark says, or the drawn one."""
    mark = item.get_closest_marker("versions")
    return (item.stash.get(DRAWN, VERSIONS[0]),) if mark is None else tuple(sorted(mark.args))


def draw_version(item: pytest.Item, session: Session) -> int:
    """The version of the tables that a case creates, for a case that holds for each version: one of them by its id.

    The draw is the same in every run, so that lists of known failures hold; with `--table-version` it is that version. Tables
    that several cases share are of the first version otherwise, since an engine would have to write them twice. An engine that
    does not create tables of the version creates those of the first one.
    """
    needs = {feature for mark in item.iter_markers("needs") for feature in (*mark.args, *mark.kwargs.get("writer", ()))}
    marked = item.get_closest_marker("each_version") is not None
    if item.get_closest_marker("versions") is not None or not holds_for_each_version(needs, marked=marked):
        return VERSIONS[0]
    mark = _engine_mark(item)
    engines = {mark.args[0], mark.kwargs.get("writer", mark.args[0])}
    known = set.intersection(*(set(session.client(name).hello.features) for name in engines))
    only_reads = not any(feature.startswith(("create", "write.", "service.")) for feature in needs)
    knows = "table-version" if only_reads else "create.table-version"
    offered = [version for version in VERSIONS if version == VERSIONS[0] or f"{knows}.{version}" in known]
    if session.table_version in offered:
        return session.table_version
    if not is_version_drawn(getattr(item, "fixturenames", ())):
        return VERSIONS[0]
    return offered[zlib.crc32(case_id(item).encode()) % len(offered)]


def find_chapter(item: pytest.Item) -> str:
    """The chapter of the specification that a Python case belongs to."""
    return chapter_of_test(item.path, cited_rules(item))


def _own_parameters(item: pytest.Item) -> dict[str, Any]:
    spec = getattr(item, "callspec", None)
    return {} if spec is None else {n: v for n, v in spec.params.items() if n not in ("engine", "writer", "reader")}


def _text(value: Any) -> str:
    """A text of a parameter that is the same in every run and on every machine."""
    match value:
        case set() | frozenset():
            return f"{{{', '.join(sorted(map(repr, value)))}}}"
        case PurePath():
            return value.name
        case FunctionType():
            return value.__name__.strip("_")
        case _:
            return str(value)


def _engine_mark(item: pytest.Item) -> pytest.Mark:
    mark = item.get_closest_marker("hudi_engine")
    assert mark is not None
    return mark


#: Set on a relay whose writer lacks a feature. That is not a result of the reader.
NO_RESULT = pytest.StashKey[bool]()


#: The version of the tables that a case creates without naming one.
DRAWN = pytest.StashKey[int]()


#: Set on a case that is not run, because the run of its engine was stopped: the reason.
STOPPED = pytest.StashKey[str]()


def skip_unless_declared(item: pytest.Item, session: Session) -> None:
    """Skip a test whose engines do not declare what its `needs` marks name."""
    mark = _engine_mark(item)
    for engine_name in (mark.args[0], mark.kwargs.get("writer", mark.args[0])):
        if (stopped := session.stop_reason(engine_name)) is not None:
            item.stash[STOPPED] = stopped if engine_name == mark.args[0] else f"{engine_name}, which writes: {stopped}"
            pytest.skip(item.stash[STOPPED])
    for needs in item.iter_markers("needs"):
        writer, features = mark.kwargs.get("writer"), needs.kwargs.get("writer", ())
        if (
            writer is not None
            and (lack := describe_missing_features(tuple(features), session.client(writer).hello)) is not None
        ):
            item.stash[NO_RESULT] = True
            pytest.skip(f"{writer}, which writes: {lack}")
        if (lack := describe_missing_features(needs.args, session.client(mark.args[0]).hello)) is not None:
            pytest.skip(lack)
    item.stash[DRAWN] = draw_version(item, session)
    for engine_name in {mark.args[0], mark.kwargs.get("writer", mark.args[0])}:
        session.client(engine_name).table_version = item.stash[DRAWN]


def validate_written_tables(item: pytest.Item, session: Session) -> None:
    """Fail a test whose engine left a table that is not sound: a wrong file may not affect the rows that the test reads.

    In a relay of two engines the result is that of the reader, so that only a relay of an engine with itself is validated. The
    tables of a test that damages them on purpose are not.
    """
    mark = _engine_mark(item)
    client = session.client(mark.args[0])
    if mark.kwargs.get("writer", mark.args[0]) == mark.args[0] and item.get_closest_marker("leaves_damage") is None:
        tier = registry.find(mark.args[0]).validation
        problems = [text for uri in sorted(client.used & client.written) for text in session.validated.problems(uri, tier)]
        if problems:
            pytest.fail("\n".join(problems), pytrace=False)


def empty_result(item: pytest.Item) -> Result:
    """What is known about a Python test before it runs."""
    return Result(
        case=case_id(item),
        engine=_engine_mark(item).args[0],
        outcome=Outcome.ERROR,
        chapter=find_chapter(item),
        requirements=cited_rules(item),
        description=read_guarantee(getattr(item, "function", item).__doc__ or ""),
        versions=versions_of_test(item),
    )


def make_python_result(item: pytest.Item, call: pytest.CallInfo[None]) -> Result:
    """The result of a Python test, from its exception."""
    stopped = item.stash.get(STOPPED, None)
    judgement = Judgement(Outcome.NOT_RUN, stopped) if stopped is not None else _judgement(call.excinfo)
    return replace(empty_result(item), seconds=call.duration).with_judgement(judgement)


def _judgement(excinfo: pytest.ExceptionInfo[BaseException] | None) -> Judgement:
    if excinfo is None:
        return Judgement(Outcome.PASS)
    error = excinfo.value
    if isinstance(error, pytest.skip.Exception):
        return Judgement(Outcome.UNSUPPORTED, error.msg or "skipped")
    if isinstance(error, AssertionError | pytest.fail.Exception):
        return Judgement(Outcome.FAIL, one_line(str(error)) or "a wrong answer", str(error))
    if isinstance(error, ContractError):
        return judge_exception(error)
    return Judgement(Outcome.ERROR, f"{type(error).__name__}: {one_line(str(error))}", str(error))
