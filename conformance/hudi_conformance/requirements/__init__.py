"""The rules of the specification, the chapters that group them, and the errata."""
