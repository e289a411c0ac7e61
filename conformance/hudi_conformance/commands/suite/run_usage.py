"""Mistakes in the arguments of `run`: found before anything starts, and reported in one line."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hudi_conformance.engines import registry
from hudi_conformance.runner import expected_failures as lists
from hudi_conformance.runner.patterns import expand_patterns, read_flaky


class WrongUsage(ValueError):
    """The arguments cannot be used; the message is one line."""


@dataclass(frozen=True)
class RunUsage:
    """The engines and lists of a run, as they were given."""

    engines: Sequence[str]
    expected_failures: Path | None
    update: bool
    known_flaky: Path | None


def read_patterns(only: Sequence[str], skip: Sequence[str]) -> tuple[list[str], list[str]]:
    """The patterns of `--only` and `--skip`, those of files included. Raises WrongUsage."""
    try:
        return expand_patterns(only), expand_patterns(skip)
    except lists.ListError as error:
        raise WrongUsage(str(error)) from None


def check_usage(chosen: RunUsage) -> None:
    """Raise WrongUsage for the first mistake: an unknown engine, or a list that is missing or cannot be used."""
    for name in chosen.engines:
        _check_engine(name)
    _check_place_of_lists(chosen)
    try:
        for name in chosen.engines:
            lists.load_list(name, chosen.expected_failures)
        if chosen.known_flaky is not None:
            read_flaky(chosen.known_flaky)
    except lists.ListError as error:
        raise WrongUsage(" ".join(str(error).split())) from None


def _check_engine(name: str) -> None:
    try:
        registry.find(name)
    except ValueError as error:
        raise WrongUsage(str(error)) from None


def _check_place_of_lists(chosen: RunUsage) -> None:
    path, names = chosen.expected_failures, chosen.engines
    nameless = [name for name in names if lists.default_path(name) is None]
    if path is None:
        if chosen.update and nameless:
            raise WrongUsage(f"--update needs the list to write; add --expected-failures FILE ({nameless[0]!r} has none)")
        return
    if not path.is_dir() and len(names) > 1:
        raise WrongUsage(f"{path} is the list of one engine; with several engines give a folder of <engine>.toml")
    if path.is_dir() and nameless:
        raise WrongUsage(f"{path} is a folder of <engine>.toml; for {nameless[0]!r}, a command line, give a file")
    if not path.exists() and not chosen.update:
        raise WrongUsage(f"there is no list {path}; --update writes one with the failures of this run")
