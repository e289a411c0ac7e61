"""Fuzzing of every decoder of the reference: `python -m tools.fuzz [TARGET…] [--seconds N]`.

    targets          the targets, by chapter of the reference; first inputs from the golden tables; common properties of all
                     targets (`oracle`): typed errors, memory, time
    structure_aware  inputs parsed into parts and built again      edits     mutations of bytes, numbers and JSON
    seeds            inputs on which a decoder once failed         runner    one target in one process
    figures          inputs, time and coverage of runs

docs/fuzzing.md has the results. What may be changed here: targets, edits and first inputs. Imports the reference and
`corpus`.
"""
