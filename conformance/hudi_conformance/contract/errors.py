"""The ways in which asking an engine can end without rows, told apart by whose doing it is."""


class ContractError(Exception):
    """Any end of a request other than its answer."""


class Refused(ContractError):
    """The engine says that it does not offer `feature`. A refusal is right where the engine cannot do the work."""

    def __init__(self, feature: str, message: str) -> None:
        super().__init__(f"refused {feature}: {message}")
        self.feature = feature
        self.message = message


class Conflict(ContractError):
    """The engine gave up a write because another writer got there first."""


class EngineError(ContractError):
    """The engine answered with an error: it tried and failed, and said so.

    `trace` is its stack trace, where it gave one.
    """

    def __init__(self, message: str, trace: str | None = None) -> None:
        super().__init__(message)
        self.trace = trace


class ProtocolFault(ContractError):
    """What came back is not the protocol: junk on standard output, or an answer that its schema rejects.

    The adapter is at fault, not the engine behind it.
    """


class WrongId(ProtocolFault):
    """The answer carries the id of another message: the adapter lost its place in the dialogue."""


class EngineCrash(ContractError):
    """The engine's process ended before it answered, or never came to life.

    `status` is its exit status as `subprocess` counts it (negative: killed by that signal; None: it could not be
    started, or still runs with its output closed); `stderr` is the end of its standard error.
    """

    def __init__(self, message: str, status: int | None = None, stderr: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.stderr = stderr


class EngineTimeout(ContractError):
    """No answer within the time limit of the message; the process and all its children have been killed."""


class SlowStart(EngineTimeout):
    """No answer to `hello` within the time limit of the start; the process and all its children have been killed."""
