"""`hudi-conformance inspect` of a manifest and of a file of the history."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from hudi_conformance.cli import app

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures"
HISTORY = FIXTURES / "timeline" / "history.cow" / "table" / ".hoodie" / "timeline" / "history"


def shown(*arguments: str) -> tuple[int, str]:
    """Exit code and output of the command."""
    done = CliRunner().invoke(app, ["inspect", *arguments])
    return done.exit_code, done.output


def test_manifest_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each live file with its length; a name without a path is in the current folder."""
    monkeypatch.chdir(HISTORY)
    code, text = shown("manifest_5")
    assert code == 0
    assert "2 live files" in text
    assert "20261121143736764_20261121143740948_1.parquet" in text
    assert "8,697 bytes" in text


def test_manifest_page_marks_missing_files(tmp_path: Path) -> None:
    """A file that is missing or has another length is marked with its rule."""
    (tmp_path / "manifest_1").write_bytes((HISTORY / "manifest_5").read_bytes())
    (tmp_path / "20261121143741735_20261121143742862_0.parquet").write_bytes(b"short")
    code, text = shown(str(tmp_path / "manifest_1"))
    assert code == 0
    assert "LSM-011" in text
    assert "LSM-012" in text


def test_history_file_page() -> None:
    """Level and times of the name, and one line for each action; --json is the contract's answer."""
    (path,) = HISTORY.glob("*_1.parquet")
    code, text = shown(str(path))
    assert code == 0
    assert "level 1 · 9 actions" in text
    assert text.count("KEEP_LATEST_COMMITS") == 3
    assert '"format": "history-file"' in shown(str(path), "--json")[1]


def test_a_damaged_history_file_is_an_error(tmp_path: Path) -> None:
    """The page shows the error, and the command fails."""
    (path,) = HISTORY.glob("*_1.parquet")
    cut = tmp_path / path.name
    cut.write_bytes(path.read_bytes()[:-9])
    code, text = shown(str(cut))
    assert code == 1
    assert "LSM-003" in text
