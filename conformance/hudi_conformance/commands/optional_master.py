"""The option `--spark [MASTER]`, whose value may be left out."""

import re
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: The master of `--spark` without one: all cores of this machine.
LOCAL = "local[*]"
_MASTER = re.compile(r"local(\[.*\])?|yarn|(spark|k8s)://.+")


class CommandWithMaster(TyperCommand):
    """A command with that option: the word after `--spark` is its value only if it has the form of a master."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Add the value where it was left out."""
        return super().parse_args(ctx, with_master(args))


def with_master(args: list[str]) -> list[str]:
    """The words of a command line, with a master after each `--spark`."""
    found = []
    for number, word in enumerate(args):
        found.append(word)
        following = args[number + 1] if number + 1 < len(args) else ""
        if word == "--spark" and not _MASTER.fullmatch(following):
            found.append(LOCAL)
    return found


def start_session(master: str) -> "SparkSession":
    """A session at a master. Raises typer.BadParameter without PySpark."""
    try:
        from hudi_spark.session import local_session
    except ImportError as error:
        raise typer.BadParameter(f"--spark needs PySpark: install the extra spark of hudi-conformance ({error})") from error
    return local_session(master)
