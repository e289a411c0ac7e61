"""Damages of log files: rows of data blocks and of change-capture files, deletes, headers, whole blocks."""

import random
from collections.abc import Callable, Mapping

import pyarrow as pa
from tools.draw_damages.base_files import changed_rows
from tools.draw_damages.drawn import Drawn, NotPossible, paths_of

from hudi_reference.files.log.block import Block, BlockType, CorruptBlock, HeaderKey, encode_block
from hudi_reference.files.log.content import Delete, block_schema, decode_deletes, decode_rows, encode_deletes, encode_rows
from hudi_reference.files.log.reader import read_log_file
from hudi_reference.layout.names import split_path
from hudi_reference.query.slice_reader import partial_columns
from hudi_reference.storage import MemoryStorage


def is_log_file(path: str) -> bool:
    return ".log." in path and not path.endswith(".cdc")


def _is_data_log(path: str) -> bool:
    return is_log_file(path) and not path.startswith(".hoodie/")


def _drawn_block(
    draw: random.Random, storage: MemoryStorage, wanted: Callable[[str], bool], kind: BlockType | None = None
) -> tuple[str, Block]:
    """A log file and one of its blocks."""
    path = draw.choice(paths_of(storage, wanted))
    blocks = [one for one in read_log_file(storage, path) if isinstance(one, Block) and not isinstance(one, CorruptBlock)]
    chosen = [one for one in blocks if kind in (None, one.kind)]
    if not chosen:
        raise NotPossible
    return path, draw.choice(chosen)


def _replace(storage: MemoryStorage, path: str, block: Block, by: bytes) -> None:
    data = storage.get(path)
    changed = data[: block.offset] + by + data[block.end :]
    if changed == data:
        raise NotPossible
    storage.put(path, changed)


def change_log_rows(draw: random.Random, storage: MemoryStorage) -> Drawn:
    """Drop, double or change a row of an Avro block; its positions are kept or left out."""
    path, block = _drawn_block(draw, storage, _is_data_log, BlockType.AVRO_DATA)
    header = dict(block.header)
    if draw.random() < 0.5:
        header.pop(HeaderKey.RECORD_POSITIONS, None)
    return _change_rows(draw, storage, path, block, header)


def change_change_rows(draw: random.Random, storage: MemoryStorage) -> Drawn:
    """Drop, double or change a row of a change-capture file."""
    path, block = _drawn_block(draw, storage, lambda path: path.endswith(".cdc"))
    return _change_rows(draw, storage, path, block, block.header)


def _change_rows(
    draw: random.Random, storage: MemoryStorage, path: str, block: Block, header: Mapping[HeaderKey, str]
) -> Drawn:
    what, rows = changed_rows(draw, decode_rows(block))
    if partial_columns(block) is not None and what.endswith("_hoodie_record_key"):
        what += ", the only place of the key"  # a block of some columns need not have the fields of the key
    try:
        content = encode_rows(rows, block_schema(block))
    except (TypeError, ValueError, AttributeError):  # the schema of the block has no such value
        raise NotPossible from None
    _replace(storage, path, block, encode_block(block.kind, header, content))
    return Drawn(f"log row {what.partition(' ')[0]}", f"{path} at {block.offset}: {what.partition(' ')[2]}")


def change_deletes(draw: random.Random, storage: MemoryStorage) -> Drawn:
    """Drop or double a delete, or let it name another key."""
    path, block = _drawn_block(draw, storage, _is_data_log, BlockType.DELETE)
    deletes = list(decode_deletes(block))
    if not deletes or any(one.ordering is not None for one in deletes):
        raise NotPossible
    number, how = draw.randrange(len(deletes)), draw.choice(("drop", "twice", "other"))
    chosen = deletes[number]
    if how == "other":
        deletes[number] = Delete(draw.choice(["a", "b", "k1", "1", f"{chosen.key}1"]), chosen.partition, None)
    else:
        deletes[number : number + 1] = [] if how == "drop" else [chosen, chosen]
    _replace(storage, path, block, encode_block(block.kind, dict(block.header), encode_deletes(deletes, [pa.int64()])))
    return Drawn(f"delete {how}", f"{path} at {block.offset}: {chosen.key}")


def change_header(draw: random.Random, storage: MemoryStorage) -> Drawn:
    """Remove or change an entry of a block's header, drop the block, or double it."""
    path, block = _drawn_block(draw, storage, is_log_file)
    if not block.header:
        raise NotPossible
    key, how = draw.choice(sorted(block.header, key=str)), draw.choice(("remove", "other", "drop block", "block twice"))
    times = [name[:17] for name in (split_path(one)[1] for one in paths_of(storage)) if name[:17].isdigit()]
    header = dict(block.header)
    if how == "remove":
        del header[key]
    elif how == "other":
        header[key] = draw.choice(times) if key in (HeaderKey.INSTANT_TIME, HeaderKey.TARGET_INSTANT_TIME) else "other"
    whole = storage.get(path)[block.offset : block.end]
    by = {"drop block": b"", "block twice": whole * 2}.get(how)
    _replace(storage, path, block, encode_block(block.kind, header, bytes(block.content)) if by is None else by)
    return Drawn(f"header {how}", f"{path} at {block.offset}: {key}")
