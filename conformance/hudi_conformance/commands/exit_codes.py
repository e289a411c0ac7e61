"""The exit codes of all commands."""

#: The result is the expected one.
AS_EXPECTED = 0
#: Results differ from what is expected, or the table or the engine reports an error.
DIFFERENT = 1
#: The command was called in a wrong way.
USAGE = 2
#: The suite or an adapter failed, or the output cannot be written.
BROKEN = 3


def exit_code(is_expected: bool) -> int:
    """The code of a command that has compared results."""
    return AS_EXPECTED if is_expected else DIFFERENT
