"""Which two of the factors that matter work together most, and how y looks over both."""

from ..dependence.pairs import find_interactions
from ..inference.sample_size import diagnose_sample_size
from ..plots.original_data import AnalysedTable
from ..plots.pair import Pair, read_pair
from ..results.drivers import LEAST_LOST
from ..results.indices import Indices
from ..results.sharing import Driver

# Factors whose pairs are looked at: the most important one of each driver.
MOST_FACTORS = 5


def representatives(indices: Indices) -> list[int]:
    """The first factor of each driver, a selected one if there is any; the most important driver first."""
    return [_representative(indices, driver) for driver in indices.drivers]


def _representative(indices: Indices, driver: Driver) -> int:
    return next((i for i in driver.factors if indices.support[i]), driver.factors[0])


def strongest_pair(table: AnalysedTable) -> Pair | None:
    """The two factors that work together most, with the mean of y over both; None if no two do for sure."""
    indices = table.indices
    drivers = [driver for driver in indices.drivers[:MOST_FACTORS] if driver.lost >= LEAST_LOST]
    among = tuple(sorted(_representative(indices, driver) for driver in drivers))
    if len(among) < 2 or table.options is None:
        return None
    with table.variances(among, "adaptive") as variances:
        variances = variances.around(among)
        size = diagnose_sample_size(variances, among, variances.of(among))
        found = find_interactions(variances, among, among, size)
    best = found.strongest(together=True)
    return None if best is None else read_pair(table, *found.pairs[best])
