"""Recipes for the timeline: every action in every state, services, long and damaged timelines.

What may be changed here: recipes may be added. Imports `recipes` only.
"""
