"""The mutation operators: the small changes that a syntax tree of the reference admits.

Each operator replaces one node by another one. Annotations, docstrings, decorators, the contents of errors, and
functions that only print an object are left out: such a change is not observable from outside, or changes only a message.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
#: Functions and the one that takes their place.
OPPOSITES = {"min": "max", "max": "min", "any": "all", "all": "any", "startswith": "endswith", "endswith": "startswith"}
#: Methods that only print an object; so do functions named `describe…`.
PRINTING = {"__repr__", "__str__"}


@dataclass(frozen=True)
class Site:
    """One change that can be made at one place of a module: `replacement` takes the place of `node`.

    The node is the attribute `field` of `parent`, or with an `index` one of its items. `function` is the qualified name of the
    function or class around it, empty at the level of the module. `statement` is the first line of the statement around it;
    `runs_on_import` tells whether that is executed when the module is imported.
    """

    operator: str
    function: str
    statement: int
    runs_on_import: bool
    parent: ast.AST
    field: str
    index: int | None
    node: ast.AST
    replacement: ast.AST

    @property
    def line(self) -> int:
        """The line of the node, from 1."""
        return int(self.node.lineno)  # type: ignore[attr-defined]

    @property
    def before(self) -> str:
        """The source text of the node, in one line."""
        return " ".join(ast.unparse(self.node).split())

    @property
    def after(self) -> str:
        """The source text of the replacement, in one line."""
        return " ".join(ast.unparse(self.replacement).split())

    def make(self) -> None:
        """Change the tree in which the site was found."""
        ast.copy_location(self.replacement, self.node)
        if self.index is None:
            setattr(self.parent, self.field, self.replacement)
        else:
            getattr(self.parent, self.field)[self.index] = self.replacement
        ast.fix_missing_locations(self.parent)


def find_sites(tree: ast.Module) -> Iterator[Site]:
    """Every change of the module, in the order of its syntax tree."""
    yield from _sites_below(tree, "", 1, runs_on_import=True)


def _sites_below(parent: ast.AST, function: str, statement: int, *, runs_on_import: bool) -> Iterator[Site]:
    for field, value in ast.iter_fields(parent):
        if _is_left_out(parent, field):
            continue
        nodes = value if isinstance(value, list) else [value]
        on_import = runs_on_import and not (isinstance(parent, ast.FunctionDef) and field == "body")
        for index, node in enumerate(nodes):
            if not isinstance(node, ast.AST) or _is_docstring(parent, field, index, node) or _only_prints(node):
                continue
            first = node.lineno if isinstance(node, ast.stmt) else statement
            if hasattr(node, "lineno"):
                item = index if isinstance(value, list) else None
                for operator, replacement in _replacements(node):
                    yield Site(operator, function, first, on_import, parent, field, item, node, replacement)
            named = isinstance(node, ast.FunctionDef | ast.ClassDef)
            inner = f"{function}.{node.name}".lstrip(".") if named else function  # type: ignore[attr-defined]
            yield from _sites_below(node, inner, first, runs_on_import=on_import)


def _is_left_out(parent: ast.AST, field: str) -> bool:
    match parent:
        case ast.Call() if _builds_an_error(parent):
            return True
        case ast.Raise() | ast.JoinedStr() | ast.Assert() | ast.Import() | ast.ImportFrom():
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.Assign(targets=[ast.Name(id="__all__")]):
            return True
    return field in {"annotation", "returns", "decorator_list", "bases", "keywords"} and not isinstance(parent, ast.Call)


def _is_docstring(parent: ast.AST, field: str, index: int, node: ast.AST) -> bool:
    """A text that stands alone; after an assignment it describes the attribute."""
    return field == "body" and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _only_prints(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef) and (node.name in PRINTING or node.name.lstrip("_").startswith("describe"))


def _builds_an_error(call: ast.Call) -> bool:
    return any(keyword.arg in {"rule", "found", "remedy"} for keyword in call.keywords)


def _replacements(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    match node:
        case ast.Call():
            yield from _calls(node)
        case ast.stmt():
            yield from _statements(node)
        case ast.Constant():
            yield from _constants(node)
        case _:
            yield from _conditions(node)
            yield from _computations(node)


def _conditions(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    match node:
        case ast.Compare(ops=[op], left=left, comparators=comparators):
            for other in COMPARISONS[type(op)]:
                yield "comparison", ast.Compare(left, [other()], comparators)
        case ast.BoolOp(op=op, values=values):
            yield "and-or", ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
            for n in range(len(values)):
                rest = [v for m, v in enumerate(values) if m != n]
                yield "operand-removed", rest[0] if len(rest) == 1 else ast.BoolOp(op, rest)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield "not-removed", operand
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield "branches-swapped", ast.IfExp(test, orelse, body)


def _computations(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    match node:
        case ast.BinOp(op=op, left=left, right=right) if type(op) in ARITHMETIC and not _builds_text(node):
            yield "arithmetic", ast.BinOp(left, ARITHMETIC[type(op)](), right)
        case ast.Slice(lower=lower, upper=upper, step=step):
            if lower is not None:
                yield "off-by-one", ast.Slice(ast.BinOp(lower, ast.Add(), ast.Constant(1)), upper, step)
            if upper is not None:
                yield "off-by-one", ast.Slice(lower, ast.BinOp(upper, ast.Sub(), ast.Constant(1)), step)
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() if node.generators[0].ifs:
            yield "condition-removed", type(node)(node.elt, [_unconditional(node.generators[0]), *node.generators[1:]])
        case ast.DictComp() if node.generators[0].ifs:
            generators = [_unconditional(node.generators[0]), *node.generators[1:]]
            yield "condition-removed", ast.DictComp(node.key, node.value, generators)


def _unconditional(found: ast.comprehension) -> ast.comprehension:
    return ast.comprehension(found.target, found.iter, found.ifs[1:], found.is_async)


def _constants(node: ast.Constant) -> Iterator[tuple[str, ast.AST]]:
    match node.value:
        case bool():
            yield "constant", ast.Constant(not node.value)
        case int():
            yield "constant", ast.Constant(node.value + 1)
        case str() if node.value:
            yield "constant", ast.Constant(node.value + "?")
        case bytes() if node.value:
            yield "constant", ast.Constant(node.value + b"?")


def _calls(call: ast.Call) -> Iterator[tuple[str, ast.AST]]:
    if _builds_an_error(call):
        return
    match call.func:
        case ast.Name(id=name) if name in OPPOSITES:
            yield "opposite", ast.Call(ast.Name(OPPOSITES[name], ast.Load()), call.args, call.keywords)
        case ast.Attribute(value=value, attr=name) if name in OPPOSITES:
            yield "opposite", ast.Call(ast.Attribute(value, OPPOSITES[name], ast.Load()), call.args, call.keywords)
    if len(call.args) >= 2 and not any(isinstance(a, ast.Starred) for a in call.args[:2]):
        first, second, *rest = call.args
        yield "arguments-swapped", ast.Call(call.func, [second, first, *rest], call.keywords)
    for n, keyword in enumerate(call.keywords):
        if keyword.arg is not None:
            yield "argument-removed", ast.Call(call.func, call.args, call.keywords[:n] + call.keywords[n + 1 :])


def _statements(node: ast.stmt) -> Iterator[tuple[str, ast.AST]]:
    match node:
        case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Raise() | ast.Delete():
            yield "statement-removed", ast.Pass()
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield "statement-removed", ast.Pass()
        case ast.Continue():
            yield "continue-break", ast.Break()
        case ast.Break():
            yield "continue-break", ast.Continue()
        case ast.If(body=body, orelse=orelse):
            yield "condition-true", ast.If(ast.Constant(True), body, orelse)
            yield "condition-false", ast.If(ast.Constant(False), body, orelse)


def _builds_text(node: ast.BinOp) -> bool:
    """Whether an operand is a text: subtracting from it always fails."""
    return any(
        isinstance(side, ast.JoinedStr) or (isinstance(side, ast.Constant) and isinstance(side.value, str))
        for side in (node.left, node.right)
    )
