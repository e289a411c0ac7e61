"""Recipes for the timeline: every action in every state, services, long and damaged timelines."""
