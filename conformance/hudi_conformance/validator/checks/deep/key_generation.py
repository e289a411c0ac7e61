"""Record keys and partition paths that the fields of rows give, where the key generator of the table can be followed.

Deployed writers differ in the texts of floating-point numbers, decimals, timestamps and binary values, and in the form of the
key of a single field. So only texts, whole numbers, booleans and dates are followed,
and both forms of a single field are right.
"""

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from hudi_conformance.validator.stored.opened import Opened
from hudi_reference.errors import HudiError
from hudi_reference.query.pruning.partition_columns import DROP_KEY
from hudi_reference.records.keys.record_keys import KeyGenerator

_CERTAIN = (pt.is_string, pt.is_large_string, pt.is_integer, pt.is_boolean, pt.is_date32)


def computed_keys(opened: Opened, rows: pa.Table) -> tuple[pa.Array, ...]:
    """The keys that the fields of the rows may give, one array for each form; nothing if they cannot be computed."""
    made = _generator(opened)
    if made is None or not made.fields or not _are_certain(rows, made.fields):
        return ()
    try:
        keys = made.keys(rows)
    except HudiError:
        return ()
    if len(made.fields) > 1:
        return (keys,)
    prefix = f"{made.fields[0]}:"
    other = (
        pc.replace_substring_regex(keys, f"^{prefix}", "") if made.composite else pc.binary_join_element_wise(prefix, keys, "")
    )
    return (keys, other)


def computed_paths(opened: Opened, rows: pa.Table) -> pa.Array | None:
    """The partition paths that the fields of the rows give; None if they cannot be computed."""
    made = _generator(opened)
    properties = opened.properties
    if made is None or not made.parts or properties.is_set(DROP_KEY) or properties.splits_dates:
        return None
    if any(times is not None for _, times in made.parts) or not _are_certain(rows, (field for field, _ in made.parts)):
        return None
    try:
        return made.paths(rows)
    except HudiError:
        return None


def _generator(opened: Opened) -> KeyGenerator | None:
    try:
        return KeyGenerator.from_properties(opened.properties)
    except HudiError:
        return None


def _are_certain(rows: pa.Table, fields: Iterable[str]) -> bool:
    kinds = {field.name: field.type for field in rows.schema}
    return all(name in kinds and any(is_kind(kinds[name]) for is_kind in _CERTAIN) for name in fields)
