"""Table services: what is done to a table beside writing rows. Each is an action that anybody can carry out from its plan."""
