"""What the Python sources say of rules, read from their syntax: nothing is imported, so that no engine has to be installed.

Functions and classes marked `@implements` are found here, and mutants with the rules that they break. Tests with their marks
are found by `hudi_conformance.cases.suite_marks`.
"""

import ast
import json
import re
import tomllib
from collections.abc import Iterator
from typing import Any

from hudi_conformance.cases.suite_marks import find_keyword, fingerprint, fingerprint_of

_ERRATUM = re.compile(r"\bER-\d{3}\b")


def read_reference_module(text: str) -> dict[str, Any]:
    """`implements`: [rule, qualified name, line] of what is marked; `errata`: [id, line] where the text names an erratum;
    `definitions`: a fingerprint of each function, class and constant by its qualified name.
    """
    tree = ast.parse(text)
    marked = _implementations(tree, "") if "implements(" in text else ()
    lines = enumerate(text.splitlines(), 1)
    errata = [[id_, number] for number, line in lines for id_ in dict.fromkeys(_ERRATUM.findall(line))]
    return {"implements": [list(found) for found in marked], "errata": errata, "definitions": dict(_definitions(tree, ""))}


def _definitions(node: ast.AST, prefix: str) -> Iterator[tuple[str, str]]:
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.FunctionDef(name=name):
                yield prefix + name, fingerprint_of(child)
                yield from _definitions(child, f"{prefix}{name}.<locals>.")
            case ast.ClassDef(name=name):
                yield prefix + name, fingerprint_of(child)
                yield from _definitions(child, f"{prefix}{name}.")
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                yield prefix + name, fingerprint_of(child)


def _implementations(node: ast.AST, prefix: str) -> Iterator[tuple[str, str, int]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            for mark in child.decorator_list:
                if isinstance(mark, ast.Call) and isinstance(mark.func, ast.Name) and mark.func.id == "implements":
                    yield from ((ast.literal_eval(rule), prefix + child.name, child.lineno) for rule in mark.args)
            inside = "." if isinstance(child, ast.ClassDef) else ".<locals>."
            yield from _implementations(child, prefix + child.name + inside)
        else:
            yield from _implementations(child, prefix)


def read_mutants(text: str) -> list[dict[str, Any]]:
    """The functions of a module that are decorated with the rules that they break."""
    found = []
    for node in ast.walk(ast.parse(text)):
        for mark in node.decorator_list if isinstance(node, ast.FunctionDef) else ():
            breaks = find_keyword(mark, "breaks")
            if breaks is not None and isinstance(node, ast.FunctionDef):
                rules = ast.literal_eval(breaks)
                found.append({
                    "name": node.name.replace("_", "-"),
                    "breaks": [rules] if isinstance(rules, str) else list(rules),
                    "description": ast.get_docstring(node) or "",
                    "line": node.lineno,
                    "fingerprint": fingerprint_of(node),
                })  # fmt: skip
    return found


def read_mutants_of_file(text: str) -> list[dict[str, Any]]:
    """The mutants that a TOML file defines."""
    lines = {line.strip("[]"): number for number, line in enumerate(text.splitlines(), 1) if line.startswith("[")}
    return [
        {
            "name": name,
            "breaks": given["breaks"],
            "description": given["description"],
            "line": lines[name],
            "fingerprint": fingerprint(json.dumps([given["function"], given["old"], given["new"]])),
        }
        for name, given in tomllib.loads(text).items()
    ]


def read_toml(text: str) -> dict[str, dict[str, str]]:
    """The tables of a TOML file."""
    return tomllib.loads(text)


def read_json(text: str) -> Any:
    """The value in a JSON file."""
    return json.loads(text)
