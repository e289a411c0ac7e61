"""The command line of an adapter that supports several releases of its engine."""

import argparse
import sys
from collections.abc import Callable, Iterable

from hudi_conformance.contract import Engine
from hudi_conformance.contract.serve import serve
from hudi_conformance.engines.support.environments import EnvironmentFailure, Progress, to_stderr


def run(
    module: str,
    description: str | None,
    releases: Iterable[str],
    fetch: Callable[[str, Progress], object],
    engine: Callable[[str], Engine],
) -> None:
    """Answer messages on standard input until it ends, or fetch the jars of a release and exit.

    Args:
        module: the name of the module after `python -m`.
        description: the text above the options in the help.
        releases: the releases that can be chosen; 1.0.2 is the default.
        fetch: fetches the jars of a release into the cache.
        engine: the adapter of a release.
    """
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description=description)
    parser.add_argument("--version", choices=sorted(releases), default="1.0.2", help="release of Apache Hudi")
    parser.add_argument("--fetch", action="store_true", help="fetch the jars of the release into the cache and exit")
    chosen = parser.parse_args()
    try:
        if chosen.fetch:
            fetch(chosen.version, to_stderr)
        else:
            serve(lambda: engine(chosen.version))
    except EnvironmentFailure as e:
        sys.exit(str(e))
