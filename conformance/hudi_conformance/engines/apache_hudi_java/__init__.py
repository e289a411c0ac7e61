"""Apache Hudi's Java write client without Spark, in a Java virtual machine inside this process.

`python -m hudi_conformance.engines.apache_hudi_java --version 1.0.2` speaks the contract's protocol. A commit takes a
fraction of a second, so that random programs of writes can be run against the deployed code. Runs in the environment of the
extra `apache-hudi`, with the same bundle as the adapter on Spark and the small jar of the client beside it. What may be
changed here: how the contract is mapped to the Java client; answers are never corrected. Imports `engines.apache_hudi`,
`engines.support` and `contract`.
"""

from hudi_conformance.engines.apache_hudi_java.engine import ApacheHudiJavaEngine

__all__ = ["ApacheHudiJavaEngine"]
