"""Archiving: moves old actions from the active timeline to the history.

`limits` reads the settings, `bounds` finds the first instant that has to stay. What may be changed here: which actions are
archived. Imports `planning`, `write` and what is below them.
"""
