"""Chaos: real processes work on one table and are killed at random; the judge of histories checks what they read.

What may be changed here: what the processes do, and how often they are killed. Imports the reference and the explorer.
"""
