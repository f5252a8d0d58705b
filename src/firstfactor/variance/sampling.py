"""Samples of rows: outer rows to average over, and halves for selection and estimation."""

import numpy as np
from numpy.typing import NDArray

from .._utils import checks
from ..data.design import Design
from ..data.response import Response

Rows = NDArray[np.intp]


def deal_halves(rng: np.random.Generator, stratum: NDArray[np.generic], n_rows: int) -> tuple[Rows, Rows]:
    """Return sorted positions of two disjoint halves of the rows, shuffled and dealt out in turn by stratum.

    Rows are sorted by ``stratum``, (rows,); only the first ``n_rows`` rows of that order are dealt.
    """
    order = rng.permutation(stratum.size)
    order = order[np.argsort(stratum[order], kind="stable")][:n_rows]
    return np.sort(order[::2]), np.sort(order[1::2])


def deal_groups(rng: np.random.Generator, groups: Rows) -> tuple[Rows, Rows]:
    """Return sorted positions of two parts of the rows with half of the groups each, shuffled and dealt out in turn."""
    n_groups = int(groups.max()) + 1
    if n_groups < 4:
        raise checks.wrong("groups", "at least 4 to be halved, 2 for each half", n_groups)
    side = np.empty(n_groups, np.intp)
    side[rng.permutation(n_groups)] = np.arange(n_groups) % 2
    return np.flatnonzero(side[groups] == 0), np.flatnonzero(side[groups] == 1)


def draw_outer_rows(
    design: Design,
    response: Response,
    n_outer: int | float | None,
    subsample: str,
    rng: np.random.Generator,
) -> NDArray[np.intp]:
    """Return sorted positions of the rows to average over: all factor sets are compared on the same rows."""
    n_rows = design.n_rows
    size = n_rows if n_outer is None else _outer_size(n_outer, n_rows)
    if size == n_rows:
        return np.arange(n_rows)
    if subsample == "random":
        return np.sort(rng.choice(n_rows, size, replace=False))
    return _twin_rows(design, response, size, rng)


def draw_fixed(n_rows: int, most: int) -> Rows:
    """Return sorted positions of all rows, or of ``most`` of them: the same rows every time."""
    if n_rows <= most:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(0).choice(n_rows, most, replace=False))


def _outer_size(n_outer: int | float, n_rows: int) -> int:
    is_fraction = isinstance(n_outer, float) and 0 < n_outer <= 1
    is_count = checks.is_integer(n_outer) and 1 <= n_outer <= n_rows
    if not (is_fraction or is_count):
        rule = "{None, }a whole number from 1 to {n_rows} (the number of rows) or a fraction above 0.0 and up to 1.0"
        raise checks.wrong("n_outer", checks.Message(rule, n_rows=n_rows), n_outer)
    return max(1, round(n_outer * n_rows)) if is_fraction else int(n_outer)


def _twin_rows(design: Design, response: Response, size: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return sorted positions of a subsample distributed like the whole table (Vakayil and Joseph 2022).

    Twinning keeps every r-th row for an integer r, so a random part of ``size * r`` rows is twinned.
    """
    try:
        from twinning import twin
    except ImportError as error:
        raise ImportError(
            'subsample="twinning" needs the twinning package: pip install "firstfactor[twinning]".'
        ) from error
    if not design.is_in_memory:
        raise ValueError(
            'subsample="twinning" compares rows in all factors, which are not in memory here. Use subsample="random".'
        )
    ratio = design.n_rows // size
    if ratio < 2 or size < 2:
        raise ValueError(
            f'n_outer must be at least 2 and at most half of the rows for subsample="twinning" (here '
            f'{design.n_rows // 2}); got {size}. Use subsample="random" for others.'
        )
    pool = np.sort(rng.permutation(design.n_rows)[: size * ratio])
    data = np.column_stack([design.euclidean()[pool], response.values[pool]])
    return np.sort(pool[twin(data, ratio, u1=int(rng.integers(pool.size)))])
