"""Which cases the patterns of `--only` and `--skip` choose.

A pattern is an id, or a chapter, an area of rules, a rule or an erratum that the case cites; `*` and `?` match any text. Old
ids of renamed cases stay valid. `nodes` chooses from the indexes what pytest has to collect, so that choosing one case does not
collect all others; `chosen` then compares the collected items, which have parameters, with the same patterns.
"""

import difflib
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from hudi_conformance.cases.case_index import IndexedCase, golden_cases, python_case, python_cases
from hudi_conformance.cases.renames import current_case
from hudi_conformance.requirements.chapters import chapters, golden_words
from hudi_conformance.requirements.requirement import requirements

if TYPE_CHECKING:
    import pytest


class UnknownPattern(LookupError):
    """No case matches a pattern; `near` are names that may be meant."""

    def __init__(self, pattern: str, message: str, near: Sequence[str] = ()) -> None:
        super().__init__(message + (f"; did you mean {', '.join(near)}?" if near else ""))
        self.pattern, self.near = pattern, tuple(near)


def case_names(id_: str, chapter: str, rules: Iterable[str], errata: Iterable[str] = ()) -> list[str]:
    """The names under which a case is chosen: id, with and without parameters, chapter, areas, rules, errata."""
    rules = tuple(rules)
    areas = dict.fromkeys(rule.rpartition("-")[0] for rule in rules)
    return [id_, id_.partition("[")[0], chapter, *areas, *rules, *errata]


def matches_any(names: Iterable[str], pattern: str) -> bool:
    """Whether one of the names is `pattern`, or matches it."""
    return any(name == pattern or fnmatchcase(name, pattern) for name in names)


# Before collecting: what pytest is asked for.


def nodes_to_collect(only: Sequence[str], skip: Sequence[str] = ()) -> list[str]:
    """The case files and tests that pytest has to collect for these patterns.

    More Python cases may be collected than are chosen: parameters are not in the index.

    Raises:
        UnknownPattern: a pattern matches no case.
    """
    skipped = {case.id for pattern in map(current_case, skip) for case in _found(pattern)}
    found = {case.id: case for pattern in map(current_case, only) for case in _found(pattern)}
    return [case.node for case in found.values() if case.id not in skipped or "::" in case.id]


def _found(pattern: str) -> list[IndexedCase]:
    """The cases that a pattern chooses. For the exact id of a case the other test files are not parsed."""
    golden = [case for case in golden_cases() if is_chosen(case, pattern)]
    if any(case.id == pattern for case in golden):
        return golden
    exact = python_case(pattern)
    found = [*golden, *([exact] if exact is not None else [c for c in python_cases() if is_chosen(c, pattern)])]
    if not found:
        raise _unknown(pattern)
    return found


def is_chosen(case: IndexedCase, pattern: str) -> bool:
    """Whether a pattern chooses an indexed case, or one of its parameters."""
    names = case_names(case.id, case.chapter, case.requirements, case.errata)
    without_parameters = pattern.partition("[")[0]
    return (
        matches_any(names, pattern) or matches_any([case.id], without_parameters) or (case.more_rules and _is_of_rules(pattern))
    )


def _is_of_rules(pattern: str) -> bool:
    """Whether a pattern can choose by a rule or an area."""
    areas = [area for chapter in chapters().values() for area in chapter.areas]
    return matches_any([*requirements(), *areas], pattern)


def _unknown(pattern: str) -> UnknownPattern:
    if pattern in requirements():
        return UnknownPattern(pattern, f"no case cites {pattern} yet")
    found = (
        f"no case matches {pattern!r}" if "*" in pattern else f"no case has an id, chapter, area, rule or erratum {pattern!r}"
    )
    return UnknownPattern(pattern, found, similar_patterns(pattern))


def similar_patterns(pattern: str) -> list[str]:
    """Up to five patterns that look like `pattern`: chapters and areas first, then rules and ids."""
    every = (*golden_cases(), *python_cases())
    groups = [*chapters(), *(area for chapter in chapters().values() for area in chapter.areas)]
    ids = list(dict.fromkeys(case.id for case in every))
    plain = pattern.strip("*?").rstrip(".:")
    wider = [f"{plain}{end}*" for end in (".", "::") if any(id_.startswith(f"{plain}{end}") for id_ in ids)]
    close = difflib.get_close_matches(plain, groups, n=2, cutoff=0.6)
    close += difflib.get_close_matches(plain, [*requirements(), *ids], n=5, cutoff=0.7)
    inside = [name for name in (*groups, *ids) if plain and plain.lower() in name.lower()]
    same_word = [f"{word}.*" for word in golden_words() if plain.startswith(f"{word}.")]
    return list(dict.fromkeys([*wider, *close[:4], *same_word, *inside]))[:5]


# After collecting: items with parameters.


def is_item_chosen(item: "pytest.Item", only: Sequence[str], skip: Sequence[str]) -> bool:
    """Whether an item of the suite is chosen; without `only` every item is that is not skipped."""
    names = item_names(item)
    wanted = not only or any(matches_any(names, current_case(pattern)) for pattern in only)
    return wanted and not any(matches_any(names, current_case(pattern)) for pattern in skip)


def item_names(item: "pytest.Item") -> list[str]:
    """The names under which an item of the suite is chosen."""
    from hudi_conformance.runner import python_cases as programs
    from hudi_conformance.runner.golden_cases import CaseItem

    if isinstance(item, CaseItem):
        return case_names(item.case.id, item.case.chapter, item.case.requirements, item.case.errata)
    return case_names(programs.case_id(item), programs.find_chapter(item), programs.cited_rules(item))


def group_by_engine(items: list["pytest.Item"]) -> None:
    """One worker of xdist for each engine that is a process, so that it starts once; a relay goes to the later one."""
    import pytest

    from hudi_conformance.engines import registry

    order = {info.name: n for n, info in enumerate(registry.shipped())}
    for item in items:
        mark = item.get_closest_marker("hudi_engine")
        assert mark is not None
        names = {mark.args[0], mark.kwargs.get("writer", mark.args[0])}
        processes = [n for n in names if _is_process(n)]
        if processes:
            item.add_marker(pytest.mark.xdist_group(max(processes, key=lambda n: (order.get(n, len(order)), n))))


def _is_process(engine: str) -> bool:
    from hudi_conformance.engines import registry

    try:
        return registry.find(engine).factory is None
    except ValueError:
        return False
