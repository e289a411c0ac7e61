"""docs/properties.md is written from the table of properties."""

from tools.properties_page import PAGE, page


def test_the_page_of_properties_is_that_of_the_table() -> None:
    """PROP-001: what people read of the keys is what the code goes by; `python -m tools.properties_page` writes it again."""
    assert PAGE.read_text(encoding="utf-8") == page()
