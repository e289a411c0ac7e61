"""Features and functions of the contract: each has a meaning and a true example, and no other is used."""

import json
import re
from pathlib import Path

import pytest

from hudi_conformance.cases.schema import fixtures_root
from hudi_conformance.contract.features import FEATURES, FORMER_NAMES, features, functions
from hudi_conformance.contract.messages import Hello
from hudi_conformance.contract.validation import ANSWERS, check_answer, check_message, schemas
from hudi_conformance.engines import hudi_rs
from hudi_conformance.engines.apache_hudi.engine import FEATURES as OF_APACHE_HUDI
from hudi_conformance.engines.reference.engine import Reference
from hudi_conformance.engines.reference.functions import compute
from hudi_conformance.report.evidence.evidence import features as read_from_files
from hudi_conformance.report.evidence.evidence import suite_cases


@pytest.mark.parametrize("feature", features().values(), ids=lambda feature: feature.name)
def test_a_feature_has_a_meaning_and_an_example(feature):
    """An engine author decides by them whether to declare it: one sentence without a full stop, and one example."""
    assert re.fullmatch(r"[a-z0-9-]+(\.[a-z0-9-]+)*", feature.name)
    assert len(feature.meaning.split()) >= 3
    assert not feature.meaning.endswith(".")
    assert feature.example


def test_the_features_of_the_schema_are_those_with_a_meaning():
    """The schema is what adapters in other languages read. It accepts the former names too."""
    assert schemas()["hello.answer"]["properties"]["features"]["items"]["enum"] == [*FEATURES, *FORMER_NAMES]


@pytest.mark.parametrize(("former", "name"), FORMER_NAMES.items())
def test_an_adapter_may_declare_the_former_name_of_a_feature(former, name):
    """The answer to `hello` is valid, and the engine offers the feature under its present name only."""
    answer = {"protocol": 1, "engine": "e", "version": "1", "language": "rust", "features": ["read.snapshot", former]}
    assert check_answer("hello", answer) == "hello"
    assert Hello.from_json(answer).features == {"read.snapshot", name}
    assert name in FEATURES
    assert former not in FEATURES


def test_no_case_and_no_engine_uses_a_feature_without_a_meaning():
    """Golden cases, marks of Python cases, and the features that engines of the project declare."""
    golden = json.loads((fixtures_root() / "index.json").read_text("utf-8"))["cases"]
    used = {need for case in golden for need in case["needs"]}
    used |= {need for case in suite_cases() for need in (*case.needs, *case.writer_needs)}
    used |= Reference().hello().features | hudi_rs.FEATURES
    used |= {feature for declared in OF_APACHE_HUDI.values() for feature in declared}
    assert used - FEATURES.keys() == set()


@pytest.mark.parametrize("function", functions().values(), ids=lambda function: function.name)
def test_the_example_of_a_function_is_true(function):
    """The reference computes the value of the example; the forms name every argument."""
    assert compute(function.name, function.arguments) == function.value
    assert [name for name in function.arguments if f"`{name}`" not in function.forms] == []


def test_explain_reads_the_same_features():
    """`explain` reads the files without importing the contract."""
    found = {name: (text.meaning, text.example) for name, text in read_from_files().items()}
    assert list(found) == list(FEATURES)
    assert {name: meaning for name, (meaning, _) in found.items()} == FEATURES


PAGE = Path(__file__).parents[3] / "docs" / "contract.md"


def test_the_page_shows_every_feature_and_every_function_once():
    """docs/contract.md groups the features; a new group needs a heading."""
    text = PAGE.read_text("utf-8")
    shown = re.findall(r"^\| `([a-z0-9.-]+)` \|.* \| \d+ \| \d+ \|$", text, re.MULTILINE)
    shown += re.findall(r"^### (compute\..*)$", text, re.MULTILINE)
    assert sorted(shown) == sorted(FEATURES)


def test_the_messages_of_the_page_keep_their_schemas():
    """Whatever an author copies from a block of JSON is a message, an answer, an inspection, or an example of a function."""
    blocks = re.findall(r"^```json\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    lines = [json.loads(line) for block in blocks for line in block.splitlines()]
    examples = [example for schema in schemas().values() for example in schema["examples"]]
    examples += [one for function in functions().values() for one in (function.arguments, function.value)]
    assert [line for line in lines if line not in examples] == []
    messages = [line for line in lines if isinstance(line, dict) and "op" in line]
    for message in messages:
        check_message(message)
    assert list(dict.fromkeys(message["op"] for message in messages)) == list(ANSWERS)
    kinds = {kind for kinds in ANSWERS.values() for kind in kinds} - {"hello"}
    assert [kind for kind in kinds if not any(isinstance(line, dict) and kind in line for line in lines)] == []
