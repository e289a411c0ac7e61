"""The static site of the published results: matrix, trend, rules, cases, known failures and badges.

`site.build` writes it; the templates are in `report/templates`, shared with the page of a run. What may be changed here:
pages of the site. Imports `report`, `evidence`, `cases` and `requirements`.
"""
