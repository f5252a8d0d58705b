"""Cache of the last results for factor sets."""

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

Result = TypeVar("Result")


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
