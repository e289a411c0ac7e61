"""Programs that hypothesis draws: a table and the steps on it, as plain data.

* `write_programs`: writes only.
* `table_programs`: writes, services and queries of every kind.
* `drawn_checks`: checks a property for everything that is drawn.

The modules import the contract and the model. What may be changed here: the values that are drawn; this changes the
programs of all engines.
"""
