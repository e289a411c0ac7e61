"""Programs against storage, one request after the other: processes that die between two requests."""
