"""Sentence that answers which factors drive the response, in which order, and with how much certainty."""

from collections.abc import Iterator, Sequence

import numpy as np

from .._utils.text import list_names, printable
from .indices import Indices
from .sharing import Cluster, Driver
from .wording import is_untested, say_nothing_selected

# A driver is named if at least this share of the explained variance is lost without it; at most this many are named.
LEAST_LOST, MOST_DRIVERS = 0.01, 5

# The interval of a driver that adds little does not exceed this share.
LITTLE = 0.1

# Shares of the explained variance that count as nearly all of it, and as something.
NEARLY_ALL, SOMETHING = 0.9, 0.1

# Factors that can replace a named one are named as well if there are at most this many.
MOST_STAND_INS = 4

# Any of several factors will do if each keeps at least this share of what all of them explain together.
WILL_DO = 0.9


def say_drivers(indices: Indices, response: str, *, several: bool = False) -> str:
    """Return the sentence on what drives the response: the answer in words.

    The factors of a cluster are named as one driver. Set ``several`` if the name of the response is a plural.
    """
    drivers = [driver for driver in indices.drivers if not set(driver.factors) <= set(indices.for_prediction)]
    if not drivers:
        return f"{say_nothing_selected(indices, response)}{_say_for_prediction(indices)}"
    named = [driver for driver in drivers[:MOST_DRIVERS] if driver.lost >= LEAST_LOST]
    shared = _sharing(indices, named, drivers[len(named) :])
    if not named and not shared:
        named = [*drivers[:1]]
    names = _name_in_order(indices, named, shared)
    after = "".join(f"; {remark}" for remark in _remarks(indices, named, drivers[len(named) :], shared))
    if is_untested(indices):
        one = len(named) == 1 and not shared and not named[0].is_cluster
        return f"{names} {'was' if one else 'were'} selected to explain {response}{after}."
    response = f"T{response[1:]}" if response.startswith("the ") else response
    verb = _verb(indices, named or shared, several or len(indices.outputs) > 1)
    return f"{response} {verb} {names}{after}.{_say_for_prediction(indices)}"


def _say_for_prediction(indices: Indices) -> str:
    """Return the sentence on factors that only help to predict; empty if there are none."""
    names = [printable(indices.names[i]) for i in indices.selected.tolist() if i in indices.for_prediction]
    if not names:
        return ""
    helps, each = ("helps", "it") if len(names) == 1 else ("help", "each")
    listed = list_names(names, most=MOST_DRIVERS)
    return f" For prediction, {listed} {helps} as well, though the evidence for {each} is not enough."


def name_driver(indices: Indices, driver: Driver) -> str:
    """Return the name of a driver: a factor, or several that share information."""
    name = printable(indices.names[driver.factors[0]])
    name += " (always in)" if driver.factors[0] in indices.forced else ""
    if driver.cluster is None:
        return name
    if not driver.cluster.any_will_do:
        return f"{list_names([printable(other) for other in driver.cluster.factors], most=3)} (together)"
    return f"{name} ({_say_stand_ins(driver.cluster)})"


def _say_stand_ins(cluster: Cluster) -> str:
    """Return the words on the factors that can replace the first factor of a cluster."""
    others = [printable(name) for name in cluster.factors[1:]]
    will_do = min(cluster.kept, default=0.0) >= WILL_DO
    if len(others) > MOST_STAND_INS:
        return f"or any of {len(others):,} others that {'tell' if will_do else 'mostly tell'} the same"
    if not will_do:
        return f"or {', '.join(others)}, which {'tells' if len(others) == 1 else 'tell'} mostly the same"
    return f"or {', '.join(others)}: {'either' if len(others) == 1 else 'any of them'} will do"


def _adds_little(driver: Driver) -> bool:
    """Return True if little is lost without a driver, and its interval, if known, agrees."""
    return driver.lost < LEAST_LOST and (driver.interval is None or driver.interval[1] <= LITTLE)


def _verb(indices: Indices, drivers: Sequence[Driver], several: bool) -> str:
    """Return a verb that expresses the certainty that these drive the response."""
    if indices.uncertainty is None:
        return f"{'seem' if several else 'seems'} to be driven by"
    if not indices.has_shares or all(is_weak(indices, driver) for driver in drivers):
        return "may be driven by"
    return f"{'are' if several else 'is'} driven by"


def is_weak(indices: Indices, driver: Driver) -> bool:
    """Return True if a driver may add nothing."""
    if driver.cluster is None:
        return bool(indices.weak[driver.factors[0]])
    return driver.interval is not None and driver.interval[0] <= 0


def _by_alone(indices: Indices, drivers: Sequence[Driver]) -> list[Driver]:
    """Sort drivers by the share that each explains by itself, if known."""
    if indices.sharing is None:
        return [*drivers]
    alone = indices.sharing.alone.values
    return sorted(drivers, key=lambda driver: -max(alone[i] for i in driver.factors))


def _sharing(indices: Indices, named: Sequence[Driver], others: Sequence[Driver]) -> list[Driver]:
    """Return the drivers that are needed as a group, although little is lost without any one, because they overlap.

    There are none if the named drivers explain nearly everything by themselves, or if the others explain nothing.
    """
    if len(others) < 2 or not indices.has_shares or not all(map(_adds_little, others)):
        return []
    if indices.sharing is None:
        return [] if named else [*others]
    alone, ordered = indices.sharing.alone.values, _by_alone(indices, others)
    most = [max(alone[i] for i in driver.factors) for driver in (*named, ordered[0])]
    return ordered if not named or (sum(most[:-1]) < NEARLY_ALL and most[-1] >= SOMETHING) else []


def _name_in_order(indices: Indices, named: Sequence[Driver], shared: Sequence[Driver]) -> str:
    """Return the names of the drivers: the most important ones, then the others, then those that overlap.

    If the rows cannot order the most important ones, the text says so.
    """
    n_alike = sum(not _is_before(named[0], driver) for driver in named)
    n_main = max(sum(driver.lost >= named[0].lost / 2 for driver in named), n_alike) if named else 0
    tiers = [(named[:n_main], MOST_DRIVERS), (named[n_main:], MOST_DRIVERS), (shared, 3 if named else MOST_DRIVERS)]
    said = [list_names([name_driver(indices, d) for d in tier], most=most) for tier, most in tiers if tier]
    if n_main == n_alike > 1:
        said[0] += ", which these rows cannot order"
    return ", then ".join(said)


def _is_before(one: Driver, other: Driver) -> bool:
    """Return True if clearly more is lost without one driver than without another, or if intervals are unknown."""
    if one is other:
        return False
    if one.interval is None or other.interval is None:
        return True
    return one.lost - other.lost > float(np.hypot(one.lost - one.interval[0], other.interval[1] - other.lost))


def _remarks(
    indices: Indices, named: Sequence[Driver], others: Sequence[Driver], shared: Sequence[Driver]
) -> Iterator[str]:
    """Yield remarks on the drivers that follow their names: how many more there are, and which are doubtful."""
    if shared:
        which, none = f"the last {len(shared):,}" if named else "they", "neither" if len(shared) == 2 else "none"
        yield f"{which} share what they tell, so {none} of them is missed on its own"
    elif others:
        verb, how = ("add", "little") if all(map(_adds_little, others)) else ("matter", "less")
        yield f"one more {verb}s {how}" if len(others) == 1 else f"{len(others):,} more {verb} {how}"
    weak = [driver for driver in named if is_weak(indices, driver)]
    if weak and (is_untested(indices) or len(weak) < len(named)):
        names = [printable(indices.names[driver.factors[0]]) for driver in weak]
        every = "it" if len(named) == 1 else "all of them"
        yield f"the evidence for {every if len(weak) == len(named) else list_names(names)} is weak"
