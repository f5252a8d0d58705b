"""Parameter checks with uniform messages: the parameter, the rule, the value, and a way out."""

import difflib
import math
import numbers
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np


def one_of(parameter: str, value: object, choices: Iterable[str]) -> str:
    """Return ``value`` if it is one of the named choices."""
    choices = list(choices)
    if not isinstance(value, str) or value not in choices:
        allowed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{parameter} must be one of {allowed}; got {value!r}.")
    return value


def boolean(parameter: str, value: object) -> bool:
    """Return ``value`` if it is True or False."""
    if not is_boolean(value):
        raise ValueError(f"{parameter} must be True or False; got {value!r}.")
    return bool(value)


def is_boolean(value: object) -> bool:
    """Return True if ``value`` is a boolean of Python or numpy."""
    import numpy as np  # imported late: help on the command line does not need it

    return isinstance(value, (bool, np.bool_))


def is_integer(value: object) -> bool:
    """Return True if ``value`` is an integer; booleans are not."""
    return isinstance(value, numbers.Integral) and not is_boolean(value)


def integer(parameter: str, value: Any, least: int, most: int, why_most: str) -> int:
    """Return ``value`` as an int if it is an integer in the range."""
    if not is_integer(value) or not least <= value <= most:
        raise ValueError(f"{parameter} must be a whole number from {least} to {most} ({why_most}); got {value!r}.")
    return int(value)


def at_least(parameter: str, value: Any, least: int, why: str = "") -> int:
    """Return ``value`` as an int if it is an integer that is large enough."""
    if not is_integer(value) or value < least:
        reason = f" ({why})" if why else ""
        raise ValueError(f"{parameter} must be a whole number of at least {least}{reason}; got {value!r}.")
    return int(value)


def number(parameter: str, value: Any, least: float, most: float = math.inf) -> float:
    """Return ``value`` as a float if it is a finite number in the range."""
    is_number = isinstance(value, numbers.Real) and not is_boolean(value)
    if not is_number or not math.isfinite(value) or not least <= value <= most:
        allowed = f"of at least {least:g}" if most == math.inf else f"from {least:g} to {most:g}"
        raise ValueError(f"{parameter} must be a number {allowed}; got {value!r}.")
    return float(value)


def is_share(value: Any) -> bool:
    """Return True if ``value`` is a number from 0 to 1; booleans are not."""
    return isinstance(value, numbers.Real) and not is_boolean(value) and 0 <= float(value) <= 1


def unknown_option(name: str, options: Iterable[str]) -> TypeError:
    """Return the error for an unknown keyword, with the most similar known one."""
    options = list(options)
    meant = "".join(f" Did you mean {near!r}?" for near in difflib.get_close_matches(name, options, n=1))
    return TypeError(f"there is no option {name!r}.{meant} The options are: {', '.join(options)}.")


def generator(random_state: Any, parameter: str = "random_state") -> "np.random.Generator":
    """Return the random generator for ``random_state``."""
    import numpy as np

    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{parameter} must be None, a non-negative integer or a numpy Generator; got {random_state!r}."
        ) from error
