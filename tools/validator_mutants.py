"""Mutants of the validator: `python -m tools.validator_mutants [--only TEXT] [--every N]`.

Each condition of each check is negated, and each is replaced by false, one at a time; so each check is inverted, and dropped.
A mutant is noticed if a damaged table of the tests lacks its finding or has another one, if a sound table has a finding, or if
a check breaks. Only the tables whose validation executes the line are validated again. Exit code 1 if a mutant was not noticed.
"""

import argparse
import ast
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from functools import partial
from io import StringIO
from pathlib import Path
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

TESTS = Path(__file__).parents[1] / "conformance" / "tests"
sys.path += [str(TESTS / "support"), str(TESTS / "validator")]

import clauses_samples as clauses  # noqa: E402
import deep_damage_samples as deep  # noqa: E402
import pytest  # noqa: E402
import test_clauses  # noqa: E402
import test_deep_contradictions as contradictions  # noqa: E402
import test_deep_damage  # noqa: E402
import test_deep_golden_tables as golden  # noqa: E402
import test_limited_partitions as partitions  # noqa: E402
import test_local_folders  # noqa: E402
import test_sound_tables  # noqa: E402
import test_unsound_tables  # noqa: E402
import test_unsound_tables_of_version_6 as version_6  # noqa: E402
import test_written_schemas as schemas  # noqa: E402
import validated_tables_samples as tables  # noqa: E402
from damages_samples import Damage  # noqa: E402

from hudi_conformance.validator.all_checks import ALL, CHEAP  # noqa: E402
from hudi_conformance.validator.checks import cheap as cheap_checks  # noqa: E402
from hudi_conformance.validator.checks import checksum_files, hash_ranges, written_schemas  # noqa: E402
from hudi_conformance.validator.checks import deep as deep_checks  # noqa: E402
from hudi_conformance.validator.checks import writes as write_checks  # noqa: E402
from hudi_conformance.validator.checks.deep import files as file_checks  # noqa: E402
from hudi_conformance.validator.checks.finding import Check, Finding  # noqa: E402
from hudi_conformance.validator.stored.table import StoredTable  # noqa: E402
from hudi_conformance.validator.validation import validate  # noqa: E402
from hudi_reference.errors import HudiError  # noqa: E402
from hudi_reference.storage import Storage  # noqa: E402

#: What is known of a validated table: the findings, or the name of an error.
Seen = tuple[Finding, ...] | str


@dataclass(frozen=True)
class Example:
    """A table of the tests, and whether its findings are those that a test expects."""

    name: str
    load: Callable[[], StoredTable]
    checks: tuple[Check, ...]
    is_right: Callable[[Seen], bool]

    def seen(self) -> Seen:
        """What is found now."""
        try:
            found = validate(self.load(), self.checks)
        except Exception as error:
            return type(error).__name__
        return "broken" if found.broken else found.findings


#: Modules with tests of single tables, and those of them that take long or whose tables are examples already.
TESTED = (
    "bootstrapped_tables", "bounds_of_columns", "checksums_of_hadoop", "clustered_buckets", "consistent_hashing",
    "damaged_metadata_tables", "deep_contradictions", "deep_damage", "deleted_partitions", "filled_columns",
    "filters_of_files", "folded_findings", "key_forms", "keys_of_bytes", "merged_blocks", "parts_of_checks",
    "realistic_accidents", "renamed_columns", "repeated_keys", "rolled_log_files", "savepoints", "seen_writes",
    "single_findings", "sound_tables", "states_without_findings", "unknown_writes", "unnamed_files", "upgraded_tables",
    "value_types", "written_schemas",
)  # fmt: skip
_COLLECT = ("--collect-only", "--assert=plain", "-qq", "-m", "not spark and not long")
_LEFT_OUT = (
    "not contradiction and not sound_tables_have and not golden and not crash and not each_service and not readable_damage "
    "and not found_with_its_rule"
)


@dataclass(frozen=True)
class Tested:
    """A test without fixtures, but for patches and a folder, which is right if it passes."""

    name: str
    call: Callable[[], object]

    def seen(self) -> Seen:
        """No findings if the test passes."""
        try:
            self.call()
        except Exception as error:
            return type(error).__name__
        return ()

    @staticmethod
    def is_right(seen: Seen) -> bool:
        """Whether it passed."""
        return _is_sound(seen)


class _Collector:
    """A plugin that keeps the tests that were collected."""

    def __init__(self) -> None:
        self.items: list[Any] = []

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.items = session.items


def tests() -> Iterator[Tested]:
    """The tests of the modules that need nothing but their parameters, patches and a folder."""
    collector, paths = _Collector(), [str(TESTS / "validator" / f"test_{name}.py") for name in TESTED]
    with redirect_stdout(StringIO()):
        pytest.main([*_COLLECT, "-k", _LEFT_OUT, *paths], [collector])
    for item in collector.items:
        parameters = item.callspec.params if hasattr(item, "callspec") else {}
        needed = set(item.fixturenames) - set(parameters)
        if needed <= {"monkeypatch", "tmp_path"}:
            yield Tested(item.name, partial(_with_fixtures, needed, partial(item.function, **parameters)))


def _with_fixtures(names: Set[str], call: Callable[..., object]) -> None:
    with pytest.MonkeyPatch.context() as patches, tempfile.TemporaryDirectory(prefix="hudi-conformance-validator-") as folder:
        known = {"monkeypatch": patches, "tmp_path": Path(folder)}
        call(**{name: known[name] for name in names})


def _in_memory(name: str, storage: Storage, checks: tuple[Check, ...], is_right: Callable[[Seen], bool]) -> Example:
    return Example(name, partial(clauses.stored, storage), checks, is_right)


def _rules(seen: Seen) -> set[str]:
    return set() if isinstance(seen, str) else {one.rule for one in seen}


def _pairs(seen: Seen) -> frozenset[tuple[str, str]] | str:
    """The rules with the severities, or the name of the error."""
    return seen if isinstance(seen, str) else frozenset((one.rule, one.severity) for one in seen)


def _is_sound(seen: Seen) -> bool:
    return seen == ()


def examples(scratch: Path) -> Iterator[Example | Tested]:
    """The damaged tables of the tests with the findings that these expect, and sound ones."""
    yield from tests()
    for name, make in test_sound_tables.PROGRAMS.items():
        yield _in_memory(f"sound {name}", make(), ALL, _is_sound)
    for make in test_deep_damage.SOUND:
        yield _in_memory(f"sound {make.__name__}", make(), golden.DEEP, _is_sound)
    for one in test_unsound_tables.DAMAGES:
        storage = one.make()
        one.edit(storage)
        own = (test_unsound_tables.BY_NAME[one.check],)
        yield _in_memory(f"{one.name}: its check", storage, own, partial(_has_damage, one))
        yield _in_memory(one.name, storage, CHEAP, partial(_is_damage, one))
    for case in test_deep_damage.DAMAGES:
        storage = case.make()
        case.edit(storage)
        yield _in_memory(case.name, storage, test_deep_damage.d.DEEP, partial(_is_exactly, case.rules))
    for name, (table, rule, edit) in version_6.DAMAGES.items():
        storage = clauses.copied(version_6.TABLES / table / "table")
        edit(storage)
        yield _in_memory(f"version 6 {name}", storage, CHEAP, lambda seen, r=rule: r in _rules(seen))  # type: ignore[misc]
    for name, (table, edit) in version_6.SOUND.items():
        storage = clauses.copied(version_6.TABLES / table / "table")
        edit(storage)
        yield _in_memory(f"version 6 {name}", storage, CHEAP, _is_sound)
    yield from _of_contradictions()
    yield from _of_golden_tables()
    yield from _of_compatibility()
    yield from _of_schemas()
    yield from _of_clauses()
    yield from _of_partitions()
    yield from _of_folders(scratch)


def _has_damage(damage: Damage, seen: Seen) -> bool:
    return not isinstance(seen, str) and damage.is_found(seen) and damage.is_no_worse(seen)


def _is_damage(damage: Damage, seen: Seen) -> bool:
    return not isinstance(seen, str) and all(damage.explains(one.rule, one.severity) for one in seen)


def _is_exactly(expected: frozenset[tuple[str, str]] | set[tuple[str, str]], seen: Seen) -> bool:
    found = _pairs(seen)
    return not isinstance(found, str) and test_deep_damage.d.without_statistics(found, expected) == expected


def _is_like(expected: Seen, seen: Seen) -> bool:
    return _pairs(seen) == _pairs(expected)


def _of_contradictions() -> Iterator[Example]:
    """Tables whose rows, or entries of indexes, contradict other files, and the sound ones."""
    for make in contradictions.SOUND:
        yield _in_memory(f"sound {make.__name__}", make(), golden.DEEP, _is_sound)
    for name, (make, edit, expected) in contradictions.DAMAGES.items():
        storage = make()
        contradictions.damage(storage, edit)
        yield _in_memory(name, storage, golden.DEEP, partial(_is_exactly, expected))


def _of_golden_tables() -> Iterator[Example]:
    """Golden tables with indexes, captured changes and services: no finding but the true ones, which are there."""
    for table in [one for one in golden.golden_tables() if one.parts[-3] == "queries"][::4]:
        storage = clauses.copied(table)
        seen = Example("", partial(clauses.stored, storage), golden.DEEP, bool).seen()
        name = f"golden {table.parts[-2]}"
        yield _in_memory(name, storage, golden.DEEP, partial(_is_like, seen))


def _of_compatibility() -> Iterator[Example]:
    """Sound golden tables of version 6, those that were upgraded or downgraded, and one with a log file that two writes share:
    only the findings that are explained.
    """
    for case in test_sound_tables.SOUND:
        if case.parent.name == "compatibility" or case.name == "appended.by-two-actions":
            storage = clauses.copied(case / "table")
            seen = Example("", partial(clauses.stored, storage), CHEAP, bool).seen()
            yield _in_memory(f"golden {case.name}", storage, CHEAP, partial(_is_like, seen))


def _of_folders(scratch: Path) -> Iterator[Example]:
    """What only a local folder can have, and a sound one."""
    known = {"a sound folder": (lambda folder: None, 0, set()), **test_local_folders.EDITS}
    for number, (name, (edit, hours, expected)) in enumerate(known.items()):
        folder = test_local_folders.write_folder(scratch / str(number))
        edit(folder)
        load = partial(test_local_folders.load_later, folder, hours * test_local_folders.HOUR)
        yield Example(name, load, CHEAP, partial(_has_one, expected) if expected else _is_sound)


def _of_partitions() -> Iterator[Example]:
    """Damages of one partition, which are found in it alone."""
    for name, storage, rule in partitions.damaged():
        yield Example(name, partial(partitions.load, storage, "south"), ALL, lambda seen, r=rule: r in _rules(seen))  # type: ignore[misc]
        yield Example(f"not {name}", partial(partitions.load, storage, "north"), ALL, _is_sound)


def _of_schemas() -> Iterator[Example]:
    """Tables with a changed schema of their write: the damaged ones, and those that are sound all the same."""
    sound = [(schemas.written, schemas.typed(*one)) for one in schemas.WIDER]
    for make, change in (*sound, (schemas.with_ids, schemas.typed("size", "boolean"))):
        storage = make()
        schemas.change_schema(storage, change)
        yield _in_memory("wider schema", storage, schemas.CHECKS, _is_sound)
    storage = schemas.written("MERGE_ON_READ")
    schemas.change_schema(storage, lambda fields: fields.pop("size"))
    yield _in_memory("a column of blocks", storage, schemas.CHECKS, partial(_has_one, {("LF-038", "wrong-answers")}))
    for name, (change, _) in schemas.WRONG.items():
        storage = schemas.written()
        schemas.change_schema(storage, change)
        yield _in_memory(name, storage, schemas.CHECKS, partial(_has_one, {("LF-038", "wrong-answers")}))


def _has_one(wanted: set[tuple[str, str]], seen: Seen) -> bool:
    found = _pairs(seen)
    return not isinstance(found, str) and bool(found & wanted)


def _of_clauses() -> Iterator[Example]:
    made = (
        deep.indexed, deep.indexed_merge_on_read, tables.archived, tables.clustered, tables.cleaned, tables.deleted_partition,
        *test_clauses.ORIGINS["1.0.2, version 8"],
    )  # fmt: skip
    for topic, found in clauses.TOPICS.items():
        for clause in found:
            for make in made:
                storage = make()
                try:
                    clause.edit(storage)
                except clauses.NotPossible:
                    continue
                checks = CHEAP if topic in test_clauses.CHEAPLY else ALL
                pairs = {(rule, clause.severity) for rule in clause.rules}
                yield _in_memory(f"{topic}: {clause}", storage, checks, partial(_has_one, pairs))
                break


@dataclass(frozen=True)
class Mutant:
    """A changed condition. `codes` are the functions of the module with the change, by their qualified names."""

    module: ModuleType
    line: int
    kind: str
    text: str
    codes: Mapping[str, CodeType]

    def __str__(self) -> str:
        return f"{self.module.__name__.rpartition('validator.')[2]}:{self.line} {self.kind}: {self.text}"


def modules() -> Iterator[ModuleType]:
    """The modules of checks."""
    for package in (cheap_checks, write_checks, deep_checks, file_checks):
        for path in sorted(Path(package.__file__ or "").parent.glob("*.py")):
            if path.stem != "__init__":
                __import__(f"{package.__name__}.{path.stem}")
                yield sys.modules[f"{package.__name__}.{path.stem}"]
    yield checksum_files
    yield hash_ranges
    yield written_schemas


def mutants_of(module: ModuleType) -> Iterator[Mutant]:
    """All conditions of statements and of comprehensions, each negated and each false."""
    source = Path(module.__file__ or "").read_text()
    for number in range(len(_conditions(ast.parse(source)))):
        for kind in ("inverted", "dropped"):
            tree = ast.parse(source)
            owner, place = _conditions(tree)[number]
            test = _get(owner, place)
            new: ast.expr = ast.UnaryOp(ast.Not(), test) if kind == "inverted" else ast.Constant(False)
            _set(owner, place, ast.copy_location(new, test))
            code = compile(ast.fix_missing_locations(tree), module.__file__ or "", "exec")
            yield Mutant(module, test.lineno, kind, ast.unparse(test)[:90], dict(_functions(code)))


def _conditions(tree: ast.AST) -> list[tuple[Any, int | None]]:
    """The owners of conditions, each with the number of its condition if it has several."""
    found: list[tuple[Any, int | None]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.If | ast.IfExp):
            found.append((node, None))
        elif isinstance(node, ast.comprehension):
            found += [(node, number) for number in range(len(node.ifs))]
    return found


def _get(owner: Any, place: int | None) -> ast.expr:
    return owner.test if place is None else owner.ifs[place]  # type: ignore[no-any-return]


def _set(owner: Any, place: int | None, test: ast.expr) -> None:
    if place is None:
        owner.test = test
    else:
        owner.ifs[place] = test


def _functions(code: CodeType) -> Iterator[tuple[str, CodeType]]:
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield one.co_qualname, one
            yield from _functions(one)


@contextmanager
def applied(mutant: Mutant) -> Iterator[None]:
    """The functions of the module have the changed code meanwhile."""
    old = {function: function.__code__ for function in _defined(mutant.module)}
    for function, code in old.items():
        new = mutant.codes.get(code.co_qualname)
        if new is not None and new.co_freevars == code.co_freevars:
            function.__code__ = new
    try:
        yield
    finally:
        for function, code in old.items():
            function.__code__ = code


def _defined(module: ModuleType) -> Iterator[FunctionType]:
    """The functions and methods that a module defines."""
    for value in vars(module).values():
        if isinstance(value, FunctionType) and value.__module__ == module.__name__:
            yield value
        elif isinstance(value, type) and value.__module__ == module.__name__:
            for member in vars(value).values():
                function = getattr(member, "fget", None) or getattr(member, "func", None) or member
                if isinstance(function, FunctionType) and function.__module__ == module.__name__:
                    yield function


def lines_of(example: Example | Tested, files: frozenset[str]) -> tuple[Seen, set[tuple[str, int]]]:
    """What is seen of an example, and the lines of these files that its validation executes."""
    found: set[tuple[str, int]] = set()

    def in_a_line(frame: FrameType, event: str, argument: object) -> Any:
        found.add((frame.f_code.co_filename, frame.f_lineno))
        return in_a_line

    def at_a_call(frame: FrameType, event: str, argument: object) -> Any:
        return in_a_line if frame.f_code.co_filename in files else None

    before = sys.gettrace()
    sys.settrace(at_a_call)
    try:
        return example.seen(), found
    finally:
        sys.settrace(before)


def examples_by_line(scratch: Path, files: frozenset[str]) -> Mapping[tuple[str, int], list[Example | Tested]]:
    """The examples whose validation executes each line of these files. Raises HudiError for one that is wrong by itself."""
    found: dict[tuple[str, int], list[Example | Tested]] = defaultdict(list)
    for example in examples(scratch):
        seen, lines = lines_of(example, files)
        if not example.is_right(seen):
            raise HudiError(f"the test of {example.name} fails without a mutant: {seen}")
        for line in lines:
            found[line].append(example)
    return found


def noticed_by(mutant: Mutant, known: Sequence[Example | Tested]) -> Example | Tested | None:
    """The first of these examples whose findings become wrong."""
    with applied(mutant):
        return next((example for example in known if not example.is_right(example.seen())), None)


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="only mutants whose description contains this text")
    parser.add_argument("--every", type=int, default=1, help="only each n-th of them")
    asked = parser.parse_args()
    chosen = [one for module in modules() for one in mutants_of(module) if asked.only in str(one)][:: asked.every]
    with tempfile.TemporaryDirectory(prefix="hudi-conformance-validator-") as scratch:
        by_line = examples_by_line(Path(scratch), frozenset(str(one.module.__file__) for one in chosen))
        left, last = 0, dict[int, int]()
        for number, mutant in enumerate(chosen):
            known = by_line.get((str(mutant.module.__file__), mutant.line), [])
            # An example that noticed a mutant often notices the next ones; and damages come before the sound tables.
            example = noticed_by(mutant, sorted(known, key=lambda one: last.get(id(one), -1))[::-1])
            if example is None:
                left += 1
                print(f"NOT NOTICED by {len(known)} tables: {mutant}", flush=True)
            else:
                last[id(example)] = number
    print(f"{len(chosen)} mutants, {left} not noticed")
    return int(left > 0)


if __name__ == "__main__":
    sys.exit(main())
