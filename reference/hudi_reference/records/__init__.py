"""Records: their keys, their ordering values, and which of several versions is right."""
