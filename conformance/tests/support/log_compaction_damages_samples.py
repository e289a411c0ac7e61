"""Damages of the list of instants in the blocks of a log compaction."""

from collections.abc import Callable, Sequence

import validated_tables_samples as t
from damages_samples import Damage

from hudi_reference import log_compact
from hudi_reference.files.log.block import HeaderKey, encode_block
from hudi_reference.files.log.reader import read_log_file
from hudi_reference.storage import Storage


def log_compacted() -> Storage:
    """One base file and several log files in each of two partitions, of which a log compaction merged the first ones."""
    table = t._new("MERGE_ON_READ")
    for fare in range(4):
        table.upsert(t.rows(1, 2, 3, 4, fare=fare))
    assert log_compact(t.reopened(table.storage), {"hoodie.log.compaction.blocks.threshold": "1"})
    return table.storage  # type: ignore[no-any-return]


def list_times(change: Callable[[Sequence[str]], Sequence[str]]) -> Callable[[Storage], None]:
    """Change the list in one of the blocks."""

    def edit(storage: Storage) -> None:
        for path in t.log_files(storage):
            (block,) = read_log_file(storage, path)
            times = block.header.get(HeaderKey.COMPACTED_BLOCK_TIMES, "")
            if times:
                header = {**block.header, HeaderKey.COMPACTED_BLOCK_TIMES: ",".join(change(times.split(",")))}
                storage.put(path, encode_block(block.kind, header, bytes(block.content)))  # type: ignore[arg-type]
                return

    return edit


LOG_COMPACTION_DAMAGES = (
    Damage("the first merged block is not listed", "compacted-logs.blocks", "LCP-002", log_compacted,
           list_times(lambda times: [*times[:-1], times[0]]), severity="cosmetic", says="changes no row"),
    Damage("the last merged block is not listed", "compacted-logs.blocks", "LCP-002", log_compacted,
           list_times(lambda times: [times[-1], *times[1:]]), severity="cosmetic", says="changes no row"),
    Damage("no merged block is listed", "compacted-logs.blocks", "LCP-002", log_compacted, list_times(lambda times: [""]),
           ("TL-005",), says="Readers apply the merged blocks a second time."),
)  # fmt: skip
