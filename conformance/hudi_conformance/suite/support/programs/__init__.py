"""Programs that hypothesis draws: a table and the steps on it, as plain data.

* `write_programs`: writes only.
* `table_programs`: writes, services and queries of every kind.

The modules import the contract and the model. Changes to the drawn values change the programs of all engines.
"""
