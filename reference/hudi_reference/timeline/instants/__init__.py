"""Instants: times, states, and the names of the files of the timeline, spec "Timeline > States" and "Timeline > Time".

The lowest package of the timeline: it imports no other package of it.
"""
