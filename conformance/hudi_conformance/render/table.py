"""The page of a table: properties, timeline, the partitions of its metadata table, and the slices of its file groups.

A table with many partitions is folded: each partition is one line.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from hudi_conformance.render.parts.layout import DIM, OK, WARNING, WRONG, Fact, format_count, print_facts
from hudi_conformance.render.timeline import show_timeline
from hudi_reference import Table
from hudi_reference.errors import HudiError
from hudi_reference.layout.metadata_settings import INFLIGHT, USABLE
from hudi_reference.layout.names import parse_data_file_name, split_path
from hudi_reference.layout.properties import META_FOLDER
from hudi_reference.metadata.availability import METADATA_FOLDER
from hudi_reference.query.file_groups import FileGroup, FileSlice
from hudi_reference.query.file_system_view import load_file_groups
from hudi_reference.query.pruning.folder_listing import Listed

#: The properties in the heading.
SUMMARY = {
    "hoodie.table.recordkey.fields": "record key",
    "hoodie.table.partition.fields": "partition",
    "hoodie.table.ordering.fields": "ordering",
    "hoodie.table.precombine.field": "ordering",
    "hoodie.record.merge.mode": "merge mode",
    "hoodie.table.timeline.timezone": "time zone",
    "hoodie.table.metadata.partitions": "metadata",
}
#: File groups of a partition, slices of a group that are shown unless all are asked for.
GROUPS, SLICES = 12, 3
#: Partitions that are shown with their file groups, and partitions that are listed if there are more.
TREES, LINES = 12, 30


def show_table(
    console: Console,
    table: Table,
    *,
    everything: bool = False,
    partitions: Sequence[str] = (),
    groups: list[FileGroup] | None = None,
    stored_version: str | None = None,
) -> None:
    """Print a table; with `everything` without abbreviations, with `partitions` the file groups of these alone.

    `groups` are these file groups, if they are known, and `stored_version` the version of a table that is shown by the rules
    of another one.
    """
    properties = table.properties
    groups = list_groups(table, partitions) if groups is None else groups  # before any output: an error follows no half page
    console.print(Text(properties.get("hoodie.table.name") or "(without a name)", style="bold"), overflow="fold")
    rules = properties.version
    shown = f"{rules}" if stored_version is None else f"{stored_version}, shown by the rules of version {rules}"
    console.print(Text.assemble((properties.get("hoodie.table.type") or "(without a type)", "cyan"), f" · version {shown}"))
    console.print()
    print_facts(console, _summary(properties.entries))
    console.print()
    show_timeline(console, table, everything=everything)
    if not partitions:
        _show_metadata(console, table)
    folders = partitions or ("",)
    sizes = {info.path: info.size for folder in folders for info in table.storage.list(folder, skip=META_FOLDER)}
    console.print(Text.assemble(("\nfile groups", "bold"), (f"  {_totals(groups, sizes)}", DIM)))
    for partition in sorted({*partitions} - {group.partition for group in groups}):
        console.print(Text(f"no file group is in partition {partition or '(not partitioned)'}", style=DIM), overflow="fold")
    by_partition = sorted(groups, key=lambda group: (group.partition, group.file_id))
    found = {name: list(group) for name, group in groupby(by_partition, key=lambda group: group.partition)}
    if everything or partitions or len(found) <= TREES:
        for partition, inside in found.items():
            console.print(_tree(partition, inside, sizes, everything=everything))
    else:
        _show_lines(console, found, sizes)


def show_error(console: Console, error: HudiError) -> None:
    """Print the error for which a reader refuses the table."""
    console.print(Text(f"\n{error}", style=WRONG), overflow="fold")
    console.print(Text("hudi-conformance validate TABLE shows everything that is wrong", style=DIM))


def list_groups(table: Table, partitions: Sequence[str] = ()) -> list[FileGroup]:
    """The file groups of these partitions, of which alone the folders are listed; without any, of the whole table."""
    if not partitions:
        return list(table.file_groups())
    wanted = {partition.strip("/") for partition in partitions}
    paths = {info.path for folder in wanted for info in table.storage.list(folder)}
    listed = Listed({path for path in paths if split_path(path)[0] in wanted}, wanted.__contains__)
    return list(load_file_groups(table.storage, table.properties, table.timeline, listing=lambda commits: listed))


def _show_lines(console: Console, found: Mapping[str, list[FileGroup]], sizes: Mapping[str, int]) -> None:
    """One line for each of the first partitions."""
    for partition, groups in islice(found.items(), LINES):
        console.print(Text.assemble(partition or "(not partitioned)", (f"  {_totals(groups, sizes)}", DIM)))
    left = len(found) - LINES
    more = f"... {format_count(left, 'more partition')}  (--all shows them)" if left > 0 else ""
    console.print(Text(f"{more}{'; ' if more else ''}--partition PATH shows the file groups of one", style=DIM))


def _show_metadata(console: Console, table: Table) -> None:
    """The partitions of the metadata table with their sizes."""
    building, usable = set(table.properties.fields(INFLIGHT)), set(table.properties.fields(USABLE))
    infos = table.storage.list(METADATA_FOLDER, skip=f"{METADATA_FOLDER}/{META_FOLDER}") if usable or building else []
    sizes: dict[str, list[int]] = {}
    for info in infos:
        partition, name = split_path(info.path.removeprefix(f"{METADATA_FOLDER}/"))
        if parse_data_file_name(name) is not None:
            sizes.setdefault(partition, []).append(info.size)
    if not (usable or building or sizes):
        return
    total = sum(map(sum, sizes.values()))
    console.print(Text.assemble(("\nmetadata table", "bold"), (f"  {format_size(total)}", DIM)))
    for partition in sorted({*usable, *building, *sizes}):
        files = sizes.get(partition, [])
        state = "" if partition in usable else "  being built" if partition in building else "  not in use"
        size = f"  {format_count(len(files), 'file')}, {format_size(sum(files))}"
        console.print(Text.assemble(partition, (size, DIM), (state, WARNING)))


def _summary(entries: Mapping[str, str]) -> Iterator[Fact]:
    for key, word in SUMMARY.items():
        if text := entries.get(key):
            yield word, text


def _totals(groups: Iterable[FileGroup], sizes: Mapping[str, int]) -> str:
    groups = list(groups)
    slices = [found for group in groups for found in group.slices]
    total = sum(sizes.get(part.path(name), 0) for part in slices for name in _names(part))
    return f"{format_count(len(groups), 'group')}, {format_count(len(slices), 'slice')}, {format_size(total)}"


def _names(part: FileSlice) -> list[str]:
    return [name for name in (part.base_file, *part.log_files) if name is not None]


def _tree(partition: str, groups: list[FileGroup], sizes: Mapping[str, int], *, everything: bool) -> Tree:
    """The slices of each group of a partition, newest first; the one that a snapshot reads is marked."""
    tree = Tree(Text(partition or "(not partitioned)", style="bold"), guide_style=DIM)
    for group in groups if everything else groups[:GROUPS]:
        replaced = f"  replaced by {group.replaced_by}" if group.replaced_by else ""
        branch = tree.add(Text.assemble(group.file_id, (replaced, DIM)))
        for part in islice(group.slices, None if everything else SLICES):
            _add_slice(branch, group, part, sizes)
        _fold(branch, len(group.slices) - SLICES, "older slice", everything=everything)
    _fold(tree, len(groups) - GROUPS, "more group", everything=everything)
    return tree


def _fold(tree: Tree, left: int, what: str, *, everything: bool) -> None:
    if left > 0 and not everything:
        tree.add(Text(f"... {format_count(left, what)}  (--all shows them)", style=DIM))


def _add_slice(branch: Tree, group: FileGroup, part: FileSlice, sizes: Mapping[str, int]) -> None:
    """A slice and its files. The slice before a pending compaction, which is merged with the latest one, is marked too."""
    latest = group.latest
    read = set() if latest is None else {latest.path(name) for name in _names(latest)}
    names = _names(part)
    marks = [("  latest", OK)] if names and all(part.path(name) in read for name in names) else []
    marks += [("  compaction pending", WARNING)] if part.pending_compaction else []
    total = sum(sizes.get(part.path(name), 0) for name in names)
    leaf = branch.add(Text.assemble(f"slice {part.base_instant}", (f"  {format_size(total)}" if names else "", DIM), *marks))
    for name in names:
        size = sizes.get(part.path(name))
        note = ("  missing", WRONG) if size is None else (f"  {format_size(size)}", DIM)
        leaf.add(Text.assemble(name, note))


def format_size(count: int) -> str:
    """A number of bytes with a unit."""
    size = float(count)
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000:
            return f"{count:,} bytes" if unit == "bytes" else f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:,.3g} TB"
