"""Apache Hudi on Spark 3.5, through the bundle that the project publishes.

`python -m hudi_conformance.engines.apache_hudi --version 1.0.2` speaks the contract's protocol; recipes of golden tables use
`ApacheHudiEngine` directly. Runs in the environment of the extra `apache-hudi`. What may be changed here: how the contract is
mapped to the classes of Apache Hudi; answers are never corrected. Imports `contract`, `engines.support`, and types and
schemas of the reference.
"""

from hudi_conformance.engines.apache_hudi.engine import ApacheHudiEngine

__all__ = ["ApacheHudiEngine"]
