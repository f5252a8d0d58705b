"""True total Sobol' indices of a known function by Double Monte Carlo and pick-freeze."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._utils import checks, frames
from .copula import CopulaInputs

Floats = NDArray[np.float64]
Function = Callable[[Floats], ArrayLike]
Method = Literal["double", "pick-freeze"]
Block = tuple[Floats, Floats]

BLOCK_VALUES = 2**18
"""Number of values in one block, 2 MB: memory does not grow with n_outer or n_inner."""


@dataclass(frozen=True, eq=False)
class MonteCarloIndices:
    """Total indices of a function by Monte Carlo, and their standard errors.

    See Also
    --------
    monte_carlo_total_indices : Return this object.

    Examples
    --------
    >>> from scipy.stats import norm
    >>> from firstfactor.problems import CopulaInputs, monte_carlo_total_indices
    >>> found = monte_carlo_total_indices(lambda x: x[:, 0] + x[:, 1], CopulaInputs([norm()] * 2), seed=0)
    >>> found.values.round(1), found.n_evaluations
    (array([0.5, 0.5]), 300000)
    """

    values: Floats
    """Total index of each factor, or of a set."""
    standard_errors: Floats
    """Monte Carlo standard error of each value."""
    names: tuple[str, ...]
    """Name of each factor, or of the set."""
    variance: float
    """Variance of the function."""
    n_evaluations: int
    """Number of rows on which the function was evaluated."""

    def __repr__(self) -> str:
        columns = zip(self.names, self.values, self.standard_errors, strict=True)
        rows = [(name, f"{value:.4f}", f"{error:.4f}") for name, value, error in columns]
        table = frames.make_text(("factor", "total index", "standard error"), rows)
        return f"Var(f) = {self.variance:.4g}, from {self.n_evaluations:,} evaluations\n{table}"


def monte_carlo_total_indices(
    f: Function,
    inputs: CopulaInputs,
    n_inner: int = 2,
    n_outer: int = 100_000,
    *,
    method: Method = "double",
    subset: Sequence[int | str] | None = None,
    seed: Any = None,
) -> MonteCarloIndices:
    """Compute the total Sobol' index of every factor of a known function.

    The total index of factor i is E[Var(f(X) | X₋ᵢ)] / Var f(X), relative to the factors in ``inputs``: leave out
    those that are not in the model, since a correlated stand-in takes importance away. The numerator is averaged
    over ``n_outer`` points of X, of which factor i is drawn anew from its exact conditional distribution given
    the others (Double Monte Carlo [1]_; with ``n_inner=2`` the generalised Jansen–Sobol' estimator [2]_). Points
    are shared by all factors and the drawn point is the first of the ``n_inner``, so f is evaluated on
    n_outer × (1 + factors × (n_inner − 1)) rows. Memory does not grow with ``n_outer``.

    Parameters
    ----------
    f : callable
        Takes an array of shape (rows, factors) and returns one finite number per row.
    inputs : CopulaInputs
        Distribution of the factors.
    n_inner : int, default 2
        Number of values of a factor at each outer point, at least 2.
    n_outer : int, default 100,000
        Number of outer points, at least 2. Standard errors decrease with its square root.
    method : {"double", "pick-freeze"}, default "double"
        For independent factors there is also the pick-freeze design: two samples A and B, and for every factor A
        with that column from B, compared by Jansen's formula [3]_. It is what `scipy.stats.sobol_indices` does,
        with random points instead of a Sobol' sequence.
    subset : sequence of positions or names, optional
        Set of factors whose joint total index is computed instead of one index per factor.
    seed : int, Generator or None, default None
        As in `numpy.random.default_rng`. The same seed gives bit-for-bit identical results.

    Returns
    -------
    MonteCarloIndices
        The values with their standard errors (delta method for the ratio of two means).

    See Also
    --------
    total_indices : Estimate the same from a table.
    Problem.total_indices : True indices of the functions of the paper.

    Notes
    -----
    Standard errors are themselves estimated: where rare points decide the variance of f, both can be far too small.

    References
    ----------
    .. [1] Song, E., Nelson, B. L. and Staum, J. (2016). Shapley effects for global sensitivity analysis: theory and
       computation. SIAM/ASA Journal on Uncertainty Quantification 4, 1060–1083.
    .. [2] Kucherenko, S., Tarantola, S. and Annoni, P. (2012). Estimation of global sensitivity indices for models
       with dependent variables. Computer Physics Communications 183, 937–946.
    .. [3] Saltelli, A. et al. (2010). Variance based sensitivity analysis of model output. Computer Physics
       Communications 181, 259–270.

    Examples
    --------
    A factor that is not in the model takes importance from the one that it is correlated with:

    >>> from scipy.stats import norm
    >>> from firstfactor.problems import CopulaInputs, monte_carlo_total_indices
    >>> def add(x):
    ...     return x[:, 0] + x[:, 1]
    >>> three = CopulaInputs(norm(), [[1, 0, 0], [0, 1, 0.9], [0, 0.9, 1]])
    >>> monte_carlo_total_indices(add, three, seed=0)
    Var(f) = 1.991, from 400,000 evaluations
    factor  total index  standard error
    x1           0.5027          0.0027
    x2           0.0955          0.0006
    x3           0.0000          0.0000
    >>> monte_carlo_total_indices(add, CopulaInputs([norm(), norm()]), seed=0).values.round(1)
    array([0.5, 0.5])
    """
    _check_parameters(f, inputs, n_inner, n_outer, method)
    groups = [(i,) for i in range(inputs.n_factors)] if subset is None else [_locate(subset, inputs.names)]
    rng = checks.generator(seed, "seed")
    checked = _CheckedFunction(f)
    if method == "double":
        blocks = _double_blocks(checked, inputs, groups, n_inner, n_outer, rng)
    else:
        blocks = _pick_freeze_blocks(checked, inputs, groups, n_outer, rng)
    moments = _Moments(len(groups))
    for responses, effects in blocks:
        moments.add(responses, effects)
    values, errors, variance = moments.ratios()
    names = tuple(" + ".join(inputs.names[i] for i in group) for group in groups)
    return MonteCarloIndices(values, errors, names, variance, checked.n_rows)


def _double_blocks(
    f: "_CheckedFunction",
    inputs: CopulaInputs,
    groups: Sequence[tuple[int, ...]],
    n_inner: int,
    n_outer: int,
    rng: np.random.Generator,
) -> Iterator[Block]:
    """Yield, block by block, f at the outer points and each group's variance of f around them."""
    conditionals = [inputs.conditional(group) for group in groups]
    everything = range(inputs.n_factors)
    for size in _block_sizes(n_outer, max(inputs.n_factors, n_inner)):
        scores = inputs.draw_scores(size, rng)
        X = inputs.values(scores, everything)
        centre = f(X)
        effects = np.empty((len(groups), size))
        for effect, group, conditional in zip(effects, groups, conditionals, strict=True):
            redrawn = [inputs.values(conditional.draw(scores, rng), group) for _ in range(n_inner - 1)]
            inner = [centre, *(f(X, group, values) for values in redrawn)]
            effect[:] = np.var(inner, axis=0, ddof=1)
        yield centre[np.newaxis], effects


def _pick_freeze_blocks(
    f: "_CheckedFunction",
    inputs: CopulaInputs,
    groups: Sequence[tuple[int, ...]],
    n_outer: int,
    rng: np.random.Generator,
) -> Iterator[Block]:
    """Yield, block by block, f at two samples and half its squared change where a group comes from the other one."""
    everything = range(inputs.n_factors)
    for size in _block_sizes(n_outer, inputs.n_factors):
        A, B = (inputs.values(inputs.draw_scores(size, rng), everything) for _ in range(2))
        responses = np.stack([f(A), f(B)])
        effects = np.stack([(responses[0] - f(A, group, B[:, group])) ** 2 / 2 for group in groups])
        yield responses, effects


def _block_sizes(n_outer: int, n_each: int) -> Iterator[int]:
    """Return the numbers of outer points in each block; every point holds ``n_each`` numbers."""
    step = max(1, BLOCK_VALUES // n_each)
    return (min(step, n_outer - start) for start in range(0, n_outer, step))


class _CheckedFunction:
    """Function of the user, checked at every call."""

    def __init__(self, f: Function) -> None:
        self._f = f
        self.n_rows = 0

    def __call__(self, X: Floats, group: Sequence[int] = (), values: Floats | None = None) -> Floats:
        """Return f at ``X`` with ``values`` in the columns of ``group``; X is protected from changes by f."""
        X = X.copy()
        if values is not None:
            X[:, group] = values
        response = np.asarray(self._f(X))
        if response.shape != (len(X),):
            raise ValueError(
                f"f must return one number per row, shape ({len(X)},); got shape {response.shape}. "
                "It is called with an array of shape (rows, factors)."
            )
        if response.dtype.kind not in "buif":
            raise ValueError(f"f must return real numbers; got an array of type {response.dtype}.")
        self.n_rows += len(X)
        wrong = np.flatnonzero(~np.isfinite(response))
        if wrong.size:
            raise ValueError(
                f"f must be finite wherever the inputs can be; got {response[wrong[0]]} at {X[wrong[0]].tolist()}. "
                "Change f there, or the distributions of the inputs."
            )
        return response.astype(np.float64)


class _Moments:
    """Running sums over outer points, from which the indices and their standard errors follow."""

    def __init__(self, n_groups: int) -> None:
        self._centre: float | None = None
        self._powers = np.zeros((3, 3))
        self._mixed = np.zeros((3, n_groups))
        self._effects_squared = np.zeros(n_groups)

    def add(self, responses: Floats, effects: Floats) -> None:
        """Add a block: one or two responses, and one effect for each group, of every outer point."""
        if self._centre is None:
            # A central value as offset preserves digits; a median is exactly the constant where f is constant.
            self._centre = float(np.median(responses))
        g = responses - self._centre
        powers = np.stack([np.ones(g.shape[1]), g.mean(axis=0), (g**2).mean(axis=0)])
        self._powers += np.einsum("an,bn->ab", powers, powers)
        self._mixed += np.einsum("an,gn->ag", powers, effects)
        self._effects_squared += np.einsum("gn,gn->g", effects, effects)

    def ratios(self) -> tuple[Floats, Floats, float]:
        """Return mean effects over the variance of f, their standard errors, and the variance.

        The variance is the mean over outer points of v = (g − ḡ)² = g² − 2ḡg + ḡ², which is linear in the powers of
        g. The error of a ratio T/V is that of the mean of (t − v T/V) / V.
        """
        n = self._powers[0, 0]
        mean = self._powers[0, 1] / n
        square = np.array([mean**2, -2 * mean, 1.0])
        variance = float(self._powers[0] @ square / n)
        if self._centre is None or variance <= (1e-13 * self._centre) ** 2:
            raise ValueError(
                f"f must vary, since indices are shares of its variance; it is {self._centre!r} at all {n:.0f} points."
            )
        values = self._mixed[0] / n / variance
        residual = (
            self._effects_squared - 2 * values * (square @ self._mixed) + values**2 * (square @ self._powers @ square)
        )
        return values, np.sqrt(np.maximum(residual, 0.0)) / n / variance, variance


def _check_parameters(f: object, inputs: object, n_inner: Any, n_outer: Any, method: object) -> None:
    """Raise an error for invalid parameters."""
    if not callable(f):
        raise TypeError(f"f must be a function of an array of shape (rows, factors); got {f!r}.")
    if not isinstance(inputs, CopulaInputs):
        raise TypeError(f"inputs must be CopulaInputs, such as CopulaInputs([uniform(), norm()]); got {inputs!r}.")
    checks.at_least("n_inner", n_inner, 2, "a variance needs two values")
    checks.at_least("n_outer", n_outer, 2, "a variance needs two values")
    if checks.one_of("method", method, get_args(Method)) == "pick-freeze":
        if not inputs.independent:
            raise ValueError("method must be 'double' for correlated inputs; got 'pick-freeze'.")
        if n_inner != 2:
            raise ValueError(f"n_inner must be 2 with method='pick-freeze'; got {n_inner!r}. 'double' takes more.")


def _locate(subset: Sequence[int | str], names: tuple[str, ...]) -> tuple[int, ...]:
    """Return the positions of the factors in ``subset``, in ascending order."""
    if isinstance(subset, str) or not len(subset):
        raise ValueError(f"subset must be a list of at least one factor; got {subset!r}.")
    found = set()
    for factor in subset:
        if isinstance(factor, str) and factor in names:
            found.add(names.index(factor))
        elif checks.is_integer(factor) and 0 <= int(factor) < len(names):
            found.add(int(factor))
        else:
            raise ValueError(
                f"subset must hold names or positions of factors ({', '.join(names)}, or 0 to {len(names) - 1}); "
                f"got {factor!r}."
            )
    return tuple(sorted(found))
