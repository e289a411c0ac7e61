"""The tiny cases and engines as fixtures."""

from tinies import casebook, tiny_engines

__all__ = ["casebook", "tiny_engines"]
