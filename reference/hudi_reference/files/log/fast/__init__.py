"""Contents of log blocks as whole columns. `log.content` chooses between this code and the plain one."""
