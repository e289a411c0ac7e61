"""Write case folders, and report the differences from the committed ones."""

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from tools.corpus.registry import Made

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"


def case_folder(made: Made) -> Path:
    """The folder of the case."""
    return FIXTURES / made.case.area / made.case.name


def find_differences(made: Made) -> Iterator[str]:
    """The files of the case that are missing, differ, or should not exist."""
    folder, files = case_folder(made), made.files()
    for path, content in files.items():
        if not (folder / path).is_file():
            yield f"{path} is missing"
        elif content is not None and (folder / path).read_bytes() != content:
            yield f"{path} differs"
    present = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    yield from (f"{path} is not of the case" for path in sorted(present - files.keys()))


def can_be_written(made: Made) -> bool:
    """Whether the files that are kept as committed exist, without which the case cannot be written."""
    return all((case_folder(made) / path).is_file() for path, content in made.files().items() if content is None)


def write_case(made: Made) -> None:
    """Write the folder of the case; files that are kept as committed are not changed."""
    folder, files = case_folder(made), made.files()
    for old in [path for path in folder.rglob("*") if path.is_file()]:
        if old.relative_to(folder).as_posix() not in files:
            old.unlink()
    for path, content in files.items():
        if content is not None:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)


def find_orphans(everything: Sequence[Made]) -> list[Path]:
    """Folders of cases of this package that no module generates any more."""
    made = {case_folder(one) for one in everything}
    return [file.parent for file in sorted(FIXTURES.glob("*/*/case.json")) if file.parent not in made and _is_ours(file)]


def remove_orphans(everything: Sequence[Made]) -> list[Path]:
    """Remove cases that no module generates any more; return the removed folders."""
    found = find_orphans(everything)
    for folder in found:
        shutil.rmtree(folder)
    return found


def _is_ours(case_file: Path) -> bool:
    recipe: str = json.loads(case_file.read_text(encoding="utf-8"))["producer"]["recipe"]
    return recipe.startswith("tools/corpus/")
