"""Targets of the fuzzer: a decoder, its first inputs, and the properties that must hold.

What may be changed here: which decoders are called, and what must hold. Imports the reference, `contract`, `damage` and
`structure_aware`.
"""
