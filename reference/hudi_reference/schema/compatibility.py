"""Which types of incoming columns can be written into a column of the table: those whose every value the column can store.

Stored rows may be widened further when the schema evolves (`evolution`). Rows of a write must fit without conversion, so the
text "12" is not written as a number.
"""

import pyarrow as pa
import pyarrow.types as pt

from hudi_reference.requirement import implements


@implements("LF-038")
def fits(found: pa.DataType, wanted: pa.DataType) -> bool:
    """Whether a column of type `found` can be written into one of type `wanted`; values of timestamps are checked later."""
    if found == wanted or pt.is_null(found):
        return True
    if pt.is_dictionary(found):
        return fits(found.value_type, wanted)
    if pt.is_nested(wanted):
        return _nested_fits(found, wanted)
    return _number_fits(found, wanted) or any(
        is_kind(found) and is_kind(wanted) for is_kind in (_is_text, _is_bytes, pt.is_timestamp, pt.is_date, pt.is_time)
    )


def _number_fits(found: pa.DataType, wanted: pa.DataType) -> bool:
    if pt.is_integer(found) and pt.is_integer(wanted):
        return bool(found.bit_width + pt.is_unsigned_integer(found) <= wanted.bit_width)
    if pt.is_floating(found) and pt.is_floating(wanted):
        return bool(found.bit_width <= wanted.bit_width)
    if pt.is_decimal(found) and pt.is_decimal(wanted):
        before_point = found.precision - found.scale <= wanted.precision - wanted.scale
        return bool(before_point and found.scale <= wanted.scale)
    return False


def _nested_fits(found: pa.DataType, wanted: pa.DataType) -> bool:
    if pt.is_struct(found) and pt.is_struct(wanted):
        known = {field.name: field.type for field in wanted}
        return all(field.name in known and fits(field.type, known[field.name]) for field in found)
    if pt.is_map(found) and pt.is_map(wanted):
        return fits(found.key_type, wanted.key_type) and fits(found.item_type, wanted.item_type)
    return _is_list(found) and _is_list(wanted) and fits(found.value_type, wanted.value_type)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pt.is_string(kind) or pt.is_large_string(kind) or pt.is_string_view(kind))


def _is_bytes(kind: pa.DataType) -> bool:
    return bool(pt.is_binary(kind) or pt.is_large_binary(kind) or pt.is_binary_view(kind) or pt.is_fixed_size_binary(kind))


def _is_list(kind: pa.DataType) -> bool:
    return bool(pt.is_list(kind) or pt.is_large_list(kind) or pt.is_fixed_size_list(kind))
