"""Programs against storage, one request after the other: in every order of those of several processes, with deaths and faults.

world, stores    what processes share, and how stores differ
scheduler        processes that take turns; a run of a schedule
explore          every order (`orders`, `reduction`), or drawn ones
scenario         a world, its processes, and what must hold
shrink, diagram, schedule_file      what becomes of a failing run
crash            one process that dies between any two of its changes, without a scheduler
"""
