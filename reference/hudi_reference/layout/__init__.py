"""Where everything lies below a table's base path, and what the names say."""
