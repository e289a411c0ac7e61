"""Settings by Hudi's names."""

import pytest

from hudi_reference.errors import Misuse
from hudi_reference.settings import boolean_setting


@pytest.mark.parametrize(("text", "found"), [("true", True), ("TRUE", True), ("False", False), (None, True)])
def test_booleans_count_in_any_case(text: str | None, found: bool) -> None:
    """As Java parses them: a setting made by `str(True)` is not ignored."""
    assert boolean_setting({} if text is None else {"on": text}, "on", default=True) is found


def test_other_texts_are_refused() -> None:
    """A misspelt value does not mean the default."""
    with pytest.raises(Misuse, match="on is not a boolean"):
        boolean_setting({"on": "yes"}, "on")
