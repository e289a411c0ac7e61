"""Files of the timeline: metadata of actions, the history and its manifests; valid and damaged ones.

What may be changed here: cases may be added. Imports `corpus` only.
"""
