"""What all mutants share: declaration and application, recorded kills, and the shortest schedules of those of concurrency.

What may be changed here: how mutants are declared, applied and recorded. Imports `cases` and `explorer`.
"""
