"""Errors of commands: printed in one block, without a traceback, and mapped to exit codes."""

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from hudi_conformance.commands.exit_codes import BROKEN, DIFFERENT, USAGE
from hudi_conformance.contract.errors import ContractError, EngineCrash, EngineTimeout, ProtocolFault
from hudi_conformance.engines.support.info import UnknownEngine
from hudi_reference.errors import HudiError


@contextmanager
def exit_on_errors() -> Iterator[None]:
    """Map errors to exit codes: an error of a table or an engine to 1, an unknown engine to 2, a faulty adapter to 3."""
    try:
        yield
    except HudiError as error:
        _end(str(error), DIFFERENT)
    except UnknownEngine as error:
        _end(str(error), USAGE)
    except (EngineCrash, EngineTimeout, ProtocolFault) as error:
        _end("\n".join(filter(None, [str(error), getattr(error, "stderr", "")])), BROKEN)
    except ContractError as error:
        _end(str(error), DIFFERENT)


def _end(message: str, code: int) -> None:
    typer.echo(message, err=True)
    raise typer.Exit(code)
