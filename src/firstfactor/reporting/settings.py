"""The settings of an analysis in words, and whether a repeat gives the same."""

import re
from collections.abc import Mapping, Sized
from typing import Any

import numpy as np

from .._utils.checks import is_integer
from .._utils.text import printable
from .data_summary import brief


def describe_settings(settings: Mapping[str, Any]) -> dict[str, str]:
    """Names and values of what is set; most parameters are not, and would only hide the others."""
    return {
        printable(name): _describe_setting(value)
        for name, value in settings.items()
        if value is not None and not (isinstance(value, Sized) and len(value) == 0)
    }


def _describe_setting(value: Any) -> str:
    """A value in plain words that are the same in every run: no addresses, no endless arrays."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value in (".", ","):
        return "a point" if value == "." else "a comma"
    if isinstance(value, Mapping):
        return brief("; ".join(f"{printable(key)}: {_describe_setting(each)}" for key, each in value.items()), 200)
    if isinstance(value, list | tuple | set | frozenset):
        return brief(", ".join(map(_describe_setting, value)), 200)
    return brief(printable(without_addresses(f"{value:,}" if isinstance(value, int) else str(value))), 200)


def without_addresses(text: str) -> str:
    """What `repr` gave without what differs from run to run."""
    return re.sub(r" at 0x[0-9A-Fa-f]+", "", text)


def say_whether_repeatable(settings: Mapping[str, Any] | None) -> str:
    """The sentence on what a repeat will give; nothing where settings are unknown."""
    if settings is None:
        return ""
    if settings.get("split") or not all(settings.get(name) is None for name in ("n_outer", "sample")):
        drawn = "Rows were"
    elif settings.get("rule") == "calibrated":
        drawn = "What chance would show was"
    else:
        return "Nothing was drawn at random: the same data give the same result."
    seed = settings.get("random_state", settings.get("seed"))
    if seed is None:
        return f"{drawn} drawn at random and no seed was set: a repeat will differ a little."
    if not is_integer(seed):
        return f"{drawn} drawn at random: a repeat needs the same generator in the same state."
    return f"{drawn} drawn at random with the seed {seed}: a repeat with it gives the same result."
