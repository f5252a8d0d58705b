"""Errors that name parameters, checks with uniform messages (the parameter, the rule, a way out), and warnings."""

import difflib
import inspect
import math
import numbers
import warnings
from collections.abc import Callable, Iterable
from functools import partial
from string import Formatter
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np


# Maximum number of options that an error lists.
MOST_OPTIONS = 20


class Mention(NamedTuple):
    """Parameter as a message mentions it: ``name``, ``name=``, or ``name=value`` with the value as it is written."""

    name: str
    value: str | None = None

    def __str__(self) -> str:
        return self.name if self.value is None else f"{self.name}={self.value}"


class Message:
    """Sentence about parameters, written for Python and rendered for the terminal as well.

    Parameters
    ----------
    template
        Text for `str.format`. A field that is none of ``values`` mentions a parameter: ``"{n_outer} must be {least} or
        more with {scale=False}; got {given!r}."`` A value may be a `Mention` or a message.
    **values
        Values of the other fields.
    """

    args: tuple[Any, ...]
    """The text as the only argument, for errors."""

    def __init__(self, template: str, **values: Any) -> None:
        self.template, self.values = template, values
        self.args = (str(self),)

    def render(self, say: Callable[[Mention], str] = str) -> str:
        """Return the text, in which parameters are written by ``say``."""
        parts: list[str] = []
        for text, name, spec, conversion in Formatter().parse(self.template):
            parts.append(text)
            if name is None:
                continue
            value = self.values[name] if name in self.values else _parse_mention(name)
            if isinstance(value, Mention):
                parts.append(say(value))
            elif isinstance(value, Message) and not conversion:
                parts.append(value.render(say))
            else:
                parts.append(format(Formatter().convert_field(value, conversion), spec or ""))
        return "".join(parts)

    def __str__(self) -> str:
        return self.render()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), **self.values), (self.template,)


class InputError(Message, ValueError):
    """Value or table that cannot be used; the message may mention parameters."""


class InputTypeError(Message, TypeError):
    """Value or table of a type that cannot be used; the message may mention parameters."""


Parameter = str | Message  # its name, or the name and more, such as "period of 'hour'"


def mention(parameter: Parameter) -> Mention | Message:
    """Return what to write for a parameter in a message."""
    return Mention(parameter) if isinstance(parameter, str) else parameter


def _parse_mention(text: str) -> Mention:
    name, equals, value = text.partition("=")
    return Mention(name, value if equals else None)


def wrong(parameter: Parameter, rule: str | Message, value: object) -> InputError:
    """Return the error for a value that breaks a rule."""
    return InputError(
        "{parameter} must be {rule}; got {value!r}.", parameter=mention(parameter), rule=rule, value=value
    )


def one_of(parameter: Parameter, value: object, choices: Iterable[str]) -> str:
    """Return ``value`` if it is one of the named choices."""
    choices = list(choices)
    if not isinstance(value, str) or value not in choices:
        allowed = ", ".join(repr(choice) for choice in choices)
        raise wrong(parameter, f"one of {allowed}", value)
    return value


def boolean(parameter: Parameter, value: object) -> bool:
    """Return ``value`` if it is True or False."""
    if not is_boolean(value):
        raise wrong(parameter, "True or False", value)
    return bool(value)


def is_boolean(value: object) -> bool:
    """Return True if ``value`` is a boolean of Python or numpy."""
    import numpy as np  # imported late: help on the command line does not need it

    return isinstance(value, (bool, np.bool_))


def is_integer(value: object) -> bool:
    """Return True if ``value`` is an integer; booleans are not."""
    return isinstance(value, numbers.Integral) and not is_boolean(value)


def integer(parameter: Parameter, value: Any, least: int, most: int, why_most: str) -> int:
    """Return ``value`` as an int if it is an integer in the range."""
    if not is_integer(value) or not least <= value <= most:
        raise wrong(parameter, f"a whole number from {least} to {most} ({why_most})", value)
    return int(value)


def at_least(parameter: Parameter, value: Any, least: int, why: str = "") -> int:
    """Return ``value`` as an int if it is an integer that is large enough."""
    if not is_integer(value) or value < least:
        reason = f" ({why})" if why else ""
        raise wrong(parameter, f"a whole number of at least {least}{reason}", value)
    return int(value)


def job_count(parameter: Parameter, value: Any) -> int | None:
    """Return ``value`` if it is a number of threads as in joblib."""
    if value is not None and (not is_integer(value) or value == 0):
        raise wrong(parameter, Message("{None or }a whole number other than 0 (-1: all cores)"), value)
    return value if value is None else int(value)


def number(parameter: Parameter, value: Any, least: float, most: float = math.inf) -> float:
    """Return ``value`` as a float if it is a finite number in the range."""
    is_number = isinstance(value, numbers.Real) and not is_boolean(value)
    if not is_number or not math.isfinite(value) or not least <= value <= most:
        allowed = f"of at least {least:g}" if most == math.inf else f"from {least:g} to {most:g}"
        raise wrong(parameter, f"a number {allowed}", value)
    return float(value)


def is_share(value: Any) -> bool:
    """Return True if ``value`` is a number from 0 to 1; booleans are not."""
    return isinstance(value, numbers.Real) and not is_boolean(value) and 0 <= float(value) <= 1


def unknown_option(name: str, options: Iterable[str]) -> TypeError:
    """Return the error for an unknown keyword, with the most similar known one; with a few of them if none is."""
    plain = {option.replace("_", ""): option for option in sorted(options)}
    near = difflib.get_close_matches(name.lower().replace("_", ""), plain, n=1)
    listed = f"The options are: {', '.join(plain.values())}."
    if len(plain) > MOST_OPTIONS:
        listed = f"The docstring describes all {len(plain)} options: help() shows it."
    way_out = f"Did you mean {plain[near[0]]!r}?" if near else listed
    return TypeError(f"there is no option {name!r}. {way_out}")


def generator(random_state: Any, parameter: Parameter = "random_state") -> "np.random.Generator":
    """Return the random generator for ``random_state``."""
    import numpy as np

    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise wrong(parameter, "None, a non-negative integer or a numpy Generator", random_state) from error


_PACKAGE = __name__.partition(".")[0]


def warn_user(message: str, category: type[Warning]) -> None:
    """Issue a warning as if the first caller outside this package had done so."""
    warnings.warn(message, category, stacklevel=_levels_to_caller())


def _levels_to_caller() -> int:
    """Return the number of calls from `warn_user` up to the caller of the package, inclusive."""
    frame, level = inspect.currentframe(), 0
    while frame is not None and frame.f_back is not None and _is_inside(frame):
        frame, level = frame.f_back, level + 1
    return level


def _is_inside(frame: FrameType) -> bool:
    """Return True if a frame runs code of this package."""
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] == _PACKAGE
