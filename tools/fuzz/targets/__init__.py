"""Targets of the fuzzer: a decoder, its first inputs, and the properties that must hold."""
