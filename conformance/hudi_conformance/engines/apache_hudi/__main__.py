"""Apache Hudi as a process that speaks the contract's protocol."""

import argparse
import sys

from hudi_conformance.contract.serve import serve
from hudi_conformance.engines.apache_hudi.engine import FEATURES, ApacheHudiEngine
from hudi_conformance.engines.apache_hudi.jvm.bundle import bundle
from hudi_conformance.engines.support.environments import EnvironmentFailure, to_stderr


def main() -> None:
    """Answer messages on standard input until it ends."""
    parser = argparse.ArgumentParser(prog="python -m hudi_conformance.engines.apache_hudi", description=__doc__)
    parser.add_argument("--version", choices=sorted(FEATURES), default="1.0.2", help="release of Apache Hudi")
    parser.add_argument("--fetch", action="store_true", help="fetch the release's jar into the cache and stop")
    chosen = parser.parse_args()
    try:
        if chosen.fetch:
            bundle(chosen.version, to_stderr)
        else:
            serve(lambda: ApacheHudiEngine(chosen.version))
    except EnvironmentFailure as e:
        sys.exit(str(e))


if __name__ == "__main__":
    main()
