"""What the Python sources say of rules, read from their syntax: nothing is imported, so that no engine has to be installed.

Three things are found: functions and classes marked `@implements`, tests with their marks `requirements` and `needs`, and
mutants with the rules that they break. Marks may name tuples of the module or of another one (`needs(*WRITES)`): these are
kept as references and looked up by `Modules`.
"""

import ast
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

#: A text, or `["*", name]` for the items of a constant.
Item = str | list[str]


_ERRATUM = re.compile(r"\bER-\d{3}\b")


def read_reference_module(text: str) -> dict[str, list[list[Any]]]:
    """`implements`: [rule, qualified name, line] of what is marked; `errata`: [id, line] where the text names an erratum."""
    marked = _implementations(ast.parse(text), "") if "implements(" in text else ()
    lines = enumerate(text.splitlines(), 1)
    errata = [[id_, number] for number, line in lines for id_ in dict.fromkeys(_ERRATUM.findall(line))]
    return {"implements": [list(found) for found in marked], "errata": errata}


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
            breaks = _keyword(mark, "breaks")
            if breaks is not None and isinstance(node, ast.FunctionDef):
                rules = ast.literal_eval(breaks)
                found.append({
                    "name": node.name.replace("_", "-"),
                    "breaks": [rules] if isinstance(rules, str) else list(rules),
                    "description": ast.get_docstring(node) or "",
                    "line": node.lineno,
                })  # fmt: skip
    return found


def read_mutants_of_file(text: str) -> list[dict[str, Any]]:
    """The mutants that a TOML file defines."""
    lines = {line.strip("[]"): number for number, line in enumerate(text.splitlines(), 1) if line.startswith("[")}
    return [
        {"name": name, "breaks": given["breaks"], "description": given["description"], "line": lines[name]}
        for name, given in tomllib.loads(text).items()
    ]


def _keyword(call: ast.expr, name: str) -> ast.expr | None:
    keywords = call.keywords if isinstance(call, ast.Call) else []
    return next((keyword.value for keyword in keywords if keyword.arg == name), None)


def read_suite_module(text: str) -> dict[str, Any]:
    """Tests of a module of the suite, and the constants and imports that their marks may refer to."""
    tree = ast.parse(text)
    assigned = dict(_assigned(tree))
    constants = {name: _items(value) for name, value in assigned.items()}
    tests = [_test(node, assigned) for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
    imports = {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }
    return {"tests": tests, "constants": {k: v for k, v in constants.items() if v}, "imports": imports}


def _assigned(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, node.value
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            yield node.target.id, node.value


def _test(node: ast.FunctionDef, assigned: Mapping[str, ast.expr]) -> dict[str, Any]:
    """Marks closest to the function come first, those of the module last, as pytest has them."""
    marked = [*reversed(node.decorator_list), *(value for name, value in assigned.items() if name == "pytestmark")]
    marks = [found for decorator in marked for found in _marks(decorator, assigned)]
    return {
        "name": node.name,
        "line": node.lineno,
        "description": " ".join((ast.get_docstring(node) or "").split("\n\n")[0].split()),
        "requirements": [item for name, mark in marks if name == "requirements" for item in _items_of(mark.args)],
        "needs": [item for name, mark in marks if name == "needs" for item in _items_of(mark.args)],
        "writer": [item for name, mark in marks if name == "needs" for item in _items(_keyword(mark, "writer"))],
    }


def _marks(node: ast.expr, assigned: Mapping[str, ast.expr]) -> Iterator[tuple[str, ast.Call]]:
    """The marks `pytest.mark.NAME(…)` in an expression: one, a list of them, or the name of one in the same module."""
    if isinstance(node, ast.List | ast.Tuple):
        for element in node.elts:
            yield from _marks(element, assigned)
    elif isinstance(node, ast.Name) and isinstance(assigned.get(node.id), ast.Call | ast.List | ast.Tuple):
        yield from _marks(assigned[node.id], assigned)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) == "pytest.mark":
        yield node.func.attr, node


def _items_of(nodes: list[ast.expr]) -> list[Item]:
    return [item for node in nodes for item in _items(node)]


def _items(node: ast.expr | None) -> list[Item]:
    """The texts in an expression; none where it is of another kind."""
    match node:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.Starred(value=inner):
            return _items(inner)
        case ast.Tuple(elts=nodes) | ast.List(elts=nodes) | ast.Set(elts=nodes):
            return _items_of(nodes)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return [*_items(left), *_items(right)]
        case ast.Name() | ast.Attribute(value=ast.Name()):
            return [["*", ast.unparse(node)]]
    return []


class Modules:
    """Modules of the suite by name, to look up what marks refer to."""

    def __init__(self, modules: Mapping[str, Mapping[str, Any]]) -> None:
        self._modules = modules

    def texts(self, module: str, items: list[Item]) -> tuple[str, ...]:
        """The texts of marks in a module, each once, references replaced by what they name."""
        return tuple(dict.fromkeys(text for item in items for text in self._text(module, item)))

    def _text(self, module: str, item: Item) -> Iterator[str]:
        if isinstance(item, str):
            yield item
            return
        owner, _, name = item[1].rpartition(".")
        known = self._modules.get(module, {"constants": {}, "imports": {}})
        if owner:
            yield from self._constant(known["imports"].get(owner, ""), name)
        elif name in known["constants"]:
            yield from self._constant(module, name)
        elif name in known["imports"]:
            yield from self._constant(*_split(known["imports"][name]))

    def _constant(self, module: str, name: str) -> Iterator[str]:
        for item in self._modules.get(module, {"constants": {}})["constants"].get(name, ()):
            yield from self._text(module, item)


def _split(name: str) -> tuple[str, str]:
    module, _, last = name.rpartition(".")
    return module, last


def read_toml(text: str) -> dict[str, dict[str, str]]:
    """The tables of a TOML file."""
    return tomllib.loads(text)


def read_json(text: str) -> Any:
    """The value in a JSON file."""
    return json.loads(text)
