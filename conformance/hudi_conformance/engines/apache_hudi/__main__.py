"""Apache Hudi as a process that speaks the contract's protocol."""

from hudi_conformance.engines.apache_hudi.engine import FEATURES, ApacheHudiEngine
from hudi_conformance.engines.apache_hudi.jvm.bundle import bundle
from hudi_conformance.engines.support import command


def main() -> None:
    """Answer messages on standard input until it ends."""
    command.run("hudi_conformance.engines.apache_hudi", __doc__, FEATURES, bundle, ApacheHudiEngine)


if __name__ == "__main__":
    main()
