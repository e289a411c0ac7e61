"""How commands tell what went wrong: in one readable block, never with a traceback."""

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from hudi_conformance.contract.errors import ContractError, EngineCrash, EngineTimeout, ProtocolFault
from hudi_conformance.engines.support.info import UnknownEngine
from hudi_reference.errors import HudiError


@contextmanager
def telling_errors() -> Iterator[None]:
    """Errors of a table or an engine end the command with exit code 1, a broken adapter with 3, a wrong name with 2."""
    try:
        yield
    except HudiError as error:
        _end(str(error), 1)
    except UnknownEngine as error:
        _end(str(error), 2)
    except (EngineCrash, EngineTimeout, ProtocolFault) as error:
        _end("\n".join(filter(None, [str(error), getattr(error, "stderr", "")])), 3)
    except ContractError as error:
        _end(str(error), 1)


def _end(message: str, code: int) -> None:
    typer.echo(message, err=True)
    raise typer.Exit(code)
