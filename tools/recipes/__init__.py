"""The golden tables, as recipes that anyone can read and run again.

A recipe is data: a table, the steps that make it, and the checks that ask it something (`recipe.py`). The same steps
run on Apache Hudi (`hudi_producer.py`, in that engine's own environment), on the reference (`reference_producer.py`)
and through the model (`expectation.py`), which says what rows are right. `python -m tools.recipes` makes tables and
compares them with the committed ones.

The recipes themselves lie in a few modules an area: `layout.py` and `layout_more.py`; `timeline.py`, `timeline_services.py`,
`timeline_states.py` (every action in every state) and `timeline_long.py`; `log.py`; `merge.py` and `merge_ordering.py`;
`queries.py`.
"""
