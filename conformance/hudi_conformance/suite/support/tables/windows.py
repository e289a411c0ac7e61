"""TODO docstring."""

from hudi_conformance.suite.support.tables.written_tables import folder_of

CAPTURED = {"hoodie.table.cdc.enabled": "true", "hoodie.table.cdc.supplemental.logging.mode": "DATA_BEFORE_AFTER"}


def completion_of(uri: str, instant: str) -> str:
    """When the write with that requested time completed, by the name of its file."""
    (file,) = (folder_of(uri) / ".hoodie" / "timeline").glob(f"{instant}_*commit")
    return file.name.partition("_")[2].partition(".")[0]
