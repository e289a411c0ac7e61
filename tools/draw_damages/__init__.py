"""Drawn damages of sound tables, compared with what the validator finds: `python -m tools.draw_damages [--count N] [--seed S]`.

A golden table is copied into memory and damaged, at one place or at several. Then the answers of all queries before and after
are compared with the findings of the validator. A damage that changes an answer and has no finding of wrong answers or lost
data is a miss. Each miss is printed with its seed. `docs/validate.md` lists the damages that the bytes of a table need not
show.

    drawn       what a drawn damage is, and which damages no byte shows
    files       a file is deleted, cut, exchanged, copied, renamed or flipped
    actions     a field of an action, the times and names of instants, the properties
    history     rows and manifests of archived actions
    base_files  rows, columns and footers of base files
    log_files   rows, deletes and headers of log blocks, and change-capture files
    entries     entries of the metadata table
    kinds       all kinds of damage by name, and several of them in one table
    answers     the answers of the reference: from folders, through the metadata table, and by its indexes
    trial       damages a table, asks it again, validates it and compares

What may be changed here: which damage is drawn; a seed then means other damage. Imports the reference, `cases`, the validator
and `tools.damage`.
"""
