"""A result as one page to send to a colleague: gathered once, drawn, then filled into one template."""

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from .._utils.atomic_write import write_whole
from ..data.observations import Observations
from ..parameters import Options
from .contents import gather
from .page import render

if TYPE_CHECKING:
    from ..results.stability import Stability


def write_report(
    result: Any,
    path: str | os.PathLike[str],
    X: Any = None,
    y: Any = None,
    *,
    title: str | None = None,
    call: str | None = None,
    notes: Iterable[str] = (),
    settings: Mapping[str, Any] | None = None,
    stability: "Stability | None" = None,
    source: Mapping[str, str] | None = None,
    options: Options | None = None,
    sample_weight: Any = None,
    groups: Any = None,
    observed: Observations | None = None,
) -> None:
    """Write a result as one HTML page that needs nothing else: no network, and no script to read it.

    With scripts, which a browser may allow or not, rows can be sorted. The page is written whole or not at all, and
    the same input gives the same bytes on the same day.

    Parameters
    ----------
    result : FIRST or Indices
        A fitted `FIRST`, or what `total_indices` or `backward_elimination` return.
    path : path
        Where to write.
    X, y : the data that were analysed, optional
        For the sections on effects and the data; without them, the page says how to get these.
    title : str, optional
        Default: the question.
    call : str, optional
        The command or call that repeats the analysis. Default: that of the `FIRST` given.
    notes : iterable of str
        What happened to the data before, such as rows dropped.
    settings : mapping, optional
        Parameters and their values. Default: those of the `FIRST` given.
    stability : Stability, optional
        What `firstfactor.stability` returned for the same table, to be shown as well.
    source : mapping of str to str, optional
        Where the table comes from, as `describe_file` and `describe_table` give it: ``name``, ``size`` and ``sha256``,
        and ``date`` if it is not today's.
    options : Options, optional
        How the table was read and variances were estimated, to show effects with the other factors held fixed. Default:
        those of the `FIRST` given.
    sample_weight, groups
        What was given to `fit`, for the same.
    observed : Observations, optional
        The encoded rows of the analysis, for the same. Default: X is encoded again.
    """
    page = gather(
        result,
        X,
        y,
        title=title,
        call=call,
        notes=notes,
        settings=settings,
        stability=stability,
        source={} if source is None else source,
        options=options,
        sample_weight=sample_weight,
        groups=groups,
        observed=observed,
    )
    text = render(page)
    write_whole(path, lambda file: file.write(text.encode("utf-8", errors="replace")))
