"""Settings that are numbers, among the settings of a writer or service by Hudi's names."""

from collections.abc import Mapping

from hudi_reference.errors import Misuse


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
