"""Reports of runs, and coverage of the specification: terminal, HTML, Markdown and JSON."""
