"""Instants: times, states, and the names of the files of the timeline, spec "Timeline > States" and "Timeline > Time".

The lowest package of the timeline: it imports no other package of it. What may be changed here: the table of actions, and how
names are parsed.
"""
