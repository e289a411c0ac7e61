"""Translation of exceptions of Apache Hudi into those of the contract."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hudi_conformance.contract import Conflict, EngineError, Refused

#: Message of Apache Hudi without a merger for the table: a refusal, regardless of the exception class.
_NO_MERGER = "No valid spark merger implementation"
#: Message of a write client for a type of index that it does not look keys up in.
_NO_INDEX = "Unsupported index type"
#: The Java client of 1.0.1 cannot do on the classes of 1.0.2 what this error names, such as compacting the metadata table.
_OTHER_CLASSES = "IllegalAccessError"
_CONFLICTS = ("HoodieWriteConflictException", "HoodieLockException")


@contextmanager
def in_contract_words() -> Iterator[None]:
    """Turn Java and Spark exceptions into Conflict (another writer was first), Refused or EngineError (the innermost cause)."""
    from py4j.protocol import Py4JError, Py4JJavaError, Py4JNetworkError
    from pyspark.errors import PySparkException

    try:
        yield
    except Py4JJavaError as e:
        raise translated(e.java_exception, str(e)) from None
    except PySparkException as e:
        origin = getattr(e, "_origin", None)
        analysis = origin is None or _class(origin).endswith("AnalysisException")
        raise (EngineError(_line(e, str(e)), str(e)) if analysis else translated(origin, str(e))) from None
    except (Py4JNetworkError, ConnectionError) as e:
        # The JVM has stopped, so the process exits, and its parent can start another one.
        raise SystemExit(f"the Java virtual machine has ended: {e}") from e
    except Py4JError as e:
        raise EngineError(_line(e, str(e))) from None


def translated(thrown: Any, trace: str) -> Conflict | EngineError | Refused:
    """The exception of the contract for a Java exception, chosen by its causes."""
    causes = list(_causes(thrown))
    if _NO_MERGER in _described(causes[-1]):
        return Refused("merge.custom", _described(causes[-1]))
    if _NO_INDEX in _described(causes[-1]):
        return Refused("write.global-index", _described(causes[-1]))
    for cause in causes:
        if _class(cause) == _OTHER_CLASSES:
            return Refused("write.metadata-table", _described(cause))
        if _class(cause) in _CONFLICTS:
            return Conflict(_described(cause))
    return EngineError(_described(causes[-1]), trace)


def _causes(thrown: Any) -> Iterator[Any]:
    """The exception and its causes, outermost first; a cyclic chain is cut."""
    for _ in range(50):
        if thrown is None:
            return
        yield thrown
        thrown = thrown.getCause()


def _described(thrown: Any) -> str:
    message = thrown.getMessage()
    return f"{_class(thrown)}: {' '.join(message.split())}" if message else _class(thrown)


def _class(thrown: Any) -> str:
    return str(thrown.getClass().getSimpleName())


def _line(thrown: Exception, text: str) -> str:
    return f"{type(thrown).__name__}: {text.strip().splitlines()[0]}"
