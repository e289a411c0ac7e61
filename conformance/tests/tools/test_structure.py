"""The structure of the code: no import circles, packages of a readable size with a description, tests that import no tests."""

import ast
import re
from pathlib import Path

import grimp
import pytest
from tools import structure

import hudi_conformance
import hudi_reference

ROOT = Path(__file__).resolve().parents[3]
SUITE = Path(hudi_conformance.__file__).parent / "suite"
TEST_FOLDERS = (SUITE, ROOT / "conformance" / "tests", ROOT / "reference" / "tests")
REFERENCE = Path(hudi_reference.__file__).parent
ROOTS = (REFERENCE, REFERENCE.with_name("hudi_spark"), SUITE.parent, ROOT / "tools")
#: The greatest number of modules in a package.
MOST_MODULES = 13


@pytest.fixture(scope="module")
def graph():
    """The import graph of all packages."""
    return grimp.build_graph(*structure.PACKAGES, cache_dir=None)


def packages():
    """Yield the folder of every package, without templates."""
    for root in ROOTS:
        for init in sorted(root.rglob("__init__.py")):
            if "templates" not in init.parts:
                yield init.parent


def test_no_import_circle_of_modules(graph):
    """Modules can be read in the order of their imports."""
    assert list(structure.find_circles(structure.module_imports(graph))) == []


def test_no_import_circle_of_packages(graph):
    """Packages can be read in the order of their imports, too."""
    assert list(structure.find_circles(structure.package_imports(graph))) == []


@pytest.mark.parametrize("folder", list(packages()), ids=lambda folder: "/".join(folder.parts[-3:]))
def test_packages_are_small_and_described(folder):
    """A package has at most 13 modules. Its docstring says what it contains, what may be changed in it, and what it imports."""
    modules = [path for path in folder.glob("*.py") if path.name != "__init__.py"]
    assert len(modules) <= MOST_MODULES
    text = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8")))
    assert text and not text.startswith("TODO")
    words = " ".join(text.split())
    assert "may be changed" in words
    assert re.search(r"\b[Ii]mports?\b", words)


@pytest.mark.parametrize("folder", TEST_FOLDERS, ids=["suite", "conformance", "reference"])
def test_no_test_module_is_imported(folder):
    """Code that several test modules use is in a support module, so that every test module can be read and run alone."""
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
            names += (node.module or "").split(".") if isinstance(node, ast.ImportFrom) else []
            assert not [name for name in names if name.rpartition(".")[2].startswith("test_")], path
