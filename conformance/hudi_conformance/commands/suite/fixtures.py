"""`hudi-conformance fixtures`: list, check, export and regenerate the golden cases."""

import hashlib
import os
import shutil
import sys
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from hudi_conformance.cases import case as cases
from hudi_conformance.cases.case import Case
from hudi_conformance.cases.case_index import FILE, golden_cases, golden_index
from hudi_conformance.cases.flags import DANGERS
from hudi_conformance.cases.schema import PACKAGE, CaseError, fixtures_root, read_json
from hudi_conformance.commands.exit_codes import AS_EXPECTED, USAGE, exit_code
from hudi_conformance.console import print_table
from hudi_conformance.contract.features import FUNCTIONS
from hudi_conformance.processes.supervised import run_supervised
from hudi_conformance.requirements import errata, requirement
from hudi_conformance.requirements.chapters import golden_words, title
from hudi_conformance.runner.selection import is_chosen

if TYPE_CHECKING:
    from hudi_conformance.suite.support.saved_programs import AnyProgram

#: All golden tables together, in bytes.
LIMIT = 60_000_000

app = typer.Typer(
    add_completion=False, no_args_is_help=True, help="List, verify, index, export and regenerate the golden cases."
)

Only = Annotated[
    list[str] | None,
    typer.Option("--only", metavar="PATTERN", help="Cases by id, chapter, area, rule or erratum; * matches any text."),
]


@app.command("list")
def list_(only: Only = None) -> None:
    """List the golden cases with chapter, producer, rules and flags."""
    table = Table(box=None, header_style="bold")
    table.add_column("case", overflow="fold")  # an id is copied to other commands, so that it is never shortened
    for name in ("chapter", "produced by", "rules", "flags"):
        table.add_column(name)
    chosen = [c for c in golden_cases(fixtures_root()) if not only or any(is_chosen(c, pattern) for pattern in only)]
    for entry in chosen:
        case = cases.load_case(Path(entry.node))
        table.add_row(case.id, title(case.chapter), str(case.producer), ", ".join(case.requirements), ", ".join(case.flags))
    print_table(table)
    typer.echo(f"{len(chosen)} case{'' if len(chosen) == 1 else 's'}")
    raise typer.Exit(AS_EXPECTED if chosen else USAGE)


@app.command()
def index(
    check: Annotated[bool, typer.Option("--check", help="Write nothing; exit with 1 if the index is stale.")] = False,
) -> None:
    """Write index.json, which lists all golden cases, from their case.json files."""
    path, fresh = fixtures_root() / FILE, golden_index(fixtures_root())
    stale = not path.is_file() or path.read_text(encoding="utf-8") != fresh
    if stale and not check:
        path.write_text(fresh, encoding="utf-8")
    typer.echo(f"{path}: {('stale' if check else 'written') if stale else 'current'}")
    raise typer.Exit(exit_code(not (stale and check)))


@app.command()
def verify() -> None:
    """Check every case: schema, files, ids, rules, size. No engine is run."""
    root = fixtures_root()
    wrong = list(find_problems(root))
    for line in wrong:
        typer.echo(line, err=True)
    number = sum(1 for _ in root.rglob("case.json"))
    typer.echo(f"{number} cases, {folder_size(root) / 1e6:.1f} MB, {len(wrong)} problem{'' if len(wrong) == 1 else 's'}")
    raise typer.Exit(exit_code(not wrong))


def find_problems(root: Path) -> Iterator[str]:
    """The mistakes in the cases below `root`, one line each."""
    seen: dict[str, Path] = {}
    for path in sorted(root.rglob("case.json")):
        try:
            case = cases.load_case(path)
            yield from (f"{path}: {line}" for line in _problems_of(case, root))
        except CaseError as error:
            yield str(error)
            continue
        if case.id in seen:
            yield f"{path}: id: {case.id} is the id of {seen[case.id]} too"
        seen[case.id] = path
    if _is_stale(root):
        yield f"{root / FILE}: stale; run hudi-conformance fixtures index"
    if folder_size(root) > LIMIT:
        yield f"{root}: the tables take {folder_size(root) / 1e6:.1f} MB, more than {LIMIT / 1e6:.0f}"
    yield from (f"{p}: symbolic links do not survive an archive" for p in root.rglob("*") if p.is_symlink())


def _is_stale(root: Path) -> bool:
    """Whether there is an index that differs from the cases; a case that cannot be read is another problem."""
    try:
        return (root / FILE).is_file() and (root / FILE).read_text(encoding="utf-8") != golden_index(root)
    except CaseError:
        return False


def _problems_of(case: Case, root: Path) -> Iterator[str]:
    """Mistakes that the schema of the file cannot find. Reading the expected answers raises CaseError."""
    place = case.folder.relative_to(root.resolve()).parts
    if ".".join(place[:2]) != case.id:
        yield f"id: the folder of {case.id} is {case.id.replace('.', '/', 1)}/, found {'/'.join(place)}/"
    for unknown in requirement.unknown(case.requirements):
        yield f"requirements: there is no {unknown}"
    known = {e.id for e in errata.errata()}
    yield from (f"errata: there is no {e}" for e in case.errata if e not in known)
    yield from (f"flags: there is no {flag}" for flag in case.flags if flag not in DANGERS)
    if not case.subject.is_relative_to(root.resolve()):
        yield "table: leads outside the fixtures"
    if case.expected.rows is not None and not case.rows:
        yield "expected.rows: empty"
    if case.expected.inspect is not None and not case.inspection:
        yield "expected.inspect: empty"
    yield from _problems_of_parts(case)


def _problems_of_parts(case: Case) -> Iterator[str]:
    """Mistakes in the variants, reads and vectors of a case."""
    length = case.subject.stat().st_size if case.variants else 0
    for variant in case.variants:
        ends = [0, *(at for patch in variant.patches for at in (patch.at, patch.at + patch.remove)), length]
        if ends != sorted(ends):
            yield f"expected.variants: {variant.name}: patches overlap, or lie beyond the {length} bytes of the file"
    names = [*(variant.name for variant in case.variants), *(read.name for read in case.reads)]
    if case.vectors is not None:
        if case.vectors.function not in FUNCTIONS:
            yield f"vectors: {case.vectors.function!r} is no function of the contract"
        names = [str(test.id) for test in case.vectors.tests]
        unexplained = {flag for test in case.vectors.tests for flag in test.flags} - case.vectors.notes.keys()
        yield from (f"vectors: no note on the flag {flag}" for flag in sorted(unexplained))
    yield from (f"two parts are called {name}" for name in sorted({n for n in names if names.count(n) > 1}))


def folder_size(root: Path) -> int:
    """Bytes of all files."""
    return sum(p.stat().st_size for p in root.rglob("*") if p.is_file())


@app.command()
def export(
    to: Annotated[Path, typer.Argument(metavar="FOLDER-OR-ARCHIVE", help="A new folder, or a file that ends in .tar.gz.")],
) -> None:
    """Copy all golden cases, for use without the runner; the SHA-256 of an archive is stored beside it."""
    if to.exists():
        typer.echo(f"{to} exists already; name another path", err=True)
        raise typer.Exit(USAGE)
    with _beside(to) as fresh:
        if to.name.endswith(".tar.gz"):
            write_archive(fixtures_root(), fresh)
            digest = hashlib.sha256(fresh.read_bytes()).hexdigest()
            to.with_name(f"{to.name}.sha256").write_text(f"{digest}  {to.name}\n", encoding="utf-8")
            done = f"{to}  sha256 {digest}"
        else:
            _copy(fixtures_root(), fresh)
            _copy(PACKAGE / "schemas", fresh / "schemas")
            done = f"{to}: {sum(1 for _ in fresh.rglob('case.json'))} cases"
    typer.echo(done)


@contextmanager
def _beside(to: Path) -> Iterator[Path]:
    """A path beside `to`, which gets this name at the end: a command that fails leaves nothing, and can be repeated."""
    fresh = to.with_name(f".{to.name}.{os.getpid()}")
    try:
        yield fresh
        fresh.rename(to)
    finally:
        fresh.unlink(missing_ok=True) if fresh.is_file() else shutil.rmtree(fresh, ignore_errors=True)


def _copy(folder: Path, to: Path) -> None:
    """Copy a folder. Raises the first error alone: the error of the library lists all of them."""
    try:
        shutil.copytree(folder, to)
    except shutil.Error as error:
        source, _, reason = error.args[0][0]
        raise OSError(f"{source}: {reason}") from error


def write_archive(root: Path, to: Path) -> None:
    """Archive all files of `root` and the schemas, in order and without owner, so that the bytes are the same every time."""
    import gzip

    with to.open("wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", mtime=0, filename="") as packed:  # noqa: SIM117
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar:
            for source, name in [(PACKAGE / "schemas", "fixtures/schemas"), (root, "fixtures")]:
                for path in sorted(p for p in source.rglob("*") if p.is_file()):
                    tar.add(path, arcname=f"{name}/{path.relative_to(source).as_posix()}", filter=_anonymous)


def _anonymous(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    entry.mtime, entry.mode = 0, 0o644
    return entry


@app.command()
def add(
    programs: Annotated[list[Path], typer.Argument(metavar="PROGRAM.json...", help="Random programs that tests have saved.")],
    case: Annotated[
        str | None, typer.Option("--id", metavar="WORD.NAME", help="Id of the one new case; merge.drawn.<file name> if none.")
    ] = None,
) -> None:
    """Add random programs as golden cases: the reference writes their tables, the model gives the expected answers."""
    from hudi_conformance.suite.support.saved_programs import add_case

    if case is not None and len(programs) > 1:
        typer.echo("--id names one case; leave it out for several programs", err=True)
        raise typer.Exit(USAGE)
    chosen = {path: case or f"merge.drawn.{path.stem}" for path in programs}
    for name in chosen.values():
        word, _, rest = name.partition(".")
        if word not in golden_words() or not rest:
            typer.echo(f"{name}: the first word of an id is one of {', '.join(golden_words())}", err=True)
            raise typer.Exit(USAGE)
        if (fixtures_root() / word / rest).exists():
            typer.echo(f"{name} exists already", err=True)
            raise typer.Exit(USAGE)
    read = {path: _program_in(path) for path in chosen}
    for path, name in chosen.items():
        folder = add_case(read[path], name, fixtures_root())
        typer.echo(f"{cases.load_case(folder / 'case.json').id}: {folder}; name the rules that it checks in case.json")
    typer.echo("then run hudi-conformance fixtures index")


def _program_in(path: Path) -> "AnyProgram":
    from hudi_conformance.suite.support.saved_programs import program_from_json

    try:
        return program_from_json(read_json(path))
    except CaseError as error:
        typer.echo(str(error), err=True)
    except (KeyError, TypeError, ValueError):
        typer.echo(f"{path}: not a random program; a failing model-based test saves one and prints its path", err=True)
    raise typer.Exit(USAGE)


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def regenerate(context: typer.Context) -> None:
    """Write golden tables again from their recipes and show what changed.

    The options are those of `python -m tools.recipes`, which `python -m tools.recipes --help` lists.
    """
    checkout = fixtures_root().parent
    if not (checkout / "tools" / "recipes").is_dir():
        typer.echo("regenerate needs a source checkout with the recipes in tools/", err=True)
        raise typer.Exit(USAGE)
    done = run_supervised([sys.executable, "-m", "tools.recipes", *context.args], cwd=checkout)
    raise typer.Exit(done.returncode)
