"""The golden tables, as recipes that can be read and run again.

A recipe is data: a table, the steps that make it, and the checks that query it (`recipe.py`). The same steps run on Apache
Hudi (`producers/apache_hudi.py`, in the environment of that engine), on the reference (`producers/reference.py`) and on the
model (`expectation.py`), which computes the expected rows. `python -m tools.recipes` generates the tables and compares them
with the committed ones.

The recipes are in one package for each topic: `layout`, `timeline`, `log`, `merge`, `query`, and `legacy` for tables of
version 6. `catalogue.py` lists their modules. What may be changed here: recipes may be added; ids of golden cases never
change. Imports `cases` and `model`, and the engines that write the tables.
"""
