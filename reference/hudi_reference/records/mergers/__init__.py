"""Record mergers, spec "Record Merger": the interface, the standard merge modes behind it, and two samples.

`merger` has the interface and the checks of every result. Imports the decision tables of `records`, but not `merging`. What
may be changed here: what a merger may do, and what is checked of its results.
"""
