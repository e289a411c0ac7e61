"""The explorer: runs concurrent writers, services and readers request by request, in every order, and checks each run.

* `simulation`: a simulated store, clock and lock; processes whose requests a scheduler interleaves; schedules as files.
* `search`: which orders are explored (exhaustive, reduced by partial order, or random), and how a failing run is shrunk.
* `invariants`: what must hold after every step of a run on a table.
* `history`: operations with their begin and end, and the check for isolation anomalies.
* `scenarios`: the tables and programs that are explored.
* `drawing`: a run as a sequence diagram.
* `s3`: the same idea for real clients of an object store, whose HTTP requests pass through a proxy.
* `crash_points`: a crash after each change of one process.

`docs/explore.md` explains the design. What may be changed here: `crash_points`; the packages say what may be
changed in them. Imports the reference, `model`, `contract` and `engines`.
"""
