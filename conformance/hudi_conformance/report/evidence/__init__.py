"""Evidence for each rule: code, cases, mutants and verdicts, the levels computed from them, and the coverage page.

May import `cases`, `requirements`, `mutants` and `counters`. Sources are parsed and not imported. What may be changed here:
what counts as evidence of a rule.
"""
