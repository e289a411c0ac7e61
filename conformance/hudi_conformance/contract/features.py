"""Features and functions of the contract with their meanings, from `features.toml` and `functions.toml`."""

import json
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any


@dataclass(frozen=True)
class Feature:
    """A feature that a case may need and an engine may declare: its name, its meaning, and an example."""

    name: str
    meaning: str
    example: str


@dataclass(frozen=True)
class Function:
    """A pure function of the format: its meaning, the forms of arguments and value, and an example of both."""

    name: str
    meaning: str
    forms: str
    arguments: dict[str, Any]
    value: Any

    @property
    def feature(self) -> Feature:
        """The feature of engines that compute it."""
        example = f"{json.dumps(self.arguments, ensure_ascii=False)} gives {json.dumps(self.value, ensure_ascii=False)}"
        return Feature(f"compute.{self.name}", self.meaning, example)


@cache
def functions() -> dict[str, Function]:
    """The functions that `compute` may name, by name."""
    return {
        name: Function(
            name,
            raw["meaning"],
            " ".join(raw["forms"].split()),
            json.loads(raw["arguments"]),
            json.loads(raw["value"]),
        )
        for name, raw in _load("functions.toml").items()
    }


@cache
def features() -> dict[str, Feature]:
    """All features by name: those of `features.toml`, then one for each function."""
    plain = [Feature(name, raw["meaning"], raw["example"]) for name, raw in _load("features.toml").items()]
    return {feature.name: feature for feature in (*plain, *(function.feature for function in functions().values()))}


def _load(name: str) -> dict[str, dict[str, str]]:
    return tomllib.loads((files("hudi_conformance.contract") / name).read_text(encoding="utf-8"))


#: Function -> meaning.
FUNCTIONS: dict[str, str] = {name: function.meaning for name, function in functions().items()}

#: Former name of a feature -> its name. Adapters may still declare the former names.
FORMER_NAMES = {
    "halt.write": "pause.write",
    "halt.drawn": "pause.drawn",
    "halt.service": "pause.service",
    "halt.planned": "pause.planned",
}


def current_names(declared: Iterable[str]) -> frozenset[str]:
    """The features that an engine declares, former names replaced."""
    return frozenset(FORMER_NAMES.get(name, name) for name in declared)


#: Feature -> meaning. If the engine does not declare a feature of a case, the case is "not offered"; if it declares the feature
#: and refuses it, the case is "refused".
FEATURES: dict[str, str] = {name: feature.meaning for name, feature in features().items()}
