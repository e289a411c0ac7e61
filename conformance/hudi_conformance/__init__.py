"""The conformance suite of the Apache Hudi table format, version 8.

`case -> engine through the contract -> answer -> verdict -> report`

* `contract`: how any engine plugs in: JSON lines over a process's standard streams, or a Python class.
* `engines`: the engines shipped with the suite, and faulty engines with one known fault each.
* `model`: what rows are right, in plain Python over dictionaries; imports nothing of ours.
* `suite`: cases that are programs; golden cases are data under `fixtures/`.
* `mutants`: mutants, one for each rule, that measure the suite's own strength.
* `report`: matrix, HTML page, coverage of the spec.
"""

__version__ = "0.1.0"
