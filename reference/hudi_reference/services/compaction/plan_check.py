"""Which plans of compactions and log compactions are not executed, spec "Table Management > Compaction".

A pending plan may come from another engine, or may have been changed. Before anything is stored:

    both              each file group is one of the table and is named once, with files of its slice when the plan was made:
                      log files of an earlier slice are merged already
    compaction        the plan has the base file of the slice, and every log file that had completed when the plan was made:
                      readers take what the plan leaves out for merged
    compaction        no earlier compaction of the file group was pending then: rows of its slice would be left out
    log compaction    no log file between the planned ones is left out: the compacted blocks take the place of the newest one
"""

from collections.abc import Iterable, Sequence

from hudi_reference.layout.names import parse_data_file_name
from hudi_reference.query.file_groups import FileGroup, FileSlice
from hudi_reference.query.table import Table
from hudi_reference.requirement import implements
from hudi_reference.services.planning.compaction_plan import Operation
from hudi_reference.services.planning.unsafe_plan import unsafe_plan
from hudi_reference.timeline.active import Timeline


@implements("CMP-003", "LCP-001", "TL-015")
def check_operations(table: Table, action: str, requested: str, operations: Iterable[Operation]) -> None:
    """Check the operations of the plan of that action. Changes nothing. Raises UnsafePlan."""
    view, seen = table.view(), set()
    for one in operations:
        group = view.groups.groups.get(one.group)
        found = _fault(view.timeline, group, one.file_slice, requested, is_compaction=action == "compaction")
        if one.group in seen:
            found = "the file group a second time"
        seen.add(one.group)
        if found is not None:
            raise unsafe_plan(
                table, action, requested, f"the plan of the {action} would change rows", rule="TL-015",
                expected="the files of each slice when the plan was made",
                found=f"{one.file_slice.path(one.file_slice.file_id)}: {found}",
            )  # fmt: skip


def _fault(
    timeline: Timeline, group: FileGroup | None, planned: FileSlice, requested: str, *, is_compaction: bool
) -> str | None:
    """What is wrong with a planned slice; None if nothing is."""
    for name in planned.files:
        parsed = parse_data_file_name(name)
        if parsed is None or parsed.file_id != planned.file_id:
            return f"{name} of another file group"
    then = None if group is None else _slice_before(timeline, group, requested)
    if group is None or then is None:
        return "no such slice when the plan was made"
    newest = next(one for one in group.slices if one.base_instant < requested)
    if is_compaction and (newest.pending_compaction or newest is not then):
        return f"the slice of {newest.base_instant} had not completed when the plan was made"
    foreign = next((name for name in planned.log_files if name not in then.log_files), None)
    if foreign is not None:
        return f"{foreign} of no write to the slice"
    if is_compaction and then.base_file != planned.base_file:
        return f"{planned.base_file or 'no base file'} in the place of {then.base_file or 'none'}"
    needed = then.log_files if is_compaction else _between(then.log_files, planned.log_files)
    left_out = (name for name in needed if name not in planned.log_files and _had_completed(timeline, name, requested))
    return next((f"no {name}" for name in left_out), None)


def _slice_before(timeline: Timeline, group: FileGroup, requested: str) -> FileSlice | None:
    """The latest slice of a group at a requested time."""
    for one in group.slices:
        if one.base_instant < requested and (one.base_file is None or _had_completed(timeline, one.base_file, requested)):
            return one
    return None


def _had_completed(timeline: Timeline, name: str, time: str) -> bool:
    parsed = parse_data_file_name(name)
    completion = None if parsed is None else timeline.completion_of(parsed.instant)
    return completion is not None and completion < time


def _between(names: Sequence[str], chosen: Sequence[str]) -> Sequence[str]:
    """The names from the first to the last of the chosen ones."""
    places = [place for place, name in enumerate(names) if name in chosen]
    return names[min(places) : max(places) + 1] if places else ()
