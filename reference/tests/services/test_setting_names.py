"""The list of settings is complete, and a name that is not in it is refused with the one that is meant."""

import re
from pathlib import Path

import pytest

import hudi_reference
from hudi_reference.errors import Misuse
from hudi_reference.services import setting_names
from hudi_reference.services.setting_names import NAMES, PREFIXES, check_settings


def test_every_setting_of_the_reference_is_known() -> None:
    """The names in its code are those of the list."""
    modules = set(Path(hudi_reference.__file__).parent.rglob("*.py")) - {Path(setting_names.__file__)}
    found = {name for path in modules for name in re.findall(r'"(hoodie\.[a-zA-Z0-9._-]+)"', path.read_text())}
    found -= {"hoodie.properties", "hoodie.metadata."}
    assert found == {*NAMES, *PREFIXES}


def test_an_unknown_setting_is_refused() -> None:
    """The error names the setting that is most like it, and does not list all."""
    with pytest.raises(Misuse) as error:
        check_settings({"hoodie.clean.commits.retaind": "1"})
    assert error.value.remedy == "did you mean hoodie.clean.commits.retained?"
    assert len(str(error.value)) < 300
    check_settings({"hoodie.cleaner.commits.retained": "1", "hoodie.record.merge.property.any": "1", "_entry": "x"})
