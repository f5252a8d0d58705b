"""What drives the response, in one sentence: which factors, in which order, and how sure it is."""

from collections.abc import Iterator, Sequence

import numpy as np

from .._utils.text import list_names, printable
from .indices import Indices
from .sharing import Cluster, Driver
from .wording import is_untested, say_nothing_selected

# What drives the response is named if at least this share of what is explained is lost without it, and no more of it.
LEAST_LOST, MOST_DRIVERS = 0.01, 5

# What adds little is sure not to add more than this.
LITTLE = 0.1

# What is nearly all that can be explained, and what is something of it.
NEARLY_ALL, SOMETHING = 0.9, 0.1

# Factors that stand in for a named one are named themselves if there are no more than this.
MOST_STAND_INS = 4

# Any of several factors will do if each keeps at least this share of what all of them tell.
WILL_DO = 0.9


def say_drivers(indices: Indices, response: str, *, several: bool = False) -> str:
    """The sentence on what drives the response: the answer in words.

    Factors that stand in for each other are named as one. ``several`` says that the name of the response is a plural.
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
    """The sentence on factors that only help to predict; nothing if there are none."""
    names = [printable(indices.names[i]) for i in indices.selected.tolist() if i in indices.for_prediction]
    if not names:
        return ""
    helps, each = ("helps", "it") if len(names) == 1 else ("help", "each")
    listed = list_names(names, most=MOST_DRIVERS)
    return f" For prediction, {listed} {helps} as well, though the evidence for {each} is not enough."


def name_driver(indices: Indices, driver: Driver) -> str:
    """A factor, or several that share what they tell, in words."""
    name = printable(indices.names[driver.factors[0]])
    name += " (always in)" if driver.factors[0] in indices.forced else ""
    if driver.cluster is None:
        return name
    if not driver.cluster.any_will_do:
        return f"{list_names([printable(other) for other in driver.cluster.factors], most=3)} (together)"
    return f"{name} ({_say_stand_ins(driver.cluster)})"


def _say_stand_ins(cluster: Cluster) -> str:
    """Which factors can take the place of the first one of a cluster."""
    others = [printable(name) for name in cluster.factors[1:]]
    will_do = min(cluster.kept, default=0.0) >= WILL_DO
    if len(others) > MOST_STAND_INS:
        return f"or any of {len(others):,} others that {'tell' if will_do else 'mostly tell'} the same"
    if not will_do:
        return f"or {', '.join(others)}, which {'tells' if len(others) == 1 else 'tell'} mostly the same"
    return f"or {', '.join(others)}: {'either' if len(others) == 1 else 'any of them'} will do"


def _adds_little(driver: Driver) -> bool:
    """Tell whether little is lost without a driver, as far as that is known."""
    return driver.lost < LEAST_LOST and (driver.interval is None or driver.interval[1] <= LITTLE)


def _verb(indices: Indices, drivers: Sequence[Driver], several: bool) -> str:
    """How sure it is that these drive the response."""
    if indices.uncertainty is None:
        return f"{'seem' if several else 'seems'} to be driven by"
    if not indices.has_shares or all(is_weak(indices, driver) for driver in drivers):
        return "may be driven by"
    return f"{'are' if several else 'is'} driven by"


def is_weak(indices: Indices, driver: Driver) -> bool:
    """Tell whether a driver may as well add nothing."""
    if driver.cluster is None:
        return bool(indices.weak[driver.factors[0]])
    return driver.interval is not None and driver.interval[0] <= 0


def _by_alone(indices: Indices, drivers: Sequence[Driver]) -> list[Driver]:
    """Drivers in the order of what each explains by itself, where that is known."""
    if indices.sharing is None:
        return [*drivers]
    alone = indices.sharing.alone.values
    return sorted(drivers, key=lambda driver: -max(alone[i] for i in driver.factors))


def _sharing(indices: Indices, named: Sequence[Driver], others: Sequence[Driver]) -> list[Driver]:
    """The drivers that are needed though none of them is missed, since they share what they tell; or none.

    They are if the named ones do not explain nearly all by themselves, and the others do explain something.
    """
    if len(others) < 2 or not indices.has_shares or not all(map(_adds_little, others)):
        return []
    if indices.sharing is None:
        return [] if named else [*others]
    alone, ordered = indices.sharing.alone.values, _by_alone(indices, others)
    most = [max(alone[i] for i in driver.factors) for driver in (*named, ordered[0])]
    return ordered if not named or (sum(most[:-1]) < NEARLY_ALL and most[-1] >= SOMETHING) else []


def _name_in_order(indices: Indices, named: Sequence[Driver], shared: Sequence[Driver]) -> str:
    """Names of drivers: those that matter most, then others, then those that share what they tell.

    Those that matter most are told from each other if they can be.
    """
    n_alike = sum(not _is_before(named[0], driver) for driver in named)
    n_main = max(sum(driver.lost >= named[0].lost / 2 for driver in named), n_alike) if named else 0
    tiers = [(named[:n_main], MOST_DRIVERS), (named[n_main:], MOST_DRIVERS), (shared, 3 if named else MOST_DRIVERS)]
    said = [list_names([name_driver(indices, d) for d in tier], most=most) for tier, most in tiers if tier]
    if n_main == n_alike > 1:
        said[0] += ", which these rows cannot order"
    return ", then ".join(said)


def _is_before(one: Driver, other: Driver) -> bool:
    """Tell whether more is lost without one driver than without another, for sure or as far as anything is known."""
    if one is other:
        return False
    if one.interval is None or other.interval is None:
        return True
    return one.lost - other.lost > float(np.hypot(one.lost - one.interval[0], other.interval[1] - other.lost))


def _remarks(
    indices: Indices, named: Sequence[Driver], others: Sequence[Driver], shared: Sequence[Driver]
) -> Iterator[str]:
    """What is to be said about drivers after their names: how many more there are, and which are doubtful."""
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
