"""Programs of engines in Rust, with a stand-in for cargo: when they are compiled, and the errors."""

from pathlib import Path

import pytest
from recorded_tool import RecordedTool

from hudi_conformance.commands.adapters import doctor
from hudi_conformance.engines import registry
from hudi_conformance.engines.support import environments, rust_programs

ENGINE = "hudi-rs@0.6"
COMPILED = 'mkdir -p "$7/debug"; echo a program > "$7/debug/package"; echo "   Compiling package"'


class Stand(RecordedTool):
    """A cache folder, a Cargo package, and a cargo that records its arguments and writes a program.

    The target folder is the seventh argument of the script.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, "cargo", prelude='set -- "" "$@"\n')
        self.cache, self.sources = folder / "cache", folder / "package"
        (self.sources / "src").mkdir(parents=True)
        (self.sources / "src" / "main.rs").write_text("fn main() {}")
        self.answer(COMPILED)


@pytest.fixture
def stand(tmp_path, monkeypatch):
    made = Stand(tmp_path)
    monkeypatch.setenv("HUDI_CONFORMANCE_CACHE", str(made.cache))
    monkeypatch.setattr(rust_programs, "_ENGINES", tmp_path)
    monkeypatch.setattr(rust_programs, "cargo", lambda: str(made.tool))
    return made


def test_a_program_is_compiled_once(stand):
    """With the versions of the lock file, in the cache folder; the output of cargo is reported as progress."""
    said: list[str] = []
    program = rust_programs.program_for("package", said.append)
    assert program == rust_programs.program_path("package")
    assert program.is_relative_to(stand.cache)
    assert program.read_text() == "a program\n"
    assert rust_programs.program_for("package", said.append) == program
    (asked,) = stand.asked()
    assert "--locked" in asked
    assert "     Compiling package" in said


def test_changed_sources_give_another_program(stand):
    """An adapter is never run with the sources of another state."""
    old = rust_programs.program_for("package")
    (stand.sources / "src" / "main.rs").write_text("fn main() { println!(); }")
    assert not rust_programs.program_path("package").exists()
    assert rust_programs.program_for("package") != old


def test_a_failed_compilation_leaves_no_program(stand):
    """The output of the compiler is in the error, and the next call compiles again."""
    stand.answer(f"{COMPILED}; echo 'error[E0308]: mismatched types' >&2; exit 101")
    with pytest.raises(environments.EnvironmentFailure, match="E0308"):
        rust_programs.program_for("package")
    assert not rust_programs.program_path("package").exists()
    stand.answer(COMPILED)
    assert rust_programs.program_for("package").exists()


def test_missing_crates_and_a_missing_cargo_have_a_remedy(stand, monkeypatch):
    """Without a network the error has the command to run later; without cargo, the address of the toolchain."""
    stand.answer("echo 'error: failed to download: Could not resolve host: index.crates.io' >&2; exit 101")
    with pytest.raises(environments.Offline, match="doctor --make"):
        rust_programs.program_for("package")
    monkeypatch.setattr(rust_programs, "cargo", lambda: None)
    with pytest.raises(environments.EnvironmentFailure, match="rustup"):
        rust_programs.program_for("package")


def test_doctor_shows_cargo_and_the_program(tmp_path, monkeypatch):
    """The engine is ready when its program was compiled, and `--make` names it."""
    monkeypatch.setenv("HUDI_CONFORMANCE_CACHE", str(tmp_path))
    monkeypatch.setattr(rust_programs, "cargo", lambda: None)
    found = doctor.diagnose(registry.find(ENGINE))
    assert [(piece.name, piece.there) for piece in found.pieces] == [("cargo", False), ("program", False)]
    assert found.remedy == f"hudi-conformance doctor --make {ENGINE}"
    program = rust_programs.program_path("hudi_rs_native")
    program.parent.mkdir(parents=True)
    program.touch()
    assert doctor.diagnose(registry.find(ENGINE)).ready
