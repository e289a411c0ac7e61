"""Laws of keys that no list of vectors can show: what they cost, and that different pairs stay different."""

import itertools
import time

import pytest

from hudi_conformance.contract.client import Client

#: Characters that a key can get wrong, and one that it cannot.
LETTERS = ("$", "\\", "a")
SHORT, LONG = 500, 5_000
#: Ten times the length may cost so many times as much before it counts as more than proportional, which would be 100.
PATIENCE = 40
#: Seconds that are nobody's fault: what a message costs, whatever it says.
FLOOR = 0.4


def pairs(longest: int) -> list[tuple[str, str]]:
    """Every pair of short texts of LETTERS."""
    texts = ["".join(word) for length in range(longest + 1) for word in itertools.product(LETTERS, repeat=length)]
    return list(itertools.product(texts, texts))


@pytest.mark.needs("compute.secondary-key.encode", "compute.secondary-key.decode")
@pytest.mark.requirements("IDX-025", "IDX-026", "IDX-024")
def test_every_pair_has_a_key_of_its_own_and_comes_back(engine: Client) -> None:
    """No two pairs of secondary value and record key have one key, and each key gives its pair back."""
    wanted = pairs(2)
    keys = [engine.compute("secondary-key.encode", {"secondary": value, "record": record}) for value, record in wanted]
    assert len(set(keys)) == len(wanted)
    found = [engine.compute("secondary-key.decode", {"key": key}) for key in keys]
    assert [(one["secondary"], one["record"]) for one in found] == wanted


@pytest.mark.needs("compute.secondary-key.encode", "compute.secondary-key.decode")
@pytest.mark.requirements("IDX-027")
@pytest.mark.parametrize("letter", ["$", "\\"])
def test_long_keys_cost_in_proportion_to_their_length(engine: Client, letter: str) -> None:
    """A secondary key of ten times as many escaped characters takes about ten times as long, both ways."""
    spent = {length: _spent(engine, letter * length) for length in (SHORT, SHORT, LONG)}
    assert spent[LONG] <= PATIENCE * max(spent[SHORT], FLOOR / PATIENCE), spent


def _spent(engine: Client, part: str) -> float:
    """Seconds to encode and decode a key that has `part` on both sides, the less of two tries."""
    best = float("inf")
    for _ in range(2):
        started = time.perf_counter()
        key = engine.compute("secondary-key.encode", {"secondary": part, "record": part})
        found = engine.compute("secondary-key.decode", {"key": key})
        best = min(best, time.perf_counter() - started)
        assert found == {"secondary": part, "record": part}
    return best
