"""The Java write client as a process that speaks the contract's protocol."""

from hudi_conformance.engines.apache_hudi_java.engine import FEATURES, ApacheHudiJavaEngine
from hudi_conformance.engines.apache_hudi_java.jars import class_path
from hudi_conformance.engines.support import command


def main() -> None:
    """Answer messages on standard input until it ends."""
    command.run("hudi_conformance.engines.apache_hudi_java", __doc__, FEATURES, class_path, ApacheHudiJavaEngine)


if __name__ == "__main__":
    main()
