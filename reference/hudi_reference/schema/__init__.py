"""Table schemas: Avro in storage, Arrow in memory."""
