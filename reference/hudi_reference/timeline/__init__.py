"""The timeline: every action on the table, as instants in three states."""
