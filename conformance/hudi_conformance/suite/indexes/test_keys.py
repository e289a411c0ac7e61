"""Properties of keys over all pairs of short texts: different pairs have different keys."""

import itertools
from time import perf_counter

import pytest

from hudi_conformance.contract.client import Client

#: Characters that a key can encode wrongly, and one that it cannot.
LETTERS = ("$", "\\", "a")
#: Characters of a long value, and the least seconds that are measured.
SHORT, LEAST = 3_000, 0.01


def text_pairs(longest: int) -> list[tuple[str, str]]:
    """Return every pair of short texts of LETTERS."""
    texts = ["".join(word) for length in range(longest + 1) for word in itertools.product(LETTERS, repeat=length)]
    return list(itertools.product(texts, texts))


@pytest.mark.needs("compute.secondary-key.encode", "compute.secondary-key.decode")
@pytest.mark.requirements("IDX-025", "IDX-026", "IDX-024")
def test_every_pair_has_a_unique_reversible_key(engine: Client) -> None:
    """IDX-025: no two pairs of secondary value and record key have the same key, and each key decodes to its pair."""
    wanted = text_pairs(2)
    keys = [engine.compute("secondary-key.encode", {"secondary": value, "record": record}) for value, record in wanted]
    assert len(set(keys)) == len(wanted)
    found = [engine.compute("secondary-key.decode", {"key": key}) for key in keys]
    assert [(one["secondary"], one["record"]) for one in found] == wanted


@pytest.mark.needs("compute.secondary-key.encode", "compute.secondary-key.decode")
@pytest.mark.requirements("IDX-027")
def test_the_cost_of_a_key_grows_with_its_length(engine: Client) -> None:
    """IDX-027: a value of 16 times the length takes less than 64 times as long to encode and to decode."""

    def seconds(length: int) -> float:
        value, start = "\\$a" * (length // 3), perf_counter()
        key = engine.compute("secondary-key.encode", {"secondary": value, "record": value})
        assert engine.compute("secondary-key.decode", {"key": key}) == {"secondary": value, "record": value}
        return perf_counter() - start

    short = min(seconds(SHORT) for _ in range(3))
    assert min(seconds(16 * SHORT) for _ in range(3)) < 64 * max(short, LEAST)
