"""The structure of the code: modules and lines of each package, imports between packages, import circles.

A package is a folder with an `__init__.py`. An import of a module counts for the package that contains the module.
"""

from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp

PACKAGES = ("hudi_reference", "hudi_spark", "hudi_conformance", "tools")


def find_package(graph: grimp.ImportGraph, module: str) -> str:
    """The package of a module, or the module itself if it is a package; a package `fast` counts for its parent."""
    package = module if graph.find_children(module) else module.rpartition(".")[0] or module
    return package.removesuffix(".fast")


def imports_between(graph: grimp.ImportGraph) -> Counter[tuple[str, str]]:
    """The number of imports from one package to another, without those of `__main__` modules, which nothing imports."""
    found: Counter[tuple[str, str]] = Counter()
    for module in (name for name in graph.modules if not name.endswith(".__main__")):
        here = find_package(graph, module)
        for imported in graph.find_modules_directly_imported_by(module):
            there = find_package(graph, imported)
            if there != here:
                found[here, there] += 1
    return found


def find_circles(edges: Mapping[str, set[str]]) -> Iterator[tuple[str, ...]]:
    """Yield import circles. After each circle its last edge is removed, until no circle is left."""
    rest = {node: set(targets) for node, targets in edges.items()}
    while True:
        try:
            TopologicalSorter(rest).prepare()
        except CycleError as error:
            circle = tuple(error.args[1])
            yield circle
            rest[circle[1]].discard(circle[0])
        else:
            return


def module_imports(graph: grimp.ImportGraph) -> dict[str, set[str]]:
    """Module -> the modules that it imports."""
    return {module: set(graph.find_modules_directly_imported_by(module)) for module in graph.modules}


def package_imports(graph: grimp.ImportGraph) -> dict[str, set[str]]:
    """Package -> the packages that it imports, without the root package, which only exports names of the others."""
    found: dict[str, set[str]] = {}
    for here, there in imports_between(graph):
        if "." in here and "." in there:
            found.setdefault(here, set()).add(there)
    return found


def report_structure(roots: Sequence[str]) -> Iterator[str]:
    """The lines that are printed."""
    for root in roots:
        graph = grimp.build_graph(root, cache_dir=None)
        modules = Counter(find_package(graph, module) for module in graph.modules if not graph.find_children(module))
        yield f"\n{root}: {len(graph.modules)} modules in {len(modules)} packages"
        folder = next(path for path in (Path("reference"), Path("conformance"), Path()) if (path / root).is_dir())
        for package in sorted(modules):
            place = folder.joinpath(*package.split("."))
            lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in place.glob("*.py"))
            yield f"  {package.removeprefix(root + '.'):36} {modules[package]:3} modules {lines:6} lines"
        between = imports_between(graph)
        yield f"  imports between packages: {sum(between.values())} in {len(between)} directions"
        for name, edges in (("modules", module_imports(graph)), ("packages", package_imports(graph))):
            found = list(find_circles(edges))
            yield f"  import circles of {name}: {len(found)}"
            yield from (f"    {' -> '.join(node.removeprefix(root + '.') for node in reversed(circle))}" for circle in found)


if __name__ == "__main__":
    parser = ArgumentParser(prog="python -m tools.structure", description=__doc__)
    parser.add_argument("package", nargs="*", default=PACKAGES, help="packages to show; all by default")
    print("\n".join(report_structure(parser.parse_args().package)))
