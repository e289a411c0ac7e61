"""Which cases a pattern means, and which process runs them."""

from fnmatch import fnmatchcase

import pytest

from hudi_conformance.cases.renames import current_case
from hudi_conformance.engines import registry
from hudi_conformance.runner import python_cases
from hudi_conformance.runner.golden_cases import CaseItem


def matches(item: pytest.Item, pattern: str) -> bool:
    """Whether `pattern` is the case's id or area or one of its requirements, or matches one of them with `*` and `?`."""
    pattern = current_case(pattern)
    if isinstance(item, CaseItem):
        names = [item.case.id, item.case.chapter, *item.case.requirements]
    else:
        name = python_cases.case_id(item)
        names = [name, name.partition("[")[0], python_cases.chapter_of(item), *python_cases.rules_of(item)]
    return any(pattern == name or fnmatchcase(name, pattern) for name in names)


def group_by_engine(items: list[pytest.Item]) -> None:
    """One worker of xdist for each engine that is a process, so that it starts once; a relay goes to the later one."""
    order = {info.name: n for n, info in enumerate(registry.shipped())}
    for item in items:
        mark = item.get_closest_marker("hudi_engine")
        assert mark is not None
        names = {mark.args[0], mark.kwargs.get("writer", mark.args[0])}
        processes = [n for n in names if _is_process(n)]
        if processes:
            item.add_marker(pytest.mark.xdist_group(max(processes, key=lambda n: (order.get(n, len(order)), n))))


def _is_process(engine: str) -> bool:
    try:
        return registry.find(engine).factory is None
    except ValueError:
        return False
