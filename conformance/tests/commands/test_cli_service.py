"""`service` previews its work, runs it after confirmation, and prints errors as one block."""

import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from hudi_conformance.cases.schema import fixtures_root
from hudi_conformance.cli import app
from hudi_conformance.suite.support.programs.write_programs import Program, as_arrow, row
from hudi_conformance.suite.support.tables.tables_under_services import read_instant_file
from hudi_reference import create_table, open_table


def called(*words: str, answer: str = "") -> Result:
    return CliRunner().invoke(app, ["service", *words], input=answer)


@pytest.fixture
def table(tmp_path: Path) -> tuple[str, list[str]]:
    """A table with three commits to one record."""
    spec, uri = Program("COPY_ON_WRITE", "COMMIT_TIME_ORDERING", False).spec(), str(tmp_path / "t")
    made = create_table(uri, name=spec.name, schema=dict(spec.schema), record_key=spec.record_key)
    return uri, [made.upsert(as_arrow([row("a", n, f"value {n}")])) for n in range(3)]


def values(uri: str) -> list[str]:
    return open_table(uri).snapshot(["value"]).column("value").to_pylist()


def test_dry_run_changes_nothing(table: tuple[str, list[str]]) -> None:
    """The preview shows the writes to roll back, and the table is not changed."""
    uri, times = table
    shown = called(uri, "restore", "--instant", times[0], "--dry-run")
    assert shown.exit_code == 0
    assert times[2] in shown.output and times[1] in shown.output
    assert values(uri) == ["value 2"]


def test_service_asks_for_confirmation(table: tuple[str, list[str]]) -> None:
    """Without confirmation nothing is changed."""
    uri, times = table
    assert called(uri, "rollback", "--instant", times[2], answer="n\n").exit_code == 0
    assert values(uri) == ["value 2"]
    assert called(uri, "rollback", "--instant", times[2], answer="y\n").exit_code == 0
    assert values(uri) == ["value 1"]


def test_clean_with_settings(table: tuple[str, list[str]]) -> None:
    """With one retained commit one of three files is deleted; a second clean has nothing to do."""
    uri, times = table
    done = called(uri, "clean", "--set", "hoodie.clean.commits.retained=1", "--yes")
    assert done.exit_code == 0 and times[0] in done.output.replace("\n", "")
    assert "nothing to do" in called(uri, "clean", "--set", "hoodie.clean.commits.retained=1", "--yes").output


def test_relative_paths_are_stored_absolute(table: tuple[str, list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    """TL-014: a service on a relative path stores the same absolute paths as on the absolute one, which other engines parse."""
    uri, times = table
    monkeypatch.chdir(Path(uri).parent)
    assert called("t/../t/", "clean", "--set", "hoodie.clean.commits.retained=1", "--yes").exit_code == 0
    assert called("t", "rollback", "--instant", times[2], "--yes").exit_code == 0
    names = {path.name for path in (Path(uri) / ".hoodie" / "timeline").iterdir()}
    instants = {(name[:17], name.split(".", 1)[1]) for name in names}
    (clean,) = (time for time, kind in instants if kind == "clean.requested")
    (rolled_back,) = (time for time, kind in instants if kind == "rollback.requested")
    plans = [
        read_instant_file(Path(uri).as_uri(), *one)[1]
        for one in ((clean, "clean.requested"), (rolled_back, "rollback.requested"))
    ]
    cleaned = [info["filePath"] for files in plans[0]["filePathsToBeDeletedPerPartition"].values() for info in files]
    removed = [path for request in plans[1]["RollbackRequests"] for path in request["filesToBeDeleted"]]
    assert cleaned and removed and all(path.startswith(f"file:{uri}/") for path in (*cleaned, *removed))


def test_savepoint_and_its_deletion(table: tuple[str, list[str]]) -> None:
    """A savepoint prevents a rollback until it is deleted."""
    uri, times = table
    assert called(uri, "savepoint", "--instant", times[2], "--yes").exit_code == 0
    refused = called(uri, "rollback", "--instant", times[2], "--yes")
    assert refused.exit_code == 1 and "savepoint" in refused.output
    assert called(uri, "delete-savepoint", "--instant", times[2], "--yes").exit_code == 0
    assert called(uri, "rollback", "--instant", times[2], "--yes").exit_code == 0


def test_dry_run_of_a_compaction(tmp_path: Path) -> None:
    """The preview shows the file group and its number of log files and plans nothing; the compaction then does the same."""
    spec, uri = Program("MERGE_ON_READ", "COMMIT_TIME_ORDERING", False).spec(), str(tmp_path / "t")
    made = create_table(uri, name=spec.name, schema=dict(spec.schema), record_key=spec.record_key, table_type="MERGE_ON_READ")
    for number in range(3):
        made.upsert(as_arrow([row("a", number, f"value {number}")]))
    (found,), before = made.file_groups().latest_slices, made.timeline.instants
    words = ("compaction", "--set", "hoodie.compact.inline.max.delta.commits=1")
    shown = called(uri, *words, "--dry-run")
    text = "".join(shown.output.split())
    assert shown.exit_code == 0 and "compact" in text
    assert found.file_id in text and f"{len(found.log_files)}logfiles" in text
    assert made.timeline.instants == before
    assert called(uri, *words, "--yes").exit_code == 0
    (now,) = made.file_groups().latest_slices
    assert (now.log_files, values(uri)) == ((), ["value 2"])


def test_dry_run_of_a_clustering(table: tuple[str, list[str]]) -> None:
    """The preview shows the file groups and the number of outputs and plans nothing; the clustering then does the same."""
    uri, _ = table
    made = open_table(uri)
    made.bulk_insert(as_arrow([row("b", 1, "other")]))
    before = {found.file_id for found in made.file_groups().latest_slices}
    shown = called(uri, "clustering", "--dry-run")
    text = "".join(shown.output.split())
    assert shown.exit_code == 0 and all(file_id in text for file_id in before) and "into1" in text
    assert not made.timeline.pending
    assert called(uri, "clustering", "--yes").exit_code == 0
    (now,) = made.file_groups().latest_slices
    assert now.file_id not in before and sorted(values(uri)) == ["other", "value 2"]


@pytest.mark.parametrize(
    "words", [("rollback",), ("clean", "--instant", "20260101000000000"), ("clean", "--set", "x"), ("dance",)]
)
def test_usage_errors(table: tuple[str, list[str]], words: tuple[str, ...]) -> None:
    """A missing instant, a setting without value, and an unknown service are usage errors."""
    assert called(table[0], *words).exit_code == 2


def test_indexes_are_created_and_dropped(table: tuple[str, list[str]]) -> None:
    """Settings by Hudi's names ask for an index, `--index` names the one to drop; a preview comes first."""
    uri, _ = table
    wanted = ("--set", "hoodie.metadata.record.index.enable=true", "--set", "hoodie.metadata.enable=true")
    shown = called(uri, "index", *wanted, "--dry-run")
    assert shown.exit_code == 0 and "record_index" in shown.output
    assert not (Path(uri) / ".hoodie" / "metadata").exists()
    assert called(uri, "index", *wanted, "--yes").exit_code == 0
    folder = Path(uri) / ".hoodie" / "metadata" / "record_index"
    assert list(folder.glob("*.hfile"))
    assert called(uri, "drop-index", "--index", "record_index", "--dry-run").exit_code == 0
    assert list(folder.glob("*.hfile"))
    assert called(uri, "drop-index", "--index", "record_index", "--yes").exit_code == 0
    assert not list(folder.glob("*.hfile"))
    assert "nothing to do" in called(uri, "drop-index", "--index", "record_index", "--yes").output
    assert called(uri, "drop-index", "--yes").exit_code == 2
    assert called(uri, "clean", "--index", "files", "--yes").exit_code == 2


def test_service_deletes_a_disabled_metadata_table(table: tuple[str, list[str]]) -> None:
    """PROP-012: with hoodie.metadata.enable=false the action deletes the metadata table, and the preview says so."""
    uri, _ = table
    assert called(uri, "index", "--set", "hoodie.metadata.record.index.enable=true", "--yes").exit_code == 0
    cleaning = ("--set", "hoodie.clean.commits.retained=1", "--set", "hoodie.metadata.enable=false")
    shown = called(uri, "clean", *cleaning, "--dry-run").output
    assert all(f"drop    {name}" in shown for name in ("files", "record_index"))
    assert called(uri, "clean", *cleaning, "--yes").exit_code == 0
    assert not (Path(uri) / ".hoodie" / "metadata").exists()


def test_a_misspelt_setting_is_refused(table: tuple[str, list[str]]) -> None:
    """The error names the setting that is meant; without the check nothing would be cleaned, and no error shown."""
    refused = called(table[0], "clean", "--set", "hoodie.clean.commitz.retained=1", "--yes")
    assert refused.exit_code == 1 and "did you mean hoodie.clean.commits.retained?" in refused.output


def test_a_preview_that_is_piped_has_each_file_on_one_line(tmp_path: Path) -> None:
    """Names of files are copied and searched for."""
    table = shutil.copytree(fixtures_root() / "queries" / "chosen.mor" / "table", tmp_path / "table")
    shown = called(str(table), "restore", "--instant", "20261121144223825", "--dry-run")
    names = [path.name for path in table.iterdir() if ".log." in path.name]
    assert len(names) == 2 and all(f" {name} " in f"{shown.output} ".replace("\n", " \n") for name in names), shown.output


@pytest.mark.parametrize(
    "words",
    [["clean"], ["compaction"], ["rollback", "--instant", "20261122012845996"], ["restore", "--instant", "20261122012845996"]],
)
def test_a_table_of_version_6_is_refused_before_the_preview(tmp_path: Path, words: list[str]) -> None:
    """COMPAT-005: the message names the migration, and shows no work that would be refused."""
    table = shutil.copytree(fixtures_root() / "compatibility" / "v6.mor.rolled-back" / "table", tmp_path / "table")
    shown = called(str(table), *words, "--dry-run")
    assert shown.exit_code == 1 and "hudi-conformance migrate TABLE" in shown.output and "remove the file" not in shown.output
