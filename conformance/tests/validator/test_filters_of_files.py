"""The bloom filters in the footers of base files."""

from collections.abc import Sequence

import deep_damage_samples as d
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hudi_reference.storage import Storage

_FILTER = (b"org.apache.hudi.bloomfilter", b"hoodie_bloom_filter_type_code")
_RANGE = (b"hoodie_min_record_key", b"hoodie_max_record_key")


def _lose(storage: Storage, path: str, names: Sequence[bytes]) -> None:
    """Store a Parquet file without these entries of its footer."""
    file = pq.read_table(pa.BufferReader(storage.get(path)))
    kept = {key: value for key, value in (file.schema.metadata or {}).items() if key not in names}
    sink = pa.BufferOutputStream()
    pq.write_table(file.replace_schema_metadata(kept), sink)
    storage.put(path, sink.getvalue().to_pybytes())


def _found(storage: Storage) -> list[tuple[str, str, str]]:
    return [(one.rule, one.severity, one.path) for one in d.found_in(storage) if one.rule == "IDX-004"]


@pytest.mark.parametrize("names", [_FILTER, (*_FILTER, *_RANGE)])
def test_a_file_without_a_filter_beside_others(names: Sequence[bytes]) -> None:
    """IDX-004, ER-076: an upsert with a bloom index fails at the one file without a filter. No query needs one."""
    storage = d.copy_on_write()
    path = d.base_files(storage)[-1]
    _lose(storage, path, names)
    assert _found(storage) == [("IDX-004", "cosmetic", path)]


def test_a_file_without_a_range_is_sound() -> None:
    """IDX-004: a lookup reads a file without a range of keys whatever the key is."""
    storage = d.copy_on_write()
    _lose(storage, d.base_files(storage)[-1], _RANGE)
    assert _found(storage) == []


def test_no_file_needs_a_filter() -> None:
    """IDX-004: writers can be set to store no filters. Files of older slices are not looked up."""
    storage = d.copy_on_write()
    _lose(storage, d.base_files(storage)[0], _FILTER)
    assert _found(storage) == []
    for partition in ("x", "y"):
        _lose(storage, d.base_files(storage, partition)[-1], _FILTER)
    assert _found(storage) == []
