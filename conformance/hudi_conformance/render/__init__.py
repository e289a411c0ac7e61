"""Text pages of `hudi-conformance inspect`: one module for each kind of file, `table` and `timeline` for tables.

`parts` has the building blocks: bars, dumps, lists of facts, rows. Imports the reference and `cases.values`; prints with
rich. What may be changed here: how a page looks.
"""
