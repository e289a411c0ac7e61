"""Log files: a sequence of blocks with changes, spec "Log Format"."""
