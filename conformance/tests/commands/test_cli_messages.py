"""Messages of commands for mistakes: what was given, what is there, and what to do; never a traceback."""

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hudi_conformance.cli import app


def call(*arguments: str) -> tuple[int, str]:
    """Exit code and output of a command at 80 columns, in this process."""
    found = CliRunner().invoke(app, list(arguments), env={"COLUMNS": "80"})
    assert found.exception is None or isinstance(found.exception, SystemExit), found.exception
    return found.exit_code, found.output


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with an empty folder, a text file, a table's folder of settings and two programs."""
    (tmp_path / "EMPTY").mkdir()
    (tmp_path / "README.md").write_text("hi\n")
    (tmp_path / "trips" / ".hoodie" / "timeline").mkdir(parents=True)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "data.csv").write_text("")
    (tmp_path / "adapter.mjs").write_text("// no execute bit\n")
    (tmp_path / "adapter").write_text("#!/bin/sh\n")
    (tmp_path / "adapter").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("command", ["read", "inspect"])
@pytest.mark.parametrize(
    ("place", "found"),
    [
        ("nothing", "nothing; the path exists up to"),
        ("EMPTY", "an empty folder"),
        ("other", "a folder with data.csv"),
        ("trips/.hoodie/timeline", "a folder of the table"),
    ],
)
def test_a_path_without_a_table_is_named_with_what_is_there(here: Path, command: str, place: str, found: str):
    """Missing, empty, another folder, and a folder inside of a table are told apart."""
    code, output = call(command, place)
    assert code == 1
    assert f"TableNotFound: {place}: there is no table at this path" in output and found in output


def test_reading_a_file_as_a_table_points_to_inspect(here: Path):
    """A file is no table."""
    code, output = call("read", "README.md")
    assert (code, "a file" in output, "hudi-conformance inspect" in output) == (1, True, True)


@pytest.mark.parametrize(
    ("name", "hints"),
    [
        ("adapter.mjs", ["'node adapter.mjs'", "./adapter.mjs after: chmod +x adapter.mjs"]),
        ("adapter --fast", ["give './adapter --fast'"]),
    ],
)
def test_a_file_that_is_no_command_gets_a_hint(here: Path, name: str, hints: list[str]):
    """The interpreter, the path with ./ or the execute bit is missing."""
    code, output = call("smoke", name)
    assert code == 2
    assert all(hint in output for hint in hints), output


def test_recording_a_folder_without_a_report_is_a_usage_error(here: Path):
    """One line that names the folder and the command that writes it."""
    assert call("coverage", "--record", "EMPTY") == (
        2,
        "EMPTY is no report folder; hudi-conformance run --report EMPTY writes one\n",
    )


def test_an_unknown_choice_is_told_without_words_of_a_library(here: Path):
    """The value and the choices are enough."""
    for arguments in (("read", "x", "--format", "xml"), ("service", "x", "dance")):
        code, output = call(*arguments)
        assert (code, "is not one of" in output, "Value error" in output) == (2, True, False)


def test_services_are_listed_once(here: Path):
    """In the help of the argument, not in its type too."""
    assert call("service", "--help")[1].count("delete-savepoint") == 1


@pytest.mark.parametrize("command", [("engines", "--no-ask"), ("doctor", "--no-store")])
def test_commands_to_copy_are_not_cut(here: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]):
    """At 80 columns the command that installs an engine is on one line, and no text ends in an ellipsis."""
    monkeypatch.setenv("HUDI_CONFORMANCE_CACHE", str(here / "cache"))
    monkeypatch.setattr("hudi_conformance.commands.adapters.doctor.is_index_reachable", lambda: True)
    lines = call(*command)[1].splitlines()
    assert any(line.endswith("hudi-conformance doctor --make apache-hudi-java@1.2.0") for line in lines)
    assert not [line for line in lines if "…" in line]


def test_empty_keys_of_an_object_store_are_named(here: Path, monkeypatch: pytest.MonkeyPatch):
    """Before any request is sent."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "")
    code, output = call("inspect", "s3://bucket/table")
    assert (code, "AWS_ACCESS_KEY_ID is empty" in output) == (1, True)


def test_missing_keys_do_not_show_the_address_of_a_metadata_service(here: Path, monkeypatch: pytest.MonkeyPatch):
    """The library looks for a role of the machine; the message says that there are no credentials."""
    from hudi_reference.storage.object_errors import translate_error

    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    said = "Generic S3 error: Error performing PUT http://169.254.169.254/latest/api/token in 7ms - 403 Forbidden"
    shown = str(translate_error("HEAD", "t", RuntimeError(said)))
    assert "169.254" not in shown and "there are no credentials" in shown and "AWS_ACCESS_KEY_ID" in shown


def test_a_uri_without_a_bucket_is_told(here: Path):
    """Not an error of the library."""
    assert "names no bucket" in call("inspect", "s3://")[1]


def test_a_feature_is_explained(here: Path):
    """Its meaning, which engines offer it, and the cases that need it."""
    code, output = call("explain", "read.snapshot")
    assert code == 0
    assert "latest rows" in output and "golden cases" in output and "hudi-rs" in output


def test_an_unknown_engine_for_the_object_store_is_a_usage_error(here: Path):
    """Before the store is started, also for the partner."""
    for arguments in (["nope"], ["--partner", "nope"]):
        code, output = call("object-store", *arguments)
        assert (code, "'nope' is neither an engine" in output) == (2, True)


def test_a_text_without_quotes_is_explained(here: Path):
    """The message of --where says what a value is."""
    code, output = call("read", "x", "--where", "id = a")
    assert (code, "a text in quotes" in " ".join(output.split())) == (2, True)
