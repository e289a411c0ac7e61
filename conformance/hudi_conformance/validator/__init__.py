"""The validator: it checks a table on storage against the rules, whichever engine wrote it, and never changes anything.

    stored        the table as found on storage: StoredTable
    checks        the checks, by tier and topic
    all_checks    CHEAP and DEEP: the checks as tuples
    validation    validate: runs checks and collects their findings
    on_spark      the same, distributed by Spark
    written_tables  the tables that an engine wrote in a case of the suite

A check examines parts of the table: `Check.parts(table)` lists them, `Check.run(table, part, tally)` examines one. Both are
plain functions, a `StoredTable` and the parts can be pickled, and `validation.run_part` turns errors of the reference into
findings. So another runner, for example on Spark, distributes the parts, runs `run_part` for each, adds the tallies and passes
all findings to `validation.in_order`.

To add a check of the deep tier: write `run` (and `parts`, for example the latest file slices of `table.groups`) in a module
of `checks.deep`, build its `Check` with tier "deep" there, and add it to the tuple `DEEP` of `all_checks`. What may be
changed here: checks may be added. Imports the reference and what is below the validator; never an engine.
"""
