"""Which orders of the steps of several processes are explored, and how a failing run is shrunk.

Works on simulations of any kind; imports only `simulation`. What may be changed here: which orders are left out because
others are equivalent.
"""
