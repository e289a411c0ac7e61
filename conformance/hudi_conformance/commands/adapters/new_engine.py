"""`hudi-conformance new-engine`: write the template of an adapter."""

import shlex
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

#: The template of each language, in the package `templates`.
TEMPLATES = {"python": "python_engine.py"}


def new_engine(
    language: Annotated[str, typer.Argument(help=f"One of: {', '.join(TEMPLATES)}.")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="File to write; default: standard output.")] = None,
) -> None:
    """Write an adapter that keeps the contract and reads simple tables, as a start for an adapter of your engine."""
    if language not in TEMPLATES:
        typer.echo(f"no template for {language}; there is one for {', '.join(TEMPLATES)}", err=True)
        raise typer.Exit(2)
    text = template(language)
    if output is None:
        typer.echo(text, nl=False)
        return
    try:
        with output.open("x", encoding="utf-8") as file:
            file.write(text.replace("THIS_FILE", shlex.quote(str(output))))
    except OSError as e:
        typer.echo(f"{output} was not written: {e.strerror}; existing files are not overwritten", err=True)
        raise typer.Exit(2) from None
    typer.echo(f"{output} was written. Next: hudi-conformance smoke 'python {shlex.quote(str(output))}'")


def template(language: str) -> str:
    """The source code of the template of `language`, a key of TEMPLATES."""
    return (files("hudi_conformance.templates") / TEMPLATES[language]).read_text(encoding="utf-8")
