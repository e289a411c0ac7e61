"""Faulty engines: the reference with one known fault each, to test the suite and its runner.

* `faulty_engines`: the table of faults, each with the rules that it breaks; the engine is named `faulty:<name>`;
* `data_faults`: engines in this process that give wrong answers;
* `table_faults`, `answer_faults`: the changes that those engines make to a copy of the table, or to an inspection;
* `protocol_faults`: engines that violate the protocol, each a process of its own.

A fault never invents rows. Wrong rows come from a changed copy of the table or from a changed query, so that a case detects the
fault only if its table holds the data in question. A new fault needs an entry in `faulty_engines.FAULTS` with its rules; the
tests then check that a golden case that cites one of these rules detects it.

The package imports the contract, the engine of the reference and the reference. Only `engines.registry` and tests import it.
What may be changed here: the faults; each stays one fault.
"""
