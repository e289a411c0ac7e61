"""Apache Hudi as a process that speaks the contract's protocol."""

import argparse

from hudi_conformance.contract.serve import serve
from hudi_conformance.engines.apache_hudi.engine import FEATURES, ApacheHudiEngine


def main() -> None:
    """Answer messages on standard input until it ends."""
    parser = argparse.ArgumentParser(prog="python -m hudi_conformance.engines.apache_hudi", description=__doc__)
    parser.add_argument("--version", choices=sorted(FEATURES), default="1.0.2", help="release of Apache Hudi")
    chosen = parser.parse_args()
    serve(lambda: ApacheHudiEngine(chosen.version))


if __name__ == "__main__":
    main()
