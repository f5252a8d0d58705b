"""Sentence that answers on which factors the response depends most, in which order, and with how much certainty."""

from collections.abc import Iterator, Sequence

import numpy as np

from .._utils.text import list_names, printable
from .constants import LEAST_LOST, LITTLE, MOST_DRIVERS, MOST_STAND_INS, NEARLY_ALL, SOMETHING, WILL_DO
from .indices import Indices
from .ranking_line import RankingLine
from .sharing import Cluster
from .wording import is_untested, say_nothing_selected


def say_drivers(indices: Indices, response: str, *, several: bool = False) -> str:
    """Return the sentence on what the response depends on: the answer in words.

    The factors of a cluster are named as one driver. Set ``several`` if the name of the response is a plural.
    """
    drivers = [driver for driver in indices.drivers if not set(driver.factors) <= set(indices.without_evidence)]
    if not drivers:
        return f"{say_nothing_selected(indices, response)}{_say_without_evidence(indices)}"
    named = [driver for driver in drivers[:MOST_DRIVERS] if driver.importance >= LEAST_LOST]
    shared = _sharing(indices, named, drivers[len(named) :])
    if not named and not shared:
        named = [*drivers[:1]]
    names = _name_in_order(named, shared)
    after = "".join(f"; {remark}" for remark in _remarks(indices, named, drivers[len(named) :], shared))
    if is_untested(indices):
        one = len(named) == 1 and not shared and not named[0].is_cluster
        return f"{names} {'was' if one else 'were'} selected to explain {response}{after}."
    response = f"T{response[1:]}" if response.startswith("the ") else response
    verb = _verb(indices, named or shared, several or len(indices.outputs) > 1)
    return f"{response} {verb} {names}{after}.{_say_without_evidence(indices)}"


def _say_without_evidence(indices: Indices) -> str:
    """Return the sentences on factors that only help to predict, or were added for ``min_factors``; empty without."""
    predicting = _names_of(indices, indices.for_prediction)
    added = _names_of(indices, () if indices.path is None else indices.path.added_to_minimum)
    sentence = ""
    if predicting:
        helps, each = ("helps", "it") if len(predicting) == 1 else ("help", "each")
        listed = list_names(predicting, most=MOST_DRIVERS)
        sentence += f" For prediction, {listed} {helps} as well, though the evidence for {each} is not enough."
    if added:
        were = "was" if len(added) == 1 else "were"
        sentence += (
            f" {list_names(added, most=MOST_DRIVERS)} {were} added to reach min_factors, without enough evidence."
        )
    return sentence


def _names_of(indices: Indices, factors: Sequence[int]) -> list[str]:
    """Return the names of some factors, in order of decreasing importance."""
    return [printable(indices.names[i]) for i in indices.selected.tolist() if i in factors]


def name_driver(driver: RankingLine) -> str:
    """Return the name of a driver: a factor, or several that share information."""
    forced = driver.members[0].forced if driver.members else driver.forced
    name = driver.names[0] + " (always in)" * forced
    if driver.cluster is None:
        return name
    if not driver.cluster.interchangeable:
        return f"{list_names(driver.names, most=3)} (together)"
    return f"{name} ({_say_substitutes(driver.cluster, driver.names[1:])})"


def _say_substitutes(cluster: Cluster, others: Sequence[str]) -> str:
    """Return the words on the factors that can replace the first factor of a cluster."""
    will_do = min(cluster.kept, default=0.0) >= WILL_DO
    if len(others) > MOST_STAND_INS:
        the_same = "the same" if will_do else "mostly the same"
        return f"or any of {len(others):,} others that carry {the_same} information"
    if not will_do:
        return f"or {', '.join(others)}, which {'carries' if len(others) == 1 else 'carry'} mostly the same information"
    return f"or {', '.join(others)}: {'either' if len(others) == 1 else 'any of them'} will do"


def _adds_little(driver: RankingLine) -> bool:
    """Return True if little is lost without a driver, and its interval, if known, agrees."""
    return driver.importance < LEAST_LOST and (driver.interval is None or driver.interval[1] <= LITTLE)


def _verb(indices: Indices, drivers: Sequence[RankingLine], several: bool) -> str:
    """Return a verb that expresses how certain it is that the response depends on these; it claims no cause."""
    if indices.uncertainty is None:
        return f"{'seem' if several else 'seems'} to depend most on"
    if not indices.has_shares or all(driver.weak for driver in drivers):
        return "may depend on"
    return f"{'depend' if several else 'depends'} most on"


def _by_alone(drivers: Sequence[RankingLine]) -> list[RankingLine]:
    """Sort drivers by the share that each explains by itself, if known."""
    return sorted(drivers, key=lambda driver: -(driver.alone or 0.0))


def _sharing(indices: Indices, named: Sequence[RankingLine], others: Sequence[RankingLine]) -> list[RankingLine]:
    """Return the drivers that are needed as a group, although little is lost without any one, because they overlap.

    There are none if the named drivers explain nearly everything by themselves, or if the others explain nothing.
    """
    if len(others) < 2 or not indices.has_shares or not all(map(_adds_little, others)):
        return []
    if indices.sharing is None:
        return [] if named else [*others]
    ordered = _by_alone(others)
    most = [driver.alone or 0.0 for driver in (*named, ordered[0])]
    return ordered if not named or (sum(most[:-1]) < NEARLY_ALL and most[-1] >= SOMETHING) else []


def _name_in_order(named: Sequence[RankingLine], shared: Sequence[RankingLine]) -> str:
    """Return the names of the drivers: the most important ones, then the others, then those that overlap.

    If the rows cannot order the most important ones, the text says so.
    """
    n_alike = sum(not _is_before(named[0], driver) for driver in named)
    n_main = max(sum(driver.importance >= named[0].importance / 2 for driver in named), n_alike) if named else 0
    tiers = [(named[:n_main], MOST_DRIVERS), (named[n_main:], MOST_DRIVERS), (shared, 3 if named else MOST_DRIVERS)]
    tier_names = [list_names([name_driver(d) for d in tier], most=most) for tier, most in tiers if tier]
    if n_main == n_alike > 1:
        tier_names[0] += ", which these rows cannot order"
    return ", then ".join(tier_names)


def _is_before(one: RankingLine, other: RankingLine) -> bool:
    """Return True if clearly more is lost without one driver than without another, or if intervals are unknown."""
    if one is other:
        return False
    if one.interval is None or other.interval is None:
        return True
    return one.importance - other.importance > float(
        np.hypot(one.importance - one.interval[0], other.interval[1] - other.importance)
    )


def _remarks(
    indices: Indices, named: Sequence[RankingLine], others: Sequence[RankingLine], shared: Sequence[RankingLine]
) -> Iterator[str]:
    """Yield remarks on the drivers that follow their names: how many more there are, and which are doubtful."""
    if shared:
        yield f"{f'the last {len(shared):,}' if named else 'they'} overlap: leaving out one of them loses little"
    elif others:
        verb, how = ("add", "little") if all(map(_adds_little, others)) else ("matter", "less")
        yield f"one more {verb}s {how}" if len(others) == 1 else f"{len(others):,} more {verb} {how}"
    weak = [driver for driver in named if driver.weak]
    if weak and (is_untested(indices) or len(weak) < len(named)):
        names = [driver.names[0] for driver in weak]
        every = "it" if len(named) == 1 else "all of them"
        yield f"the evidence for {every if len(weak) == len(named) else list_names(names)} is weak"
