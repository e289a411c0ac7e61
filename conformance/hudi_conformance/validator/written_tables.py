"""The tables that an engine wrote in a case of the suite, validated after the case.

The cheap checks compare the files of a table with its metadata, whatever its size. The deep checks also read every row and
index entry. They are for engines in the process of the suite, which write many small tables in a short time: a fault in a file
or an index then fails each case that writes such a file, and not only a case that looks at it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hudi_conformance.validator.checks.finding import Finding, Tier


@dataclass
class WrittenTables:
    """Validates tables. A table that has the same files as before is not examined again."""

    _known: dict[str, tuple[object, tuple[str, ...]]] = field(default_factory=dict)

    def problems(self, uri: str, tier: "Tier" = "cheap") -> Sequence[str]:
        """The findings of wrong answers and lost data, each as a text; none if there is no table.

        The deep tier has the checks of the cheap one, too.
        """
        from hudi_conformance.validator.all_checks import ALL, CHEAP  # imported at the first use, as most cases only read
        from hudi_conformance.validator.checks.finding import UNSOUND
        from hudi_conformance.validator.stored.table import load_table
        from hudi_conformance.validator.validation import validate
        from hudi_reference.errors import TableNotFound

        try:
            table = load_table(uri)
        except TableNotFound:
            return ()
        state = tuple((info.path, info.size, info.modified) for info in table.listing.files.values())
        if self._known.get(uri, (None,))[0] != state:
            found = validate(table, ALL if tier == "deep" else CHEAP)
            texts = [_described(uri, one) for one in found.findings if one.severity in UNSOUND]
            self._known[uri] = state, (*texts, *(f"a check of the validator failed: {error}" for error in found.broken))
        return self._known[uri][1]


def _described(uri: str, finding: "Finding") -> str:
    return (
        f"the engine left a table that is not sound: {uri}\n"
        f"  {finding.rule}  {finding.severity}: {finding.meaning}\n"
        f"  path      {finding.path}{f' ({finding.key})' if finding.key else ''}\n"
        f"  expected  {finding.expected}\n"
        f"  found     {finding.found}"
    )
