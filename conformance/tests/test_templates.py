"""`new-engine` writes a template for each language, and the Python one is right or refuses. Builds: tools.check_templates."""

import json
import re
import sys
from importlib.resources import files
from pathlib import Path

import pytest
from tools.check_templates import CORRECT, judge_adapter, parse_arguments
from typer import Typer
from typer.testing import CliRunner

from hudi_conformance.cases.verdict import Outcome
from hudi_conformance.commands.adapters.new_engine import new_engine
from hudi_conformance.commands.adapters.smoke import smoke
from hudi_conformance.templates import TEMPLATES

LANGUAGES = ["python", "typescript", "go", "rust", "java", "cpp"]


def run(command, *arguments):
    app = Typer(add_completion=False)
    app.command()(command)
    return CliRunner().invoke(app, arguments)


def source(language):
    template = TEMPLATES[language]
    return template.text(template.files[0])


def declared(language):
    """The names of features that the program contains, in quotes or between spaces."""
    schema = json.loads((files("hudi_conformance.contract") / "schemas" / "hello.answer.json").read_text())
    known = schema["properties"]["features"]["items"]["enum"]
    text = source(language).split("SUPPORTED", 1)[0]
    return {name for name in known if re.search(rf"[\" ]{re.escape(name)}[\" ]", text)}


def supported(language):
    """The tuples of the table SUPPORTED: property, supported values, feature."""
    row = r'"(hoodie\.[a-z.]+)", "([\w|]*)", "([a-z.-]+)"'
    return sorted(re.findall(row, source(language)))


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_states_needs_length_and_commands(language):
    """docs/templates.md has the lines of each program, and the commands that new-engine prints."""
    template = TEMPLATES[language]
    page = (Path(__file__).resolve().parents[2] / "docs" / "templates.md").read_text(encoding="utf-8")
    (row,) = (line for line in page.splitlines() if line.startswith(f"| `{language}` |"))
    cells = [cell.strip(" `") for cell in row.split("|")[1:-1]]
    assert int(cells[2]) == len(source(language).splitlines())
    assert (cells[-2], cells[-1]) == (template.build, template.adapter)


def test_there_is_a_template_for_each_language():
    assert list(TEMPLATES) == LANGUAGES


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_template_is_written_once(tmp_path, language):
    """All files and the next commands; a second call writes nothing."""
    folder = tmp_path / "my engine"
    done = run(new_engine, language, "-o", str(folder))
    assert done.exit_code == 0, done.output
    template = TEMPLATES[language]
    assert {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()} == {*template.files}
    commands = [line.strip() for line in done.output.splitlines() if line.startswith("    ")]
    assert commands == [
        f"cd '{folder}'",
        template.build,
        f"hudi-conformance smoke '{template.adapter}'",
        f"hudi-conformance run '{template.adapter}'",
    ]
    first, *rest = template.files
    (folder / first).write_text("precious")
    for name in rest:
        (folder / name).unlink()
    again = run(new_engine, language, "-o", str(folder))
    assert again.exit_code == 2
    assert first in again.output
    assert (folder / first).read_text() == "precious"
    assert not any((folder / name).exists() for name in rest)


@pytest.mark.parametrize(("name", "file"), [("TypeScript", "adapter.ts"), ("C++", "adapter.cpp"), ("golang", "main.go")])
def test_a_language_has_its_usual_names(tmp_path, name, file):
    assert run(new_engine, name, "-o", str(tmp_path)).exit_code == 0
    assert list(tmp_path.rglob(file))


def test_a_folder_that_cannot_be_made_is_a_usage_error(tmp_path):
    (tmp_path / "file").write_text("")
    done = run(new_engine, "python", "-o", str(tmp_path / "file" / "engine"))
    assert done.exit_code == 2
    assert "was not written" in done.output


def test_an_unknown_language_names_the_known_ones():
    done = run(new_engine, "cobol")
    assert done.exit_code == 2
    assert ", ".join(LANGUAGES) in done.output


@pytest.mark.parametrize("language", LANGUAGES)
def test_all_templates_offer_and_refuse_the_same(language):
    """One table of features and one of supported properties, and no import of this project."""
    assert declared(language) == declared("python")
    assert len(declared(language)) == 19
    assert supported(language) == supported("python")
    assert len(supported(language)) == 7
    assert not re.search(r"import hudi|from hudi", source(language))


def test_the_python_template_passes_smoke(tmp_path):
    """Written, run, and right on a small table."""
    run(new_engine, "python", "-o", str(tmp_path))
    done = run(smoke, f"{sys.executable} {tmp_path}/adapter.py")
    assert done.exit_code == 0, done.output
    assert re.search("ok +reads a small copy-on-write table", done.output)


def test_the_python_template_is_never_wrong(tmp_path):
    """On every golden snapshot of a copy-on-write table it is right or refuses, damaged tables included."""
    run(new_engine, "python", "-o", str(tmp_path))
    results = judge_adapter(f"{sys.executable} {tmp_path}/adapter.py")
    assert [(result.case, result.message) for result in results if result.outcome not in CORRECT] == []
    asked = [result for result in results if result.outcome is not Outcome.UNSUPPORTED]
    assert sum(result.outcome is Outcome.PASS for result in asked) > len(asked) / 2


@pytest.mark.parametrize(("given", "languages"), [([], LANGUAGES), (["go"], ["go"])])
def test_check_templates_builds_all_languages_if_none_is_named(given, languages):
    """`.ci/templates` without arguments checks every template."""
    assert parse_arguments(given).languages == languages
