"""Properties of keys over all pairs of short texts: different pairs have different keys."""

import itertools

import pytest

from hudi_conformance.contract.client import Client

#: Characters that a key can encode wrongly, and one that it cannot.
LETTERS = ("$", "\\", "a")


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
