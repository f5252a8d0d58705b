"""Results that are kept: computed at the first access, or the last few."""

import threading
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar, overload

Result = TypeVar("Result")
Result_co = TypeVar("Result_co", covariant=True)


class BoundedCache(Generic[Result]):
    """Results for the last ``most`` sets, independent of the order of their factors."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._results: dict[tuple[int, ...], Result] = {}

    def get(self, factors: Sequence[int]) -> Result | None:
        """Return the cached result, or None."""
        return self._results.get(tuple(sorted(factors)))

    def put(self, factors: Sequence[int], result: Result) -> None:
        """Cache a result, and drop the oldest."""
        self._results[tuple(sorted(factors))] = result
        for oldest in list(self._results)[: max(len(self._results) - self._most, 0)]:
            self._results.pop(oldest, None)  # another thread may have been faster

    def find(self, factors: Sequence[int], make: Callable[[], Result]) -> Result:
        """Return the cached result, or cache and return the result of ``make``."""
        known = self.get(factors)
        if known is None:
            known = make()
            self.put(factors, known)
        return known


class Later(Generic[Result_co]):
    """Result of a function that is called at the first access.

    Threads that access it at the same time wait for one of them. The function and its data are released after the call;
    a pickle or a copy contains the result, never the function.
    """

    def __init__(self, find: Callable[[], Result_co]) -> None:
        self._find: Callable[[], Result_co] | None = find
        self._found: Any = None
        self._lock = threading.RLock()

    @property
    def value(self) -> Result_co:
        """Result of the function."""
        with self._lock:
            if self._find is not None:
                self._found = self._find()
                self._find = None  # only now: after an error or an interrupt it can be computed again
            found: Result_co = self._found
        return found

    def __reduce__(self) -> tuple[Callable[[Result_co], "Later[Result_co]"], tuple[Result_co]]:
        return _found, (self.value,)


def _found(value: Result) -> Later[Result]:
    """Return a value that was computed before it was pickled."""
    return Later(lambda: value)


class LaterField(Generic[Result]):
    """Dataclass field that is set to a value or to `Later`, and always read as the value."""

    def __init__(self, default: Result) -> None:
        self._default = default

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Any: ...

    @overload
    def __get__(self, instance: object, owner: type) -> Result: ...

    def __get__(self, instance: object | None, owner: type) -> Any:
        if instance is None:  # the default, as a dataclass reads it
            return self._default
        given = vars(instance)[self._name]
        return given.value if isinstance(given, Later) else given

    def __set__(self, instance: object, value: "Result | Later[Result]") -> None:
        vars(instance)[self._name] = value
