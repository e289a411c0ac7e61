"""First inputs: files of the golden cases, and `seeds/<target>/`, the minimized inputs on which a decoder once failed."""

from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
ROOT = Path(__file__).resolve().parents[3]
FIXTURES = ROOT / "fixtures"
KEPT = ROOT / "tools" / "fuzz" / "seeds"


def inputs_of_findings(target: str) -> list[bytes]:
    """Inputs on which a decoder once failed."""
    return [path.read_bytes() for path in sorted((KEPT / target).glob("*"))]


def golden_contents(*patterns: str, longest: int = 1 << 14, most: int = 60) -> list[bytes]:
    """Distinct contents of the files below `fixtures/` that match, short ones first, and none longer than `longest`."""
    paths = {path for pattern in patterns for path in FIXTURES.rglob(pattern) if path.is_file()}
    sized = sorted((path.stat().st_size, str(path)) for path in paths)
    found: dict[bytes, None] = {}
    for size, path in sized:
        if 0 < size <= longest:
            found.setdefault(Path(path).read_bytes())
    return choose_evenly(list(found), most)


def golden_file_names(*patterns: str) -> Iterator[bytes]:
    """Distinct names of files below `fixtures/`."""
    found = {path.name for pattern in patterns for path in FIXTURES.rglob(pattern)}
    return (name.encode() for name in choose_evenly(sorted(found), 200))


def choose_evenly(values: list[T], most: int) -> list[T]:
    """At most this number of the values, evenly distributed."""
    step = max(1, -(-len(values) // most))
    return values[::step]
