"""Golden cases as data: schema, expected answers, judging, indexes for choosing cases, and renames of ids.

What may be changed here: what a case may say, and how answers are compared; ids of golden cases never change. Imports
`contract` and `requirements`.
"""
