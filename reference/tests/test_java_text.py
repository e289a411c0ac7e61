"""Numbers as the texts that Java makes of them."""

import pyarrow as pa
import pytest

from hudi_reference.java_text import number_text, texts_of

TEXTS = {
    "0.1": "0.1", "1e10": "1.0E10", "9999999": "9999999.0", "1e7": "1.0E7", "0.001": "0.001", "0.00012": "1.2E-4", "-0": "-0.0",
    "1e300": "1.0E300", "100": "100.0", "nan": "NaN", "-inf": "-Infinity", "12300000": "1.23E7", "-1.25": "-1.25",
}  # fmt: skip


@pytest.mark.parametrize(("digits", "text"), TEXTS.items())
def test_a_number_has_its_java_text(digits, text):
    """Plain between a thousandth and ten million, with an exponent beyond."""
    assert number_text(digits) == text


def test_a_float_has_the_digits_of_a_float():
    """META-007: the text of a 32-bit number has no digits that only 64 bits tell apart."""
    column = pa.array([1.1, 3.4e38, None], pa.float32())
    assert texts_of(column).to_pylist() == ["1.1", "3.4E38", None]
