"""The conformance suite of the Apache Hudi table format, table versions 8 and 9.

`case -> engine through the contract -> answer -> verdict -> report`

* `contract`: how any engine plugs in: JSON lines over a process's standard streams, or a Python class.
* `engines`: the engines shipped with the suite, and faulty engines with one known fault each.
* `model`: what rows are right, in plain Python over dictionaries; imports nothing of ours.
* `suite`: Python cases; golden cases are data in `fixtures/`.
* `explorer`: concurrent writers, services and readers of the reference in every order of their requests.
* `mutants`: mutants of the reference, each of which breaks a rule; they measure the strength of the suite.
* `validator`: checks of a stored table, whichever engine wrote it.
* `report`: matrix, HTML page, coverage of the specification.

What may be changed here: the commands in `cli`, and small modules that several packages share.
"""

__version__ = "0.1.0"
