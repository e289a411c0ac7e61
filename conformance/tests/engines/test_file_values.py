"""Values whose types only a file declares get the canonical text that a case expects, for any encoding."""

from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from hudi_conformance.cases.values import canonical_from_arrow, type_of_arrow
from hudi_conformance.engines.reference.files import ordering
from hudi_conformance.engines.support.avro_values import canonical_record
from hudi_reference.errors import MalformedLogBlock

NAMESPACE = "org.apache.hudi.avro.model"


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (1, pa.int32(), 1),
        (2**60, pa.int64(), str(2**60)),
        (4_000_000_000, pa.uint32(), "4000000000"),
        (0.1, pa.float32(), "0.1"),
        (-0.0, pa.float64(), "-0.0"),
        (True, pa.bool_(), True),
        ("é", pa.string(), "é"),
        (b"\x00\xff", pa.binary(), "00ff"),
        (b"\x01\x02", pa.binary(2), "0102"),
        (Decimal("1.50"), pa.decimal128(10, 2), "1.50"),
        (date(2025, 1, 2), pa.date32(), "2025-01-02"),
        (time(1, 2, 3, 4), pa.time64("us"), "01:02:03.000004"),
        (datetime(2025, 1, 2), pa.timestamp("us", "UTC"), "2025-01-02T00:00:00Z"),
        (datetime(2025, 1, 2), pa.timestamp("ms"), "2025-01-02T00:00:00"),
        ({"a": 1, "b": None}, pa.struct({"a": pa.int64(), "b": pa.string()}), {"a": "1", "b": None}),
        ([1, None], pa.list_(pa.int32()), [1, None]),
        ([("k", 1)], pa.map_(pa.string(), pa.int64()), {"k": "1"}),
    ],
)
def test_canonical_text_of_arrow_types(value: Any, kind: pa.DataType, text: Any):
    """64-bit integers are text, 32-bit integers are numbers; times, decimals, binary and nested values as in cases."""
    assert canonical_from_arrow(pa.scalar(value, kind), type_of_arrow(kind)) == text
    assert type_of_arrow(pa.dictionary(pa.int32(), pa.string())) == "string"


def wrapper(name: str, kind: str) -> dict[str, Any]:
    """A record with one field, as the metadata table wraps values."""
    return {"type": "record", "name": name, "namespace": NAMESPACE, "fields": [{"name": "value", "type": kind}]}


def test_union_value_is_that_of_its_branch():
    """Two wrappers with the same number differ by the type of their branch."""
    union = ["null", wrapper("IntWrapper", "int"), wrapper("LongWrapper", "long")]
    schema = {
        "type": "record",
        "name": "Stats",
        "fields": [
            {"name": "least", "type": union},
            {"name": "most", "type": ["null", f"{NAMESPACE}.IntWrapper", f"{NAMESPACE}.LongWrapper"]},
        ],
    }
    record = {"least": (f"{NAMESPACE}.IntWrapper", {"value": 1}), "most": (f"{NAMESPACE}.LongWrapper", {"value": 1})}
    assert canonical_record(record, schema) == {"least": {"value": 1}, "most": {"value": "1"}}
    assert canonical_record(dict.fromkeys(record), schema) == {"least": None, "most": None}


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("IntWrapper", 0, {"type": "int", "value": 0}),
        ("LongWrapper", 0, {"type": "long", "value": "0"}),
        ("FloatWrapper", 1.5, {"type": "float", "value": "1.5"}),
        ("DoubleWrapper", float("nan"), {"type": "double", "value": "NaN"}),
        ("BooleanWrapper", True, {"type": "boolean", "value": True}),
        ("BytesWrapper", b"\x01", {"type": "bytes", "value": "01"}),
        ("StringWrapper", "ab", {"type": "string", "value": "ab"}),
        ("DateWrapper", 20089, {"type": "date", "value": "2025-01-01"}),
        ("DecimalWrapper", Decimal("1.500000000000000"), {"type": "decimal", "value": "1.500000000000000"}),
        ("TimeMicrosWrapper", 1, {"type": "time-micros", "value": "00:00:00.000001"}),
        ("TimestampMicrosWrapper", 1_735_689_600_000_000, {"type": "timestamp-micros", "value": "2025-01-01T00:00:00Z"}),
    ],
)
def test_ordering_value_has_its_type(name: str, value: Any, shown: Any):
    """Integer 0 means "none", Long 0 is a value."""
    assert ordering((f"{NAMESPACE}.{name}", {"value": value})) == shown


def test_several_ordering_values_are_a_list():
    """Each has its own type; a null inside is allowed, and a null as a whole is no ordering value."""
    parts = [(f"{NAMESPACE}.IntWrapper", {"value": 1}), None]
    found = ordering((f"{NAMESPACE}.ArrayWrapper", {"wrappedValues": parts}))
    assert found == {"type": "array", "value": [{"type": "int", "value": 1}, None]}
    assert ordering(None) is None


def test_number_out_of_range_is_malformed():
    """An encoded Avro int may have any length; more than 32 bits are not a date."""
    with pytest.raises(MalformedLogBlock) as caught:
        ordering((f"{NAMESPACE}.DateWrapper", {"value": 2**40}))
    assert caught.value.found == str(2**40)
