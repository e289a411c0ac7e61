"""Names of cases in JUnit files: engine and chapter as the class, the id of the case as the name."""

from collections.abc import Mapping
from typing import Any

import pytest
from _pytest.junitxml import xml_key


def rename_case(config: pytest.Config, report: pytest.TestReport, line: Mapping[str, Any]) -> None:
    """Set the names of a case before pytest writes it, if a JUnit file is written.

    A viewer takes a dot in the class as the border of a package, so dots in the name of the engine become underscores.
    """
    xml = config.stash.get(xml_key, None)
    if xml is not None:
        reporter = xml.node_reporter(report)
        reporter.add_attribute("classname", f"{str(line['engine']).replace('.', '_')}.{line['chapter']}")
        reporter.add_attribute("name", line["case"])
