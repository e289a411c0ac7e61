"""Laws of keys that no list of vectors can show: different pairs have different keys."""

import itertools

import pytest

from hudi_conformance.contract.client import Client

#: Characters that a key can get wrong, and one that it cannot.
LETTERS = ("$", "\\", "a")


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
