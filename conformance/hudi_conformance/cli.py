"""The command `hudi-conformance`.

A command's module is imported when the command is called, so that help and the small commands answer at once.
"""

import errno
import os
import sys
from contextlib import suppress
from importlib import import_module
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from hudi_conformance import __version__
from hudi_conformance.commands.exit_codes import BROKEN, DIFFERENT
from hudi_conformance.processes.compiled_modules import share_compiled_modules
from hudi_conformance.terminal import guarded_streams

#: Command -> module and function (or group of commands), and its help text, in the order of the help page.
COMMANDS = {
    "run": ("suite.run:run", "Run the suite on engines and print the matrix."),
    "read": ("tables.read:read", "Read a table and print its rows."),
    "inspect": (
        "tables.inspect:inspect",
        "Show the timeline and the file slices of a table, or the contents of one of its files.",
    ),
    "validate": (
        "tables.validate:command",
        "Check a stored table: which rules it breaks, the effects, and how to repair it.",
    ),
    "migrate": ("tables.migrate:migrate", "Show what a migration to table version 8 or 9 would change, and migrate."),
    "service": (
        "tables.service:service",
        "Preview and run a table service: clean, compaction, clustering, index, archive, rollback, restore and others.",
    ),
    "explore": (
        "suite.explore:explore",
        "Run writers and services request by request, in every order, and check every invariant.",
    ),
    "fixtures": ("suite.fixtures:app", "List, verify, index, export and regenerate the golden cases."),
    "coverage": (
        "suite.coverage:coverage",
        "Write spec_coverage.md: for each rule its code, cases and mutants, and the verdicts of the engines.",
    ),
    "site": (
        "suite.site:site",
        "Write a static site from the published results: matrix, rules, cases, badges.",
    ),
    "object-store": (
        "adapters.object_store:object_store",
        "Test the emulated object store, and run engines concurrently on it, request by request.",
    ),
    "mutants": ("suite.mutants:mutants", "Apply mutants to the reference and record which cases kill them."),
    "explain": ("suite.explain:explain", "Show a rule, a case, an erratum or a mutant, with everything that refers to it."),
    "engines": ("adapters.engines:engines", "List the engines that the suite knows."),
    "doctor": ("adapters.doctor:doctor", "Show which engines can run here, and how to install what is missing."),
    "smoke": ("adapters.smoke:smoke", "Check an adapter step by step, and separate its faults from those of its engine."),
    "new-engine": ("adapters.new_engine:new_engine", "Write a template of an adapter, in one of six languages."),
}

#: Old name of a command -> its name. Old names work and are not listed.
ALIASES = {"s3": "object-store"}


class Commands(TyperGroup):
    """The commands by name; only the one that is called is imported."""

    def list_commands(self, ctx: Any) -> list[str]:
        """All commands, in the order of `COMMANDS`."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """What the help page shows of a command."""
        known = COMMANDS.get(ALIASES.get(cmd_name, cmd_name))
        return None if known is None else TyperCommand(cmd_name, help=known[1], short_help=known[1])

    def main(self, *args: Any, **options: Any) -> Any:
        """Parse the arguments and run the command; nothing of it prints a control character of a table or an engine.

        A file that cannot be read, or an output that cannot be written, is one line of error, also for `--help`.
        """
        share_compiled_modules()
        with guarded_streams():
            if sys.stdout is None:  # the caller closed it (`>&-`)
                _end_without_output(OSError(errno.EBADF, "standard output is closed"))
            try:
                return super().main(*args, **options)
            except OSError as error:
                _end_without_output(error)
            except MemoryError:
                from hudi_reference.limits import MORE_MEMORY

                _end_without_output(
                    OSError(errno.ENOMEM, f"{os.strerror(errno.ENOMEM)}; let the process have more ({MORE_MEMORY})")
                )

    def invoke(self, ctx: Any) -> Any:
        """Run the command that is called; words of a library in its messages are removed."""
        from hudi_conformance.processes.session import command_session

        try:
            with command_session():
                found = super().invoke(ctx)
                sys.stdout.flush()
        except typer.BadParameter as error:
            error.message = error.message.replace("Value error, ", "")
            raise
        else:
            return found

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is called, with the rest of the arguments."""
        name, _, rest = super().resolve_command(ctx, args)
        return name, load(str(name)), rest


def _end_without_output(error: OSError) -> NoReturn:
    """Print one line about a file that cannot be read, or an output that cannot be written; exit code 3."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # Python writes the rest of the output when it ends
    with suppress(OSError):
        place = "" if error.filename is None else f"{error.filename}: "
        typer.echo(f"hudi-conformance: {place}{error.strerror or error}", err=True)
    raise SystemExit(DIFFERENT if error.errno == errno.EPIPE else BROKEN) from error  # 1 as click does for a closed pipe


def load(name: str) -> Any:
    """The command itself."""
    name = ALIASES.get(name, name)
    module, _, attribute = COMMANDS[name][0].partition(":")
    found = getattr(import_module(f"hudi_conformance.commands.{module}"), attribute)
    if not isinstance(found, typer.Typer):
        single = typer.Typer(add_completion=False)
        single.command(name)(found)
        found = single
    return get_command(found)


#: Rich boxes are disabled, because importing rich takes longer than everything else that the help page needs.
app = typer.Typer(
    cls=Commands, add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"hudi-conformance {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """The executable specification of the Apache Hudi table format, table versions 8 and 9."""
