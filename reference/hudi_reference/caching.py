"""Values of objects that are computed once.

`functools.cached_property` of Python 3.11 holds a lock of its class while it computes a value, also while the value is read
from storage. Threads that read different tables then wait for each other, and a reader that is suspended in the middle blocks
them forever. Python 3.12 has no such lock.
"""

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

_T = TypeVar("_T")
_ABSENT = object()


class cached_property(Generic[_T]):  # noqa: N801
    """A property that is computed at the first access and stored in the instance.

    Threads that read it for the first time at once may each compute the value, so the code must not depend on the identity of
    the object.
    """

    def __init__(self, compute: Callable[[Any], _T]) -> None:
        """`compute` gets the instance."""
        self.func = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> _T: ...
    def __get__(self, instance: object | None, owner: type) -> Self | _T:
        if instance is None:
            return self
        values = instance.__dict__
        found: Any = values.get(self._name, _ABSENT)
        if found is _ABSENT:
            found = values[self._name] = self.func(instance)
        return found  # type: ignore[no-any-return]
