"""A run as a sequence diagram: as text, SVG or HTML. Imports only `simulation`.

What may be changed here: how a run looks.
"""
