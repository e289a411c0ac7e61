"""Damages tables, and compares changed answers with findings."""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tools.draw_damages.answers import LATER, URI, answers, filters_of
from tools.draw_damages.drawn import Drawn, NotPossible, copied
from tools.draw_damages.kinds import DAMAGES

from hudi_conformance.cases.schema import fixtures_root
from hudi_conformance.validator.all_checks import ALL
from hudi_conformance.validator.stored.table import load_table
from hudi_conformance.validator.validation import Validation, validate
from hudi_reference.clock import ManualClock
from hudi_reference.errors import HudiError
from hudi_reference.layout.properties import PROPERTIES_PATH
from hudi_reference.query.pruning.predicates import Comparison
from hudi_reference.storage import MemoryStorage


@dataclass
class Trial:
    """Damages tables, and compares changed answers with findings."""

    counts: Counter[str] = field(default_factory=Counter)
    _known: dict[Path, tuple[dict[str, object], list[Comparison], bool]] = field(default_factory=dict)

    def run(self, seed: int, tables: Sequence[Path], kinds: Sequence[str]) -> None:
        """One drawn damage of one drawn table."""
        draw = random.Random(seed)
        case = draw.choice(tables)
        before, filters, is_sound = self._state(case)
        if not is_sound or isinstance(before["snapshot by folders"], str):
            self.counts["not sound before"] += 1
            return
        storage = copied(case / "table")
        try:
            drawn = DAMAGES[draw.choice(kinds)](draw, storage)
        except (NotPossible, HudiError, FileNotFoundError):
            self.counts["not possible"] += 1
            return
        after = answers(storage, filters)
        changed = [name for name, answer in after.items() if before.get(name, answer) != answer]
        try:
            outcome = _judge(bool(changed), _validated(storage), drawn)
        except HudiError as error:
            outcome = f"refused as a whole: {type(error).__name__}"
        self.counts[outcome] += 1
        if outcome.isupper():
            print(f"{seed} {outcome} {case.parent.name}/{case.name}: {drawn.kind} {drawn.place}\n    {changed[:3]}", flush=True)

    def _state(self, case: Path) -> tuple[dict[str, object], list[Comparison], bool]:
        if case not in self._known:
            storage = copied(case / "table")
            try:
                load_table(URI, storage=storage)
                filters = filters_of(storage)
                self._known[case] = answers(storage, filters), filters, _knows_its_files(_validated(storage))
            except HudiError:
                self._known[case] = {}, [], False
        return self._known[case]


def _validated(storage: MemoryStorage) -> Validation:
    return validate(load_table(URI, storage=storage, clock=ManualClock(LATER)), ALL)


def _knows_its_files(found: Validation) -> bool:
    """Whether the table is sound, and no archived action lacks the metadata that names its files (LSM-020)."""
    return found.is_sound and all(one.rule != "LSM-020" for one in found.findings)


def _judge(changed: bool, found: Validation, drawn: Drawn) -> str:
    if found.broken:
        return "BROKEN"
    if changed and found.is_sound and drawn.cannot_be_seen:
        return "cannot be seen"
    if changed:
        return "MISSED" if found.is_sound else "found"
    return "nothing changed" if found.is_sound else "found, no answer changed"


def tables_of(pattern: str, version: str | None = None, folder: Path | None = None) -> list[Path]:
    """The folders of golden cases, or the folders below another one, that have a `table`; perhaps of one table version."""
    found = [path.parent for path in sorted((folder or fixtures_root()).glob(f"{pattern}/table")) if path.is_dir()]
    if version is None:
        return found
    files = ((one, one / "table" / PROPERTIES_PATH) for one in found)
    wanted = f"hoodie.table.version={version}"
    return [one for one, file in files if file.is_file() and wanted in file.read_text(errors="replace")]
