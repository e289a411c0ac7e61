"""Child processes, signals and temporary files of a command: nothing stays behind, however the command ends.

What may be changed here: how processes are started and ended. Imports no other package of the project.
"""
