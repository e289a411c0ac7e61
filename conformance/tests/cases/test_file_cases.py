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
from hudi_conformance.cases.verdict import Outcome, Result, judge
from hudi_conformance.commands.suite.fixtures import problems
from hudi_conformance.contract import Engine, EngineCrash, EngineError, Hello, Refused
from hudi_conformance.runner.golden_cases import MOST_CRASHES, ask

FEATURES = frozenset({"inspect.log-file", "compute.partition.escape"})
WHOLE = b"#HUDI#whole"


class Decoder(Engine):
    """A file is one block; it is corrupt if it is not `WHOLE`, and no file at all if it is empty."""

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
        """Percent signs only."""
        if not isinstance(arguments["value"], str):
            raise EngineError("not a text")
        return arguments["value"].replace("%", "%25")


class Careless(Decoder):
    """Takes everything for a whole block, and every value for a text."""

    def inspect(self, uri: str, *, keys=None, prefix=None) -> dict[str, Any]:
        """A whole block."""
        size = Path(urlsplit(uri).path).stat().st_size
        return {"format": "log", "blocks": [{"offset": 0, "length": size, "type": "command"}]}

    def compute(self, function: str, arguments: Mapping[str, Any]) -> Any:
        """As it is."""
        return str(arguments["value"])


class Coward(Decoder):
    """Refuses."""

    def inspect(self, uri: str, *, keys=None, prefix=None) -> dict[str, Any]:
        """No."""
        raise Refused("inspect.log-file", "no")


class Fragile(Decoder):
    """Crashes on every file."""

    def inspect(self, uri: str, *, keys=None, prefix=None) -> dict[str, Any]:
        """Gone."""
        self.asked += 1
        raise EngineCrash("gone")


def write(path: Path, value: Any) -> None:
    """JSON."""
    path.write_text(json.dumps(value))


@pytest.fixture
def family(casebook: Casebook) -> Path:
    """A whole file, one that is damaged, and one that is empty."""
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
    """A value, something that is no value, and something on which minds differ."""
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
    """What the engine's answers are worth."""
    case = cases.load(path)
    return judge(case, "x", engine.hello(), ask(engine, case))


@pytest.mark.parametrize("name", ["family", "vectors"])
def test_a_right_engine_passes(name: str, request: pytest.FixtureRequest):
    """All parts are right; an error is right where it is expected or allowed."""
    path = request.getfixturevalue(name)
    if name == "family":
        variants = json.loads((path.parent / "expected" / "v.json").read_text())[:3]
        write(path.parent / "expected" / "v.json", variants)
    assert result(Decoder(), path).outcome is Outcome.PASS


def test_the_first_wrong_part_is_named_and_how_many_there_are(family: Path, vectors: Path):
    """A failure of a case of many parts says where to look; the others stand in the detail."""
    found = result(Careless(), family)
    assert found.outcome is Outcome.FAIL
    assert found.message.startswith("3 of 4 wrong, first damaged: blocks.0.type: expected corrupt, found command")
    assert [line.split(":")[0] for line in found.detail.splitlines()] == ["damaged", "empty", "short"]
    found = result(Careless(), vectors)
    assert found.outcome is Outcome.FAIL
    assert "first test 1 (percent): value: expected a%25, found a%" in found.message
    assert "test 2 (no text): wrong: a value for what is none: 1" in found.detail
    assert "test 3" in found.detail


def test_a_list_of_blocks_is_compared_whole(family: Path):
    """An unexpected block is a difference, and so is a missing one."""
    found = result(Decoder(), family)
    assert (
        found.message
        == '1 of 4 wrong, first short: blocks.0: expected null, found {"offset": 0, "length": 3, "type": "corrupt"}'
    )


def test_refusing_every_part_is_a_refusal(family: Path):
    """The worst outcome of the parts is that of the case; a refusal passes only where no answer is right."""
    found = result(Coward(), family)
    assert (found.outcome, found.message) == (Outcome.REFUSED, "2 of 4 refused, first whole: refused inspect.log-file: no")


def test_engine_that_crashes_on_every_part_is_not_restarted_for_each(family: Path):
    """A restart may take minutes; after a few crashes the other parts count as crashes too."""
    engine = Fragile()
    assert result(engine, family).outcome is Outcome.CRASH
    assert engine.asked == MOST_CRASHES < len(cases.load(family).variants)


def test_a_file_is_placed_under_its_own_name(casebook: Casebook):
    """The name of a log file is part of what is read."""
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


def test_patches_are_at_offsets_of_the_undamaged_file():
    """However many there are, each is found where the file says."""
    variant = Variant("x", patches=(Patch(1, 2, "58595a"), Patch(4, 0, "2d"), Patch(5, 1)), cut=6)
    assert variant.applied(b"abcdefg") == b"aXYZd-"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda v: v[1]["patches"].append({"at": 0}), "damaged: patches overlap"),
        (lambda v: v[1]["patches"].append({"at": 12}), "damaged: patches overlap, or lie beyond the 11 bytes"),
        (lambda v: v.append(v[0]), "two parts are called whole"),
    ],
)
def test_a_family_that_cannot_be_made_is_found(casebook: Casebook, family: Path, change, says: str):
    """`fixtures verify` names the part that is wrong."""
    path = family.parent / "expected" / "v.json"
    variants = json.loads(path.read_text())
    change(variants)
    write(path, variants)
    assert any(says in problem for problem in problems(casebook.root))


def test_vectors_explain_their_flags(casebook: Casebook, vectors: Path):
    """A flag without a note, or an unknown function, is an error in the file."""
    path = vectors.parent / "vectors.json"
    write(path, json.loads(path.read_text()) | {"function": "minds.read", "notes": {}})
    told = list(problems(casebook.root))
    assert any("no note on the flag escape" in problem for problem in told)
    assert any("'minds.read' is no function" in problem for problem in told)


def test_a_variant_without_a_right_answer_is_a_mistake(family: Path):
    """The shape of the file is checked before anything is asked."""
    write(family.parent / "expected" / "v.json", [{"name": "x"}])
    with pytest.raises(CaseError, match="not valid under any"):
        _ = cases.load(family).variants
