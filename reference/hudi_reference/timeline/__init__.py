"""The timeline: every action on the table, as instants in three states (spec "Timeline", "LSM Timeline").

* `instants`: names, states and times of instants; `states` is the table of actions that all other modules read;
* `contents`: the records in the files of instants;
* `history`: the archived timeline;
* `schema_history`: the versions of the table's schema, each with the time of the action that made it;
* `active`, `transitions`: the active timeline, the steps of an action, and checks before a completion;
* `instant_generator`, `shared_counter`: sources of new instant times.

Imports layout, schema, locks, storage, clock and errors; nothing of tables, queries or writes. What may be changed here:
which actions and states exist (`instants.states`), and how the timeline is listed.
"""
