"""Fuzzing of every decoder of the reference: `python -m tools.fuzz [TARGET…] [--seconds N]`.

    target      what is fuzzed and what must hold of it           oracle    typed errors, memory, time
    leaves      inputs taken apart and put together whole again   edits     mutations of leaves
    seeds       first inputs, taken from the golden tables        guided    coverage-guided, one process a target
    targets_*   the targets, by chapter of the reference          figures   what was tried and found, in words

docs/fuzzing.md says what was tried and found.
"""
