"""How a table merges: its mode and ordering fields, and in mode CUSTOM its merger, spec "Record Merger"."""

from dataclasses import dataclass

from hudi_reference.layout.merging import MergeMode


@dataclass(frozen=True)
class Merging:
    """What decides between the versions of a record. Queries, writes and services hand it on whole, so they agree."""

    mode: MergeMode
    ordering: tuple[str, ...] = ()
