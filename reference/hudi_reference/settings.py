"""Settings of writers and services by Hudi's names: former names, and values that are numbers or booleans."""

from collections.abc import Mapping

from hudi_reference.errors import Misuse

#: Names of earlier releases, which Apache Hudi still reads -> present names.
FORMER_NAMES = {
    "hoodie.cleaner.policy": "hoodie.clean.policy",
    "hoodie.cleaner.commits.retained": "hoodie.clean.commits.retained",
    "hoodie.cleaner.fileversions.retained": "hoodie.clean.fileversions.retained",
    "hoodie.cleaner.hours.retained": "hoodie.clean.hours.retained",
    "hoodie.cleaner.policy.failed.writes": "hoodie.clean.failed.writes.policy",
}


def with_present_names(options: Mapping[str, str]) -> Mapping[str, str]:
    """The settings, those of former names under their present names too; if both are given, the present name counts."""
    return {present: options[former] for former, present in FORMER_NAMES.items() if former in options} | dict(options)


def number_setting(options: Mapping[str, str], key: str, default: int, *, least: int = 0, rule: str | None = None) -> int:
    """The number of a setting, of at most 18 digits.

    Args:
        options: the settings.
        key: the name of the setting.
        default: its value if it is not set.
        least: the smallest valid number.
        rule: the rule that an invalid value violates.

    Raises:
        Misuse: the value is not such a number.
    """
    text = options.get(key, str(default))
    if not (text.isascii() and text.isdigit() and len(text) < 19 and int(text) >= least):
        raise Misuse(f"{key} is not a valid number", rule=rule, expected=f"a number from {least} on", found=repr(text))
    return int(text)


def boolean_setting(options: Mapping[str, str], key: str, *, default: bool = False, rule: str | None = None) -> bool:
    """The boolean of a setting, in capital or small letters, as Apache Hudi reads it.

    Args:
        options: the settings.
        key: the name of the setting.
        default: its value if it is not set.
        rule: the rule that an invalid value violates.

    Raises:
        Misuse: the value is neither true nor false.
    """
    text = options.get(key)
    if text is None:
        return default
    if text.lower() not in ("true", "false"):
        raise Misuse(f"{key} is not a boolean", rule=rule, expected="true or false", found=repr(text))
    return text.lower() == "true"
