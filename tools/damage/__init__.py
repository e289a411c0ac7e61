"""Random damage to golden tables: `python -m tools.damage [--count N] [--seed S] [--tables PATTERN]`.

    tables      golden tables in memory, with the answers that they give undamaged
    kinds       the kinds of damage, and how one is drawn
    experiment  damages a table, asks it again, and compares
    silent      the damages that the bytes of a table do not show; docs/damage.md lists them

Each damage is drawn from a seed of its own, `S:N`, so that one can be repeated alone: `--only 7:4711`. What may be changed
here: which damage is drawn; a seed then means other damage. Imports the reference and `cases`.
"""
