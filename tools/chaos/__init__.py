"""Chaos: real processes work on one table and are killed at random; the judge of histories checks what they read."""
