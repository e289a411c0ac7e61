"""Apache Hudi on Spark 3.5, through the bundle that the project publishes.

`python -m hudi_conformance.engines.apache_hudi --version 1.0.2` speaks the contract's protocol; recipes of golden
tables use `ApacheHudiEngine` directly. Runs in the environment of the extra `apache-hudi`.
"""

from hudi_conformance.engines.apache_hudi.engine import ApacheHudiEngine

__all__ = ["ApacheHudiEngine"]
