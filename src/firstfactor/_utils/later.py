"""What takes long and is seldom wanted: it is found when somebody looks at it."""

import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

Result = TypeVar("Result")
Result_co = TypeVar("Result_co", covariant=True)


class Later(Generic[Result_co]):
    """What a function returns, called when that is first looked at.

    Threads that look at the same time wait for one of them. What the function needs is let go of once it was called; a
    pickle and a copy have what it returns, never what it needs.
    """

    def __init__(self, find: Callable[[], Result_co]) -> None:
        self._find: Callable[[], Result_co] | None = find
        self._found: Any = None
        self._lock = threading.RLock()

    @property
    def value(self) -> Result_co:
        """What the function returns."""
        with self._lock:
            if self._find is not None:
                self._found = self._find()
                self._find = None  # only now: after an error or an interrupt it can be looked at again
            found: Result_co = self._found
        return found

    def __reduce__(self) -> tuple[Callable[[Result_co], "Later[Result_co]"], tuple[Result_co]]:
        return _found, (self.value,)


def _found(value: Result) -> Later[Result]:
    """A value that was found before it was pickled."""
    return Later(lambda: value)


class LaterField(Generic[Result]):
    """A field of a dataclass that is given as a value or as `Later`, and is the value to whoever looks at it."""

    def __init__(self, default: Result) -> None:
        self._default = default

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Any: ...

    @overload
    def __get__(self, instance: object, owner: type) -> Result: ...

    def __get__(self, instance: object | None, owner: type) -> Any:
        if instance is None:  # what a dataclass takes for the default
            return self._default
        given = vars(instance)[self._name]
        return given.value if isinstance(given, Later) else given

    def __set__(self, instance: object, value: "Result | Later[Result]") -> None:
        vars(instance)[self._name] = value
