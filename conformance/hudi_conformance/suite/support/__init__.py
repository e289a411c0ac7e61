"""Code that several test modules use. It contains no tests, and may be changed with them.

* `program_runner`: runs a program of `programs.table_programs` on engines and on the model.
* `saved_programs`: drawn programs as JSON files, and as new golden cases.
* `golden_queries`, `answers`: queries on the tables of golden cases, and counted answers of an engine.
* `actions_by_hand`: actions that tests write to the timeline.
* `programs`, `tables`, `concurrent`: programs that tests draw, tables that they write, and concurrent processes.

It may import the contract, the model, the explorer and the reference, and no test module.
"""
