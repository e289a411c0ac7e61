"""Reports of runs, and coverage of the specification: terminal, HTML, Markdown and JSON.

What may be changed here: what is shown, and where; levels of evidence are computed in `evidence`. Imports `cases`,
`requirements`, `mutants` and what is below them.
"""
