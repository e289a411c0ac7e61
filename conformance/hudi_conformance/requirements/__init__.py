"""The rules of the specification, the chapters that group them, and the errata.

What may be changed here: rules and errata may be added; their ids are never used again. Imports no other package of the
project.
"""
