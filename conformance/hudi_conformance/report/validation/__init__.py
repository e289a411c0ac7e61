"""Reports of a validation: text, JSON, SARIF, and an HTML page with a picture of the table."""
