"""The ways in which a message can fail: refusal, conflict, error, faulty protocol, crash, time-out."""


class ContractError(Exception):
    """The base class: a message did not get its positive answer."""


class Refused(ContractError):
    """The engine does not offer `feature`. A refusal is right if the engine cannot do the work."""

    def __init__(self, feature: str, message: str) -> None:
        super().__init__(f"refused {feature}: {message}")
        self.feature = feature
        self.message = message


class Conflict(ContractError):
    """The engine aborted a write because of a concurrent action."""


class EngineError(ContractError):
    """The engine answered with an error. `trace` is its stack trace, or None."""

    def __init__(self, message: str, trace: str | None = None) -> None:
        super().__init__(message)
        self.trace = trace


class ProtocolFault(ContractError):
    """The output is not valid in the protocol: other text on standard output, or an answer that its schema rejects.

    The adapter is at fault, not the engine behind it. `remedy` is the likely correction, None if it is not known.
    """

    def __init__(self, message: str, remedy: str | None = None) -> None:
        super().__init__(message)
        self.remedy = remedy


class WrongId(ProtocolFault):
    """The answer carries the id of another message: the adapter answers out of order."""


class EngineCrash(ContractError):
    """The process of the engine exited before it answered, or could not be started.

    `status` is its exit status as in `subprocess` (negative: killed by that signal; None: it could not be started, or still
    runs with its output closed); `stderr` is the end of its standard error.
    """

    def __init__(self, message: str, status: int | None = None, stderr: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.stderr = stderr


class EngineTimeout(ContractError):
    """No answer within the time limit of the message; the process and all its children have been killed."""


#: The correction of an adapter that buffers its output.
FLUSH = "flush standard output after each answer"


class BufferedAnswer(EngineTimeout):
    """The answer came after the time limit, when standard input was closed: the adapter probably buffers its output."""


class SlowStart(EngineTimeout):
    """No answer to `hello` within the time limit of the start; the process and all its children have been killed."""
