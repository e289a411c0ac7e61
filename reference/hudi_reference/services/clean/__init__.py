"""Cleaning: deletes files of old slices.

`plan_check` refuses unsafe plans of other engines. What may be changed here: how a clean is executed; the policies are in
`planning/clean_plan`. Imports `rollback`, `planning` and what is below them.
"""
