"""Child processes, signals and temporary files of a command: nothing stays behind, however the command ends."""
