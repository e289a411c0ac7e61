"""`docs/contract.md`: the contract between suite and engine, from the JSON Schemas, the features and the functions."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader
from tools.pages.contract_types import type_table

from hudi_conformance.contract.features import features, functions
from hudi_conformance.contract.messages import PROTOCOL
from hudi_conformance.contract.process import GRACE, JSON_LINE
from hudi_conformance.contract.validation import ANSWERS, schemas
from hudi_conformance.engines.support.info import EngineInfo
from hudi_conformance.report.evidence.evidence import CitedCase, golden_cases, suite_cases

#: Sections of the features: heading, and how the names of its features begin.
SECTIONS: Mapping[str, tuple[str, ...]] = {
    "Queries": ("read.",),
    "Inspection": ("inspect.",),
    "Writes and services": ("create", "write.", "service.", "clustering.", "archive.", "pause."),
    "Tables": (
        *("copy-on-write", "merge-on-read", "base.", "log.", "merge.", "delete.", "partition.", "key.", "meta-fields."),
        *("table-version.", "timeline.", "schema.", "types.", "storage."),
    ),
}

ANSWER_ORDER = ("rows", "digest", "inspect", "value", "done", "refused", "conflict", "error")


def contract_page() -> str:
    """The page's text."""
    info = EngineInfo("an adapter", "", argv=("program",))
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent), autoescape=False, trim_blocks=True, keep_trailing_newline=True
    )  # the result is Markdown, not HTML
    environment.filters["json"] = _json
    return environment.get_template("contract.md.j2").render(
        protocol=PROTOCOL,
        grace=f"{GRACE:g}",
        megabytes=JSON_LINE.value // 2**20,
        start=f"{info.start_timeout:g}",
        message=f"{info.message_timeout:g}",
        operations="\n".join(_operations()),
        messages={op: "\n".join(_lines_of(op)) for op in ANSWERS},
        answers={kind: "\n".join(_message(f"{kind}.answer")) for kind in ANSWER_ORDER},
        file_inspections="\n".join(_json(example) for example in schemas()["file-inspection"]["examples"]),
        types="\n".join(type_table()),
        features={heading: "\n".join(lines) for heading, lines in _features()},
        functions=functions(),
    )


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _operations() -> Iterator[str]:
    yield "| operation | what it asks for | answers |"
    yield "|---|---|---|"
    for op in ANSWERS:
        kinds = (f"[`{kind}`](#{'hello' if kind == 'hello' else f'answer-{kind}'})" for kind in ANSWERS[op])
        yield f"| [`{op}`](#{op}) | {schemas()[f'{op}.message']['title']} | {', '.join(kinds) or 'none'} |"


def _lines_of(op: str) -> Iterator[str]:
    """The description of an operation."""
    yield from _message(f"{op}.message")
    if op == "hello":
        yield from ("\nThe answer, schema `hello.answer.json`:\n", *_message("hello.answer", title=False))
    if op == "read":
        yield from ("\nA query has these members:\n", *_members(schemas()["query"]))
    if op == "create":
        yield from ("\nThe description of a table has these members:\n", *_members(schemas()["table-spec"]))


def _message(name: str, title: bool = True) -> Iterator[str]:
    """Title, members and examples of a schema."""
    schema = schemas()[name]
    if title:
        yield f"{schema['title']} Schema: `{name}.json`.\n"
    yield from _members(schema)
    yield "\n```json"
    yield from map(_json, schema["examples"])
    yield "```"


def _members(schema: Mapping[str, Any]) -> Iterator[str]:
    """The table of members of an object; `op` is left out, because it is the name of the operation."""
    rows = [(name, raw) for name, raw in schema["properties"].items() if name != "op"]
    if not rows:
        return
    yield "| member | required | type | meaning |"
    yield "|---|---|---|---|"
    for name, raw in rows:
        required = "yes" if name in schema["required"] else ""
        yield f"| `{name}` | {required} | {_type(raw)} | {raw.get('description', '')} |"


def _type(raw: Mapping[str, Any]) -> str:
    """The type of a member in words."""
    if "const" in raw:
        return f"`{json.dumps(raw['const'])}`"
    if "enum" in raw:
        return ", ".join(f"`{json.dumps(value)}`" for value in raw["enum"])
    if "$ref" in raw:
        name, _, inside = raw["$ref"].rpartition(":")[2].partition("#/properties/")
        return _type(schemas()[name]["properties"][inside]) if inside else f"see `{name}.json`"
    if "oneOf" in raw:
        return " or ".join(_type(one) for one in raw["oneOf"])
    kinds = raw.get("type", "any")
    if kinds == "array":
        return _array(raw)
    return kinds if isinstance(kinds, str) else " or ".join(kinds)


def _array(raw: Mapping[str, Any]) -> str:
    """The type of an array: of names of features, of arrays with parts of different types, or of strings."""
    inner = raw["items"]
    if "prefixItems" in inner:
        return "array of arrays"
    return "array of names" if "enum" in inner else f"array of {_type(inner)}s"


def _features() -> Iterator[tuple[str, list[str]]]:
    """The sections of features, each with the lines of its table."""
    golden, python = _counted(golden_cases()), _counted(suite_cases())
    for heading, starts in SECTIONS.items():
        lines = ["| feature | meaning | example | golden cases | Python cases |", "|---|---|---|---|---|"]
        for feature in features().values():
            if feature.name.startswith(starts):
                counts = f"{golden[feature.name]} | {python[feature.name]}"
                lines.append(f"| `{feature.name}` | {feature.meaning} | `{feature.example}` | {counts} |")
        yield heading, lines


def _counted(cases: tuple[CitedCase, ...]) -> Counter[str]:
    """Feature -> how many cases need it."""
    return Counter(name for case in cases for name in {*case.needs, *case.writer_needs})
