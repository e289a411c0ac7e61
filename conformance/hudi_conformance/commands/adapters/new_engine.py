"""`hudi-conformance new-engine`: write the template of an adapter."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from hudi_conformance.commands.exit_codes import USAGE
from hudi_conformance.templates import TEMPLATES, Template

LANGUAGES = ", ".join(TEMPLATES)
_OTHER_NAMES = {
    "c++": "cpp",
    "golang": "go",
    "ts": "typescript",
    "javascript": "typescript",
    "js": "typescript",
    "py": "python",
}


def new_engine(
    language: Annotated[str, typer.Argument(help=f"One of: {LANGUAGES}.")],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="DIR", help="Folder to write to; existing files are not overwritten.")
    ] = Path("my-engine"),
) -> None:
    """Write an adapter that keeps the contract and reads copy-on-write tables. Change it to call your engine."""
    name = language.lower()
    template = TEMPLATES.get(_OTHER_NAMES.get(name, name))
    if template is None:
        typer.echo(f"no template for {language}; there is one for {LANGUAGES}", err=True)
        raise typer.Exit(USAGE)
    if existing := [name for name in template.files if (output / name).exists()]:
        typer.echo(f"nothing was written: {output} has {', '.join(existing)} already", err=True)
        raise typer.Exit(USAGE)
    try:
        _write(template, output)
    except OSError as e:
        typer.echo(f"{e.filename} was not written: {e.strerror}", err=True)
        raise typer.Exit(USAGE) from None
    typer.echo(f"{output} has {', '.join(template.files)}. Next, with {template.needs} or later:\n")
    for command in next_commands(template, output):
        typer.echo(f"    {command}")


def next_commands(template: Template, folder: Path) -> tuple[str, ...]:
    """The commands that build, check and run the adapter in `folder`."""
    return (
        f"cd {shlex.quote(str(folder))}",
        template.build,
        f"hudi-conformance smoke '{template.adapter}'",
        f"hudi-conformance run '{template.adapter}'",
    )


def _write(template: Template, folder: Path) -> None:
    for name in template.files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(template.text(name))
