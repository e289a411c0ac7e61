"""Cases below the level of tables: one file, damaged copies of one file, vectors of a function."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from tiny_cases import Casebook

from hudi_conformance.cases import case as cases
from hudi_conformance.cases.file_cases import Patch, Variant
from hudi_conformance.cases.schema import CaseError
from hudi_conformance.cases.verdict import Outcome, Result, judge_answer
from hudi_conformance.commands.suite.fixtures import find_problems
from hudi_conformance.contract import Engine, EngineCrash, EngineError, Hello, Refused
from hudi_conformance.runner.golden_cases import MOST_CRASHES, ask_engine

FEATURES = frozenset({"inspect.log-file", "compute.partition.escape"})
WHOLE = b"#HUDI#whole"


class Decoder(Engine):
    """A decoder that returns one block per file: corrupt if the content is not `WHOLE`; an empty file is an error."""

    asked = 0

    def hello(self) -> Hello:
        """Version 1."""
        return Hello("decoder", "1", "python", FEATURES)

    def inspect(self, uri: str, *, keys=None, prefix=None) -> dict[str, Any]:
        """One block."""
        self.asked += 1
        data = Path(urlsplit(uri).path).read_bytes()
        if not data:
            raise EngineError("nothing there")
        kind = "command" if data == WHOLE else "corrupt"
        return {"format": "log", "blocks": [{"offset": 0, "length": len(data), "type": kind}]}

    def compute(self, function: str, arguments: Mapping[str, Any]) -> Any:
        """Escape percent signs only."""
        if not isinstance(arguments["value"], str):
            raise EngineError("not a text")
        return arguments["value"].replace("%", "%25")


class Careless(Decoder):
    """A decoder that accepts every file as a whole block and every value as text."""

    def inspect(self, uri: str, *, keys=None, prefix=None) -> dict[str, Any]:
        """A whole block."""
        size = Path(urlsplit(uri).path).stat().st_size
        return {"format": "log", "blocks": [{"offset": 0, "length": size, "type": "command"}]}

    def compute(self, function: str, arguments: Mapping[str, Any]) -> Any:
        """The value unchanged."""
        return str(arguments["value"])


class Coward(Decoder):
    """A decoder that refuses everything."""

    def inspect(self, uri: str, *, keys=None, prefix=None) -> dict[str, Any]:
        """Refuse."""
        raise Refused("inspect.log-file", "no")


class Fragile(Decoder):
    """A decoder that crashes on every file."""

    def inspect(self, uri: str, *, keys=None, prefix=None) -> dict[str, Any]:
        """Crash."""
        self.asked += 1
        raise EngineCrash("gone")


def write(path: Path, value: Any) -> None:
    """Write JSON."""
    path.write_text(json.dumps(value))


@pytest.fixture
def family(casebook: Casebook) -> Path:
    """A whole file, a damaged one, and an empty one."""
    path = casebook.add(
        "log.tiny", table=None, file="f.log", needs=["inspect.log-file"], expected={"variants": "expected/v.json"}
    )
    (path.parent / "f.log").write_bytes(WHOLE)
    variants = [
        {"name": "whole", "inspect": {"blocks": [{"type": "command"}]}},
        {
            "name": "damaged",
            "patches": [{"at": 1, "remove": 2, "insert": "00"}],
            "inspect": {"blocks": [{"type": "corrupt", "length": 10}]},
        },
        {"name": "empty", "cut": 0, "error": "no bytes"},
        {"name": "short", "cut": 3, "inspect": {"blocks": []}, "or_error": True},
    ]
    write(path.parent / "expected" / "v.json", variants)
    return path


@pytest.fixture
def vectors(casebook: Casebook) -> Path:
    """A valid value, an invalid one, and one for which an error is right too."""
    path = casebook.add(
        "names.tiny", table=None, vectors="vectors.json", needs=["compute.partition.escape"], expected={"vectors": True}
    )
    tests = [
        {"id": 1, "comment": "percent", "arguments": {"value": "a%"}, "result": "valid", "value": "a%25", "flags": ["escape"]},
        {"id": 2, "comment": "no text", "arguments": {"value": 1}, "result": "invalid"},
        {"id": 3, "comment": "null", "arguments": {"value": None}, "result": "acceptable", "value": "null"},
    ]
    write(path.parent / "vectors.json", {"function": "partition.escape", "notes": {"escape": "left as it is"}, "tests": tests})
    return path


def result(engine: Engine, path: Path) -> Result:
    """The result of the case on this engine."""
    case = cases.load_case(path)
    return judge_answer(case, "x", engine.hello(), ask_engine(engine, case))


@pytest.mark.parametrize("name", ["family", "vectors"])
def test_correct_engine_passes(name: str, request: pytest.FixtureRequest):
    """All parts are right; an error is right if it is expected or allowed."""
    path = request.getfixturevalue(name)
    if name == "family":
        variants = json.loads((path.parent / "expected" / "v.json").read_text())[:3]
        write(path.parent / "expected" / "v.json", variants)
    assert result(Decoder(), path).outcome is Outcome.PASS


def test_first_wrong_part_and_their_number_are_reported(family: Path, vectors: Path):
    """The message of a case with many parts names the first wrong one; the detail lists the others."""
    found = result(Careless(), family)
    assert found.outcome is Outcome.FAIL
    assert found.message.startswith("3 of 4 wrong, first damaged: blocks.0.type: expected corrupt, found command")
    assert [line.split(":")[0] for line in found.detail.splitlines()] == ["damaged", "empty", "short"]
    found = result(Careless(), vectors)
    assert found.outcome is Outcome.FAIL
    assert "first test 1 (percent): value: expected a%25, found a%" in found.message
    assert "test 2 (no text): wrong: a value for what is none: 1" in found.detail
    assert "test 3" in found.detail


def test_lists_of_blocks_are_compared_completely(family: Path):
    """An additional block is a difference, and so is a missing one."""
    found = result(Decoder(), family)
    assert (
        found.message
        == '1 of 4 wrong, first short: blocks.0: expected null, found {"offset": 0, "length": 3, "type": "corrupt"}'
    )


def test_case_is_refused_if_all_parts_are(family: Path):
    """The worst outcome of the parts is that of the case; a refusal passes only if no answer is right."""
    found = result(Coward(), family)
    assert (found.outcome, found.message) == (Outcome.REFUSED, "2 of 4 refused, first whole: refused inspect.log-file: no")


def test_engine_that_crashes_on_every_part_is_not_restarted_for_each(family: Path):
    """A restart may take minutes; after a few crashes the other parts count as crashes too."""
    engine = Fragile()
    assert result(engine, family).outcome is Outcome.CRASH
    assert engine.asked == MOST_CRASHES < len(cases.load_case(family).variants)


def test_file_keeps_its_name(casebook: Casebook):
    """The name of a log file is part of its content."""
    path = casebook.add("log.tiny", table=None, file="bytes/.f_1.log.1_0-0-0", needs=["inspect.log-file"], verdict="valid",
                        expected={"inspect": "expected/rows.json"})  # fmt: skip
    (path.parent / "bytes").mkdir()
    (path.parent / "bytes" / ".f_1.log.1_0-0-0").write_bytes(WHOLE)
    write(path.parent / "expected" / "rows.json", {"format": "log", "blocks": [{"type": "command", "length": 11}]})

    class Reads(Decoder):
        def inspect(self, uri: str, *, keys=None, prefix=None) -> dict[str, Any]:
            assert uri.endswith("/.f_1.log.1_0-0-0")
            return super().inspect(uri)

    assert result(Reads(), path).outcome is Outcome.PASS


def test_patch_offsets_refer_to_the_undamaged_file():
    """Each of several patches is applied at its offset in the undamaged file."""
    variant = Variant("x", patches=(Patch(1, 2, "58595a"), Patch(4, 0, "2d"), Patch(5, 1)), cut=6)
    assert variant.apply(b"abcdefg") == b"aXYZd-"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda v: v[1]["patches"].append({"at": 0}), "damaged: patches overlap"),
        (lambda v: v[1]["patches"].append({"at": 12}), "damaged: patches overlap, or lie beyond the 11 bytes"),
        (lambda v: v.append(v[0]), "two parts are called whole"),
    ],
)
def test_verify_reports_an_invalid_family(casebook: Casebook, family: Path, change, says: str):
    """`fixtures verify` names the invalid part."""
    path = family.parent / "expected" / "v.json"
    variants = json.loads(path.read_text())
    change(variants)
    write(path, variants)
    assert any(says in problem for problem in find_problems(casebook.root))


def test_vector_flags_need_notes(casebook: Casebook, vectors: Path):
    """A flag without a note, or an unknown function, is an error in the file."""
    path = vectors.parent / "vectors.json"
    write(path, json.loads(path.read_text()) | {"function": "minds.read", "notes": {}})
    told = list(find_problems(casebook.root))
    assert any("no note on the flag escape" in problem for problem in told)
    assert any("'minds.read' is no function" in problem for problem in told)


def test_variant_without_right_answer_is_an_error(family: Path):
    """The form of the file is checked before any engine is asked."""
    write(family.parent / "expected" / "v.json", [{"name": "x"}])
    with pytest.raises(CaseError, match="not valid under any"):
        _ = cases.load_case(family).variants
