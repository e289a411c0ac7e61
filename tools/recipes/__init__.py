"""The golden tables, as recipes that anyone can read and run again.

A recipe is data: a table, the steps that make it, and the checks that ask it something (`recipe.py`). The same steps
run on Apache Hudi (`hudi_producer.py`, in that engine's own environment), on the reference (`reference_producer.py`)
and through the model (`expectation.py`), which says what rows are right. `python -m tools.recipes` makes tables and
compares them with the committed ones.

The recipes themselves lie in `merge.py`, `timeline.py`, `log.py`, `queries.py` and `layout.py`, one module an area.
"""
