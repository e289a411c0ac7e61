"""File id and instant times of the files in the corpus."""

FILE_ID = "f0000000-0000-4000-8000-000000000001-0"


def instant_time(second: int) -> str:
    """An instant time."""
    return f"202501010000{second:02}000"
