"""Tests of the suite and their marks, read from the syntax of a test module: nothing is imported.

The index of cases and the evidence of rules both read them here, so that they agree on which test cites which rule. Facts are
plain lists and dictionaries, so that they can be kept in a cache. Marks may name tuples of the module or of another one
(`needs(*WRITES)`): these are kept as references and looked up by `Modules`.
"""

import ast
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

#: A text, or `["*", name]` for the items of a constant.
Item = str | list[str]


class Mark(NamedTuple):
    """A mark `pytest.mark.NAME(…)` or `pytest.mark.NAME`. `of_parameter` tells whether a parameter of the test carries it."""

    name: str
    call: ast.Call
    of_parameter: bool


def read_suite_module(text: str) -> dict[str, Any]:
    """Tests of a module of the suite, and the constants and imports that their marks may refer to."""
    tree = ast.parse(text)
    names = dict(find_assignments(tree))
    constants = {name: _items(value) for name, value in names.items()}
    tests = [_test(node, names) for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
    marks = {name: facts for name, value in names.items() if any((facts := _read_marks([value], names)).values())}
    imports = {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }
    constants = {k: v for k, v in constants.items() if v}
    return {"tests": tests, "constants": constants, "imports": imports, "marks": marks}


def fingerprint(text: str) -> str:
    """Eight hexadecimal digits that tell two texts apart."""
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def fingerprint_of(node: ast.AST) -> str:
    """The fingerprint of code: it does not depend on comments, docstrings, marks and the place in the file."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        code = node.body[1:] if ast.get_docstring(node) is not None else node.body
        arguments = [node.args] if isinstance(node, ast.FunctionDef) else node.bases
        return fingerprint("\n".join(map(ast.dump, [*arguments, *code])))
    return fingerprint(ast.dump(node))


def read_guarantee(docstring: str) -> str:
    """The first paragraph of the docstring of a test, in one line, without the rule before it.

    The first letter is a capital, as in the description of a golden case.
    """
    text = re.sub(r"^[A-Z0-9]+-\d{3}: ", "", " ".join(docstring.strip().split("\n\n")[0].split()))
    return text[:1].upper() + text[1:]


def find_assignments(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """The names that a module assigns, with the expressions."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, node.value
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            yield node.target.id, node.value


def find_keyword(call: ast.expr, name: str) -> ast.expr | None:
    """The value of a keyword of a call, None if it is not given."""
    keywords = call.keywords if isinstance(call, ast.Call) else []
    return next((find_keyword.value for find_keyword in keywords if find_keyword.arg == name), None)


def _test(node: ast.FunctionDef, names: Mapping[str, ast.expr]) -> dict[str, Any]:
    """Marks closest to the function come first, those of the module last, as pytest has them.

    `requirements` includes the rules that parameters cite; features that only a parameter needs are not in `needs`. With
    `computed`, further rules are known only when the test is collected. `versions` are the table versions that the closest mark
    of that name has; `each_version` tells whether there is a mark of that name.
    """
    marked = [*reversed(node.decorator_list), *(value for name, value in names.items() if name == "pytestmark")]
    return {
        "name": node.name,
        "line": node.lineno,
        "fingerprint": fingerprint_of(node),
        "description": read_guarantee(ast.get_docstring(node) or ""),
        "fixtures": [argument.arg for argument in node.args.args],
        "imported": [ast.unparse(mark) for mark in marked if _is_imported(mark, names)],
        **_read_marks(marked, names),
    }


def _is_imported(mark: ast.expr, names: Mapping[str, ast.expr]) -> bool:
    """Whether a decorator is a mark that another module defines."""
    match mark:
        case ast.Name(id=name):
            return name not in names
        case ast.Attribute(value=ast.Name(id=name)):
            return name != "pytest"
    return False


def _read_marks(marked: Iterable[ast.expr], names: Mapping[str, ast.expr]) -> dict[str, Any]:
    """What the marks in these expressions say."""
    marks = [found for decorator in marked for found in _marks(decorator, names)]
    citing = [mark.call for mark in marks if mark.name == "requirements"]
    needing = [mark.call for mark in marks if mark.name == "needs" and not mark.of_parameter]
    return {
        "requirements": _items_of(arg for call in citing for arg in call.args),
        "computed": any(not _items(arg) for call in citing for arg in call.args),
        "needs": _items_of(arg for call in needing for arg in call.args),
        "writer": _items_of(find_keyword(call, "writer") for call in needing),
        "each_version": any(mark.name == "each_version" for mark in marks),
        "versions": next((sorted(_numbers(mark.call)) for mark in marks if mark.name == "versions"), []),
    }


def _numbers(call: ast.Call) -> Iterator[int]:
    """The arguments of a mark that are numbers."""
    return (node.value for node in call.args if isinstance(node, ast.Constant) and isinstance(node.value, int))


def _marks(node: ast.AST, names: Mapping[str, ast.expr], of_parameter: bool = False) -> Iterator[Mark]:
    """The marks in an expression, directly or through names of the module."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Attribute(value=ast.Name("pytest"), attr="mark"), attr=name)):
            yield Mark(name, node, of_parameter)
            inside: list[ast.AST] = [*node.args] if name == "parametrize" else []
            of_parameter = True
        case ast.Attribute(value=ast.Attribute(value=ast.Name("pytest"), attr="mark"), attr=name):  # a mark without arguments
            yield Mark(name, ast.Call(node, [], []), of_parameter)
            inside = []
        case ast.Name(id=name) if name in names:
            inside = [names[name]]
            names = {other: value for other, value in names.items() if other != name}
        case _:
            inside = [*ast.iter_child_nodes(node)]
    for child in inside:
        yield from _marks(child, names, of_parameter)


def _items_of(nodes: Iterable[ast.expr | None]) -> list[Item]:
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

    def mark_texts(self, module: str, items: list[Item]) -> tuple[str, ...]:
        """The texts of marks in a module, each once, references replaced by what they name."""
        return tuple(dict.fromkeys(text for item in items for text in self._text(module, item)))

    def texts_of_test(self, module: str, test: Mapping[str, Any], key: str) -> tuple[str, ...]:
        """The texts of `key` (requirements, needs, writer) of a test, also those of marks that it imports."""
        found = [*self.mark_texts(module, test[key])]
        for name in test["imported"]:
            owner, mark = self._defining_module(module, name)
            found += self.mark_texts(owner, self._modules.get(owner, {}).get("marks", {}).get(mark, {}).get(key, []))
        return tuple(dict.fromkeys(found))

    def _defining_module(self, module: str, name: str) -> tuple[str, str]:
        """The module that defines an imported name, and the name in it."""
        owner, _, last = name.rpartition(".")
        imports = self._modules.get(module, {"imports": {}})["imports"]
        return (imports.get(owner, ""), last) if owner else _split(imports.get(name, ""))

    def lacks_definition(self, module: str, items: list[Item]) -> bool:
        """Whether one of the references is to something that these modules do not define."""
        return any(not any(self._text(module, item)) for item in items)

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
