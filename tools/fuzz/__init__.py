"""Fuzzing of every decoder of the reference: `python -m tools.fuzz [TARGET…] [--seconds N]`.

    targets          the targets, by chapter of the reference      oracle    common properties: typed errors, memory, time
    structure_aware  inputs parsed into parts and built again      edits     mutations of bytes, numbers and JSON
    seed_files       first inputs, from the golden tables          runner    one target in one process
    seeds            inputs on which a decoder once failed         figures   inputs, time and coverage of runs

docs/fuzzing.md has the results.
"""
