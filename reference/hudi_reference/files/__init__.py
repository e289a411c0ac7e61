"""Data files: base files and log files."""
