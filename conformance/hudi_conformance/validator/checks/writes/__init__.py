"""Checks of the cheap tier that compare actions with each other: what writes and services say that they read and did.

traces        lost updates
results       services against their plans, replaced groups, numbers of rows
times         completion times
replacements  the file groups that actions replace, and those of plans
removal_plans rollbacks and cleans against their plans
removal_records  entries of a clean, rollback, restore or savepoint that contradict each other
plans         pending plans that their service cannot follow
statistics    entries of one action that contradict each other

What may be changed here: what is compared. Imports `checks`, `checks.cheap`, `stored` and the reference.
"""
