"""Reports of a validation: text, JSON, SARIF, and an HTML page with a picture of the table.

What may be changed here: how findings are shown. Imports `validator`, `render.parts`, `report` and `requirements`.
"""
