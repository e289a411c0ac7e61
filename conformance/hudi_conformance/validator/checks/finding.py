"""What a validation reports: findings, and what each check looked at."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from hudi_conformance.requirements.requirement import requirement
from hudi_conformance.validator.stored.table import StoredTable
from hudi_reference.errors import HudiError, StorageFault

#: wrong-answers: a query returns wrong rows or is refused. data-lost: committed rows are gone, and no copy of them is in the
#: table. lost-space: files that no query reads. cosmetic: a deviation without an effect on queries.
Severity = Literal["wrong-answers", "data-lost", "lost-space", "cosmetic"]
#: From the worst on.
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
#: A table with a finding of one of these is not sound.
UNSOUND: frozenset[Severity] = frozenset({"wrong-answers", "data-lost"})
#: What follows from an error of the disk or of a permission. It says nothing about the bytes of the table.
NOT_READ = "The storage did not read it, so that it could not be examined; a query that needs it fails, too."
#: The rows of a file have the partition fields of another folder. With other fields in the properties all files have such rows.
STRAYS = "A filter on the partition column and the folder of the rows disagree."
#: The timeline was lost. Readers that need it stop, which says nothing more.
NO_ACTIONS = "No action is visible: readers see an empty table."
#: What follows from a fault of a file of the slice, which is reported by the check of the file.
REFUSED_SLICE = "Queries of the latest state refuse the file slice."
#: cheap: no data file is opened except for the headers of log blocks and for footers. deep: every row is read.
Tier = Literal["cheap", "deep"]


@dataclass(frozen=True)
class Finding:
    """One violation of a rule.

    Attributes:
        rule: the id of the rule.
        severity: the worst consequence that it has.
        path: the object, relative to the base path of the table.
        meaning: one sentence on the consequence for queries.
        expected: what the rule requires.
        found: what is there instead.
        remedy: a command that repairs the table, or what else can be done.
        key: the property, record key or file group, where the path is not precise enough.
        offset: the place in the object, in bytes from its start.
    """

    rule: str
    severity: Severity
    path: str
    meaning: str
    expected: str
    found: str
    remedy: str
    key: str | None = None
    offset: int | None = None


def finding_of(error: HudiError, severity: Severity, meaning: str, *, rule: str, path: str, remedy: str = "") -> Finding:
    """The finding of an error of the reference. `rule`, `path` and `remedy` are used where the error has none.

    A fault of the storage has a severity and a meaning of its own: whether rows are gone is not known.
    """
    expected = error.expected or requirement(error.rule or rule).text
    if isinstance(error, StorageFault):
        severity, meaning, expected = "wrong-answers", NOT_READ, error.expected or "an object that can be read"
        remedy = "check the disk and the permissions, and validate again"
    return Finding(
        rule=error.rule or rule,
        severity=severity,
        path=error.path or path,
        meaning=meaning,
        expected=expected,
        found=f"{error.message}: {error.found}" if error.found else error.message,
        remedy=error.remedy or remedy or "restore the file from another copy of the table",
        offset=error.offset,
    )


@dataclass
class Tally:
    """How many objects were examined for each rule. A rule with 0 had nothing to examine in this table."""

    counts: Counter[str] = field(default_factory=Counter)

    def looked(self, *rules: str, at: int = 1) -> None:
        """Count objects that were examined for these rules."""
        for rule in rules:
            self.counts[rule] += at


def _whole(table: StoredTable) -> Sequence[Any]:
    return (None,)


@dataclass(frozen=True)
class Check:
    """One check.

    Attributes:
        name: a short name, unique among all checks, as `files.are-there`.
        rules: the rules that its findings may have.
        tier: `cheap` or `deep`.
        run: examines one part of the table: `run(table, part, tally)`. It counts what it examines in the tally, and yields its
            findings. It must depend on nothing but its arguments, so that parts can be examined in other processes.
        parts: the parts of the table, for example its file slices, which can be examined in any order and place. A part can be
            pickled. The default is one part, None, for the whole table.
    """

    name: str
    rules: tuple[str, ...]
    tier: Tier
    run: Callable[[StoredTable, Any, Tally], Iterator[Finding]]
    parts: Callable[[StoredTable], Sequence[Any]] = _whole
    #: Whether it examines the metadata table too, as a table.
    tables: Literal["both", "data"] = "both"
