"""Golden cases as data: schema, expected answers, judging, indexes for choosing cases, and renames of ids."""
