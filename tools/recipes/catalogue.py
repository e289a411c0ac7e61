"""All recipes, by name."""

import importlib
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from tools.recipes.recipe import AsOf, Recipe

AREAS = ("layout", "timeline", "log", "merge", "queries", "compatibility")
MODULES = (
    "layout.layout",
    "layout.properties_backup",
    "layout.partition_folders",
    "layout.key_generators",
    "timeline.timeline",
    "timeline.services",
    "timeline.action_states",
    "timeline.long_timelines",
    "timeline.handmade_histories",
    "timeline.damage",
    "log.log_files",
    "log.handmade_blocks",
    "log.partial_updates",
    "log.partial_updates_handmade",
    "log.positions",
    "log.task_attempts",
    "log.file_slices",
    "merge.merge_modes",
    "merge.ordering_values",
    "merge.truth_tables",
    "merge.payloads",
    "query.queries",
    "query.schema_evolution",
    "query.incremental_windows",
    "query.data_skipping",
    "query.index_services",
    "legacy.version_6",
    "version_9.twins",
    "version_9.properties",
    "version_9.payloads",
    "version_9.ordering_fields",
    "version_9.keys",
    "version_9.indexes",
    "version_9.upgrades",
    "version_9.types",
)


def all_recipes() -> list[Recipe]:
    """The recipes of all areas in the order of their modules, with the names of the modules."""
    return [
        replace(recipe, module=name) for name in MODULES for recipe in importlib.import_module(f"tools.recipes.{name}").RECIPES
    ]


def find(name: str) -> Recipe:
    """The recipe with this name."""
    for recipe in all_recipes():
        if recipe.name == name:
            return recipe
    raise LookupError(f"no recipe is called {name!r}; `python -m tools.recipes --list` shows all names")


def as_of_text(as_of: AsOf, instants: Sequence[str]) -> str:
    """The instant of a time-travel query in the form of the query."""
    instant = instants[as_of.step]
    moment = datetime.strptime(instant[:14], "%Y%m%d%H%M%S")
    return {
        "17": instant,
        "14": instant[:14],
        "text": f"{moment:%Y-%m-%d %H:%M:%S}.{instant[14:]}",
        "date": f"{moment:%Y-%m-%d}",
        "before": "20000101000000000",
    }[as_of.style]


def as_of_instant(as_of: AsOf, instants: Sequence[str]) -> str:
    """The instant in digits for the model; a date means its midnight."""
    if as_of.style == "date":
        return instants[as_of.step][:8] + "000000000"
    return instants[as_of.step] if as_of.style == "text" else as_of_text(as_of, instants)
