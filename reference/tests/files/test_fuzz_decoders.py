"""Every decoder on damaged inputs: the short form of `python -m tools.fuzz`, with the same inputs on every run in CI."""

import json
import struct
from contextlib import suppress
from functools import cache
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_samples import bounded
from tools.fuzz.edits import mutate
from tools.fuzz.targets import oracle
from tools.fuzz.targets.catalogue import all_targets
from tools.fuzz.targets.log import avro_block
from tools.fuzz.targets.oracle import Broken, Limits
from tools.fuzz.targets.seed_files import KEPT
from tools.fuzz.targets.target import Target

from hudi_reference.errors import HudiError, MalformedTable
from hudi_reference.files.log.content import decode_rows

pytestmark = pytest.mark.long

TARGETS = all_targets()
FAILED_ONCE = sorted(path.relative_to(KEPT).as_posix() for path in KEPT.glob("*/*"))


@cache
def inputs(target: str) -> list[bytes]:
    """The first inputs of a target, each decoded once: libraries load and fill their pools before memory is measured."""
    found = TARGETS[target].inputs()
    for data in found:
        is_decoded(TARGETS[target], data)
    return found


@pytest.mark.parametrize("name", TARGETS)
def test_first_inputs_have_every_property(name: str) -> None:
    """Golden files are decoded, or refused with an error that names rule and file, in bounded memory and time."""
    for data in inputs(name):
        TARGETS[name].check(data)


@pytest.mark.parametrize("name", FAILED_ONCE)
def test_regressions(name: str) -> None:
    """Each minimized input on which a decoder once failed has every property; docs/fuzzing.md lists them."""
    inputs(name.partition("/")[0])
    TARGETS[name.partition("/")[0]].check((KEPT / name).read_bytes())


@pytest.mark.parametrize("name", TARGETS)
@given(number=st.integers(0, 2**32))
@bounded(100)
def test_damaged_inputs_have_every_property(name: str, number: int) -> None:
    """Bytes are changed anywhere, or in a part whose frame is computed again: a typed error, or a valid result."""
    chance, target = Random(number), TARGETS[name]
    target.check(mutate(chance.choice(inputs(name)), target.explode, chance)[: target.longest])


@pytest.mark.parametrize("name", TARGETS)
def test_inputs_are_built_from_their_parts(name: str) -> None:
    """An input that is built again from its parts is decoded if it was before."""
    for data in inputs(name)[::4]:
        parts = TARGETS[name].explode(data)
        if parts is not None and is_decoded(TARGETS[name], data):
            assert is_decoded(TARGETS[name], parts.build(parts.leaves))


def is_decoded(target: Target, data: bytes) -> bool:
    """Whether the decoder takes an input."""
    with suppress(HudiError):
        target.decode(data)
        return True
    return False


def test_columns_without_bytes_take_no_memory_out_of_proportion(monkeypatch: pytest.MonkeyPatch) -> None:
    """BLK-022: rows of nulls are stored in no bytes but for a map's; decoded row by row, a few are Python's at a time."""
    fields = [*({"name": f"n{i}", "type": "null"} for i in range(400)), {"name": "m", "type": {"type": "map", "values": "int"}}]
    schema = json.dumps({"type": "record", "name": "r", "fields": fields}, separators=(",", ":")).encode()
    one, many = (schema + b"\n" + struct.pack(">ii", 3, n) + b"\x00\x00\x00\x01\x00" * n for n in (1, 3000))
    decode_rows(avro_block(one))
    monkeypatch.setattr(oracle, "CONSTANT", 0)
    oracle.decode_within_limits(lambda data: decode_rows(avro_block(data)), many, Limits(1000))


def greedy(data: bytes) -> None:
    """Uses too much memory."""
    assert len(bytearray(b"x" * (oracle.CONSTANT + 30_000_000))) > len(data)


def slow(data: bytes) -> None:
    """Uses too much time."""
    while oracle.time.process_time() < slow.until:  # type: ignore[attr-defined]
        pass


def nameless(data: bytes) -> None:
    """Raises an error without file and rule."""
    raise MalformedTable("something is wrong")


def wrong(data: bytes) -> None:
    """Raises an error of another kind."""
    raise KeyError("schema")


def test_oracle_detects_violations(monkeypatch: pytest.MonkeyPatch) -> None:
    """Too much memory, too much time, incomplete errors, and untyped errors are detected."""
    monkeypatch.setattr(oracle, "SECONDS", 0.05)
    slow.until = oracle.time.process_time() + 0.2  # type: ignore[attr-defined]
    for decode, about in ((slow, "seconds"), (nameless, "names no rule")):
        with pytest.raises(Broken, match=about):
            oracle.decode_within_limits(decode, b"x", Limits())
    with pytest.raises(KeyError):
        oracle.decode_within_limits(wrong, b"x", Limits())
    monkeypatch.setattr(oracle, "SECONDS", 60)
    if oracle.reset_peak_memory():
        with pytest.raises(Broken, match="memory"):
            oracle.decode_within_limits(greedy, b"x", Limits())
