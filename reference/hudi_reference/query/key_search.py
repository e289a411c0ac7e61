"""Which record keys a file slice may have, decided without reading its rows.

    part of the slice    decided by
    base file            the bloom filter in its footer; its record keys, if it has no filter that can be used
    log blocks           the record keys of their rows; an Avro block has no key whose bytes it does not have

A key that is not found has no row in the slice. A key that is found may have none: a bloom filter may be wrong about it, and
deleted rows count. So the merge is not needed, and delete blocks are not read.

A filter is not used if it cannot be decoded, if its footer has no range of keys, so that no key was added to it, and in tables
without meta columns. Files that cannot be read may have every key: reading their rows reports the error.
"""

from collections.abc import Collection
from contextlib import suppress

import pyarrow as pa
import pyarrow.compute as pc

from hudi_reference.errors import HudiError
from hudi_reference.files.base_file import read_footer
from hudi_reference.files.log.block import Block, BlockType
from hudi_reference.query.file_groups import FileSlice
from hudi_reference.query.slice_reader import SliceReader
from hudi_reference.requirement import implements

#: For so many keys their bytes are looked for in a block before its rows are decoded, and filters are asked. For more keys a
#: filter is asked if it is made for so many times as many: hashing a key costs as much as reading about so many stored ones.
_FEW_KEYS = 16


def may_have_keys(reader: SliceReader, file_slice: FileSlice, keys: Collection[str]) -> bool:
    """Whether a slice may have a row with one of the keys."""
    return len(possible_keys(reader, file_slice, pa.array(list(keys), pa.string()))) > 0


@implements("IDX-004", "IDX-012", "RDR-012")
def possible_keys(reader: SliceReader, file_slice: FileSlice, keys: pa.Array) -> pa.Array:
    """Those of the keys that rows of a slice may have; with duplicates."""
    if not len(keys):
        return keys
    none = keys.slice(0, 0)
    try:
        in_base_file = none if file_slice.base_file is None else _keys_in_base_file(reader, file_slice, keys)
        in_logs = _keys_in_logs(reader, file_slice, keys) if file_slice.log_files else none
    except HudiError:
        return keys
    return pa.concat_arrays([in_base_file, in_logs])


def _keys_in_base_file(reader: SliceReader, file_slice: FileSlice, keys: pa.Array) -> pa.Array:
    if not reader.key_fields:
        with suppress(HudiError):
            footer = read_footer(reader.storage, file_slice.path(file_slice.base_file or ""))
            bloom = None if footer.min_key is None else footer.bloom_filter()
            if bloom is not None and len(keys) <= max(_FEW_KEYS, bloom.size // _FEW_KEYS):
                return keys.filter(pa.array(bloom.may_hold(keys), pa.bool_()))
    return _among(keys, reader.base_keys(file_slice))


def _keys_in_logs(reader: SliceReader, file_slice: FileSlice, keys: pa.Array) -> pa.Array:
    blocks = [block for block in reader.scanner.blocks(file_slice) if block.kind is not BlockType.DELETE]
    if len(keys) <= _FEW_KEYS and not reader.key_fields:
        texts = [key.encode() for key in keys.to_pylist()]
        blocks = [block for block in blocks if block.kind is not BlockType.AVRO_DATA or _has_bytes(block, texts)]
    return _among(keys, reader.logged_keys(blocks))


def _has_bytes(block: Block, texts: Collection[bytes]) -> bool:
    content = bytes(block.content)
    return any(text in content for text in texts)


def _among(keys: pa.Array, stored: pa.ChunkedArray) -> pa.Array:
    return keys.filter(pc.is_in(keys, value_set=stored))
