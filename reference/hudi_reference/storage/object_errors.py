"""The errors of obstore, and what they mean for a request."""

import os
import re
from dataclasses import dataclass

from hudi_reference.errors import AccessDenied, Misuse, OutcomeUnknown, StorageFault, StorageUnavailable

#: Patterns of errors that deny access.
_DENIED = re.compile(r"status code: 40[13]\b")
#: User and password in a URL. The user in a URI of Azure is the container.
_CREDENTIALS = re.compile(r"//[^/\s]*:[^/\s]*@|(?<!abfs:)(?<!abfss:)(?<!wasb:)(?<!wasbs:)//[^/\s]*@")
#: Requests to the metadata service of a cloud machine, which the library sends if no keys are set.
_METADATA_SERVICE = re.compile(
    r"//169\.254\.\d+\.\d+|//\[fd00:ec2::254\]|/latest/(api/token|meta-data)|//metadata(\.google\.internal)?/"
)


@dataclass(frozen=True)
class AccessSettings:
    """The environment variables with credentials and address of a store, which its errors name as remedy.

    Attributes:
        keys: the variables of one kind of credentials.
        others: more variables to check if the store denies a request.
        endpoint: the variable of the address.
        place: what a store calls the place of objects.
    """

    keys: str
    others: str
    endpoint: str
    place: str


S3_SETTINGS = AccessSettings("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL", "bucket")


@dataclass
class _Library:
    """The process in which the library has its threads, from the first request on."""

    process: int | None = None


_LIBRARY = _Library()


def check_process() -> None:
    """Raise Misuse in a process that was forked from one with requests: the library would wait for its threads for ever."""
    if _LIBRARY.process is None:
        _LIBRARY.process = os.getpid()
    elif _LIBRARY.process != os.getpid():
        raise Misuse(
            "object stores cannot be used in a process that was forked from one that used them",
            expected=f"requests from the process {_LIBRARY.process}", found=f"the process {os.getpid()}",
            remedy="start processes with the method spawn, or fork before the first request",
        )  # fmt: skip


def refusals() -> tuple[type[Exception], ...]:
    """The errors of a failed condition. obstore raises them also if two requests conflicted (409) and neither was applied."""
    from obstore import exceptions

    return exceptions.AlreadyExistsError, exceptions.PreconditionError, FileNotFoundError


def library_errors(*more: type[Exception]) -> tuple[type[Exception], ...]:
    """The errors of the library, and `more`. For a missing object it raises Python's FileNotFoundError."""
    from obstore import exceptions

    found: type[Exception] = exceptions.BaseError
    return found, *more


def translate_error(what: str, path: str, error: Exception, access: AccessSettings = S3_SETTINGS) -> StorageFault:
    """Translate an error of the store into one of the reference; `found` is the text of the store."""
    from obstore import exceptions

    said = text_of(error)
    if _METADATA_SERVICE.search(said):
        return AccessDenied(
            f"there are no credentials for a {what}", path=path, expected=access.keys,
            found="they are not set, and no other source of credentials answered",
            remedy=f"set {access.keys}, or run where the machine has a role",
        )  # fmt: skip
    denials = exceptions.PermissionDeniedError | exceptions.UnauthenticatedError
    if isinstance(error, denials) or _DENIED.search(said):  # LIST raises a general error
        return AccessDenied(
            f"the store denied a {what}", path=path, expected="valid credentials with the right to do so",
            found=said,
            remedy=f"check {access.keys}, {access.others} and the policy of the {access.place}",
        )  # fmt: skip
    return StorageUnavailable(
        f"the store did not execute a {what}", path=path, expected="an answer", found=said,
        remedy=f"check {access.endpoint} and the name of the {access.place}, then try again; nothing was changed",
    )  # fmt: skip


def outcome_unknown(path: str, fault: StorageFault) -> StorageFault:
    """The error of a conditional write that may have been executed; AccessDenied if the store denied it."""
    if isinstance(fault, AccessDenied):
        return fault
    return OutcomeUnknown(
        "it is unknown whether the object was written", rule="S3-002", path=path, expected="an answer", found=fault.found,
        remedy="check the timeline before you repeat the write; it may be complete",
    )  # fmt: skip


def text_of(error: Exception) -> str:
    """What an error of the library says, in one line, without its internals and without credentials."""
    return mask_credentials(" ".join(str(error).partition("\n\nDebug source")[0].split()))[:500]


def mask_credentials(text: str) -> str:
    """A text without the user and the password of the URLs in it."""
    return _CREDENTIALS.sub("//***@", text)
