"""`rank`: from files or a data frame to a result in one call. The command line is a terminal interface to it."""

import inspect
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Unpack

from ._utils import checks
from ._utils.text import list_names, printable
from ._utils.warn import warn_user
from .parameters import RANK, RANKING, Options, Procedure, RankDict, RankParameters, document, find

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .data.observations import Observations
    from .data.quality import Finding
    from .results.indices import Indices
    from .results.path import Path
    from .results.stability import Stability
    from .tables.dataset import Dataset
    from .tables.source import Source
    from .variance.conditional import Variances

Progress = Callable[[str], None]

# The methods "total" and "backward" compute intervals for at most this many factors: the time grows with the square of
# their number.
MAX_WITH_UNCERTAINTY = 30

# A positive response with at least this skewness (an exponential distribution has 2) is also analysed by its normal
# scores. With more than this many rows, the values themselves show as much.
SKEWED, ENOUGH_TO_SEE = 1.0, 10_000


@dataclass(frozen=True, eq=False, kw_only=True)
class Ranking:
    """Result of `rank`: the importances, the table that was analysed, and the settings.

    See Also
    --------
    rank : Return this object.
    Indices : Class of ``indices``, with all estimates.

    Examples
    --------
    >>> from firstfactor import rank
    >>> from firstfactor.problems import friedman
    >>> X, y = friedman.sample(500, seed=0, frame="polars")
    >>> ranking = rank(X.with_columns(y), "y")
    >>> print(ranking.explain("x2").partition(",")[0])
    x2 is left out: not enough evidence beside x7
    """

    indices: "Indices"
    """Importances, ceiling, intervals, p-values and the path of the selection."""
    dataset: "Dataset"
    """The factors and the response that were analysed, and a record of how they were prepared."""
    settings: Mapping[str, Any]
    """All parameters, with defaults that depend on others filled in."""
    options: Options
    """Parameters of the encoding of the table and of the variance estimation."""
    path: str | None = None
    """File, folder, pattern or list of files that was given; None for a data frame."""
    files: tuple[str, ...] = ()
    """All files that the table comes from, in order."""
    stability: "Stability | None" = None
    """Selection frequencies on random half-samples, if requested."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    """Duration of each part in seconds, in order."""
    _observed: "Observations | None" = field(default=None, repr=False)  # encoded rows, if kept for a report

    def notes(self) -> list[str]:
        """Return notes on how the data were prepared.

        Returns
        -------
        list of str
            Sentences, such as on columns and rows that were left out.
        """
        data = self.dataset
        notes = [f"Column {name!r} was left out: {why}." for name, why in data.left_out.items()]
        if data.n_drawn is not None:
            notes.append(f"{data.n_drawn:,} of {data.n_read:,} rows were drawn at random.")
        notes += data.say_dropped()
        if data.n_copies:
            notes.append(f"{data.n_copies:,} copies of rows were left out.")
        if self.indices.uncertainty is None:
            notes.append(self.why_no_intervals)
        return [*notes, *data.remarks]

    @property
    def why_no_intervals(self) -> str:
        """Reason why there are no intervals and p-values, if there are none."""
        return f"No intervals: with this method they take too long for more than {MAX_WITH_UNCERTAINTY} factors."

    @property
    def classes(self) -> list[Any]:
        """Class labels in order; empty for a numeric response. Of two classes, the second is coded as 1."""
        return list(self.indices.classes)

    def explain(self, factor: str | int) -> str:
        """Explain in one sentence why a factor was selected or left out.

        Parameters
        ----------
        factor : str or int
            Name or position of the factor.

        Returns
        -------
        str
            The sentence.
        """
        from .results.explanations import explain

        return explain(self.indices, factor)

    def to_frame(self, backend: Any = "pandas") -> Any:
        """Return a data frame with a row for each factor; see `Indices.to_frame`.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, default "pandas"
            Library of the data frame.

        Returns
        -------
        data frame
            A data frame of that library.
        """
        return self.indices.to_frame(backend)

    def to_json(self, **more: Any) -> str:
        """Return all results as JSON.

        Parameters
        ----------
        **more : keyword arguments
            Entries to add.

        Returns
        -------
        str
            JSON text.
        """
        from .reporting.export import as_json

        return as_json(self, more)

    def to_csv(self) -> str:
        """Return the table of factors as CSV that is safe to open in a spreadsheet.

        Returns
        -------
        str
            CSV text.
        """
        from .reporting.export import as_csv

        return as_csv(self)

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Plot the importance of each factor; see `firstfactor.plots` for other plots.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw into. Default: a new figure.

        Returns
        -------
        matplotlib Axes
            Axes with the plot.
        """
        from .plots import plot_importance

        return plot_importance(self.indices, ax)

    def report(self, path: str | os.PathLike[str], **details: Any) -> None:
        """Write the results to one self-contained HTML page.

        Parameters
        ----------
        path : path
            File to write.
        **details : keyword arguments
            ``title``, and ``call``, the command or call that repeats the analysis.
        """
        from .reporting.report import write_report
        from .reporting.source import describe_files, describe_table

        data = self.dataset
        from_files = bool(self.files) and all(map(os.path.isfile, self.files))
        if from_files:
            source = describe_files(self.files, data.shown)
        else:  # a data frame, or standard input, part of which may be in a temporary file
            source = describe_table(data.X, data.y, data.shown) if data.jobs is None else {"name": data.shown}
        write_report(
            self.indices,
            path,
            data.X,
            data.y,
            notes=self.notes(),
            settings=self.settings,
            stability=self.stability,
            source=source,
            options=self.options,
            sample_weight=data.weights,
            groups=data.groups,
            observed=self._observed,
            **details,
        )

    def __repr__(self) -> str:
        return repr(self.indices)


def rank(
    data: Any,
    target: str | Sequence[str] | None,
    *,
    progress: Progress | None = None,
    **options: Unpack[RankDict],
) -> Ranking:
    """Rank the factors in a table by how much they drive a response.

    This is the command ``firstfactor rank`` as a function. Text columns are categories, dates are numbers of days, and
    missing values are a level of their own. Columns that identify each row are left out; ``notes()`` lists them.

    Parameters
    ----------
    data : path, list of paths, or data frame
        A CSV, TSV, Parquet, Arrow, JSON, JSON lines, Excel, SQLite, DuckDB or Stata file, gzipped or not; or a pandas,
        polars or pyarrow table. A list of files, a folder (with its subfolders) or a pattern such as ``data/*.csv`` is
        read as one table, if all files have the same format and columns; folders such as year=2024 add a column.
    target : str or sequence of str
        Column to explain: numbers or class labels. Several columns are standardised and explained together.
    progress : callable, optional
        Called with a short description of the current work.

    Returns
    -------
    Ranking
        The importances with their intervals, the table, and notes, with methods to plot and to write them.

    Other Parameters
    ----------------
    {factors}
    {drop}
    {categorical}
    {factor_groups}
    {period}
    {date_parts}
    {task}
    {response}
    {output_weights}
    {missing}
    {weight}
    {groups}
    {unique}
    {sample}
    {method}
    {rule}
    {alpha}
    {control}
    {goal}
    {forced}
    {max_factors}
    {compact}
    {importance}
    {cluster_cut}
    {estimator}
    {split}
    {stability}
    {n_neighbors}
    {n_outer}
    {seed}
    {jobs}
    {memory}
    {cluster}
    {workers}
    {checkpoint}
    {scale}
    {format}
    {table}
    {na}
    {decimal}

    See Also
    --------
    FIRST : Select factors within a scikit-learn pipeline.

    Examples
    --------
    >>> from firstfactor import rank
    >>> from firstfactor.problems import friedman
    >>> X, y = friedman.sample(500, seed=0, frame="polars")
    >>> ranking = rank(X.with_columns(y), "y")
    >>> sorted(ranking.indices.names[i] for i in ranking.indices.selected)
    ['x1', 'x10', 'x7', 'x8', 'x9']
    """
    return make_ranking(data, target, progress, options)


def make_ranking(
    data: Any,
    target: str | Sequence[str] | None,
    progress: Progress | None,
    options: Mapping[str, Any],
    for_report: bool = False,
) -> Ranking:
    """Return what `rank` returns; with ``for_report``, it keeps the encoded table so that a report need not read it."""
    from .tables.find_files import are_paths, find_files

    parameters, estimates, procedure = _parse(options)
    show, watch = progress or (lambda _: None), _StopWatch()
    show("reading")
    files = find_files(data) if are_paths(data) else ()
    dataset = _load(data, files, target, parameters, estimates, procedure, show)
    try:
        ranking = _rank(dataset, parameters, estimates, procedure, show, watch, for_report)
    except BaseException:
        dataset.close()
        raise
    return replace(ranking, path=_say_path(data) if files else None, files=files)


def _rank(
    dataset: "Dataset",
    parameters: RankParameters,
    estimates: Options,
    procedure: Procedure,
    show: Progress,
    watch: "_StopWatch",
    for_report: bool,
) -> Ranking:
    """Rank the factors of a table that has been read."""
    _check_halves(parameters, estimates, len(dataset.y))
    watch.lap("reading")
    show("loading")  # only now: errors in a file are reported before the compiler is loaded
    from .data.quality import warn_of_findings
    from .inference.sample_size import warn_if_too_few_rows
    from .selection.stability import Pairs, select_on_halves
    from .variance.conditional import open_variances

    watch.lap("loading")
    show("searching (the first run on a machine also compiles, for about 20 seconds)")
    said = dict(dataset.column_options)
    procedure = replace(procedure, forced=said.pop("forced"))
    estimates = replace(estimates, **said).with_default_of(procedure)
    if dataset.jobs is not None:
        estimates = replace(estimates, n_jobs=dataset.jobs)
    with _place(dataset, parameters, show) as X:
        with open_variances(X, dataset.y, estimates, dataset.weights, dataset.groups, procedure=procedure) as variances:
            observed = _take_rows(variances) if for_report and variances.design.is_in_memory else None
            indices = _estimate(variances, parameters.method, procedure, lambda path: show(_describe_step(path)))
        if parameters.selects:
            found = _try_normal_scores(dataset, X, estimates, procedure, indices)
            indices = replace(indices, findings=indices.findings + found)
    watch.lap("searching")
    stability = None
    if parameters.stability is not None:
        try:
            stability = select_on_halves(
                dataset.X,
                dataset.y,
                estimates,
                replace(procedure, split=False),  # no importances are estimated on half-samples
                Pairs(parameters.stability),
                lambda done, total: show(f"selecting on halves of the rows: {done} of {total}"),
                dataset.weights,
                dataset.groups,
            )
        except Exception as error:  # the importances are known already and must not be lost
            warn_user(f"stability= failed, so the result is without it: {error!r}", UserWarning)
        watch.lap("stability")
    warn_of_findings(indices.findings)
    warn_if_too_few_rows(indices.sample_size)
    return Ranking(
        indices=indices,
        dataset=dataset,
        settings=_settings_used(parameters, estimates, procedure, dataset),
        options=estimates,
        stability=stability,
        seconds=watch.seconds,
        _observed=observed,
    )


document(rank, RANKING)
rank.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
    [
        inspect.Parameter("data", inspect.Parameter.POSITIONAL_OR_KEYWORD),
        inspect.Parameter("target", inspect.Parameter.POSITIONAL_OR_KEYWORD),
        inspect.Parameter("progress", inspect.Parameter.KEYWORD_ONLY, default=None),
        *(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=find(name).default) for name in RANK),
    ],
    return_annotation=Ranking,
)


def _parse(options: Mapping[str, Any]) -> tuple[RankParameters, Options, Procedure]:
    """Sort the parameters into their groups and check them before any work is done."""
    for name in options:
        if name not in RANK:
            raise checks.unknown_option(name, RANK)

    def pick(group: type) -> dict[str, Any]:
        return {each.name: options[each.name] for each in fields(group) if each.name in options}

    parameters = RankParameters(**pick(RankParameters))
    _refuse_combinations(parameters, options)
    forward = "fast" if parameters.method == "first-fast" else Procedure.forward
    estimates = Options(**pick(Options) | {"n_jobs": parameters.jobs, "random_state": parameters.seed})
    return parameters, estimates, Procedure(**pick(Procedure) | {"rule": parameters.rule_used, "forward": forward})


def _refuse_combinations(parameters: RankParameters, options: Mapping[str, Any]) -> None:
    """Raise an error for parameters that cannot be combined."""
    calibrated, other_method = parameters.rule_used == "calibrated", f'method="{parameters.method}"'
    if calibrated and parameters.method != "first":
        raise ValueError(f'rule="calibrated" goes with method="first" only; got {other_method}.')
    if "alpha" in options and not calibrated:
        without = 'rule="paper"' if parameters.rule else other_method
        raise ValueError(f'alpha= is for rule="calibrated"; leave out alpha= or {without}.')
    for name in ("split", "stability", "max_factors", "compact"):
        if options.get(name) and not parameters.selects:
            raise ValueError(
                f'{name}= goes with method="first" or method="first-fast"; got method="{parameters.method}".'
            )
    elsewhere = [name for name in ("memory", "cluster", "workers") if options.get(name) is not None]
    if len(elsewhere) > 1:
        raise ValueError(f"{elsewhere[0]}= does not go with {elsewhere[1]}=. Leave out one of them.")
    for name, given in {"unique": parameters.unique, "stability": parameters.stability}.items():
        if elsewhere and given:
            raise ValueError(
                f"{name}= does not go with {elsewhere[0]}=: it takes all columns of many rows at a time. Leave out one "
                "of them."
            )
    if options.get("forced") and parameters.method == "total":
        raise ValueError('forced= is for methods that select factors; got method="total", which has all of them.')


def _check_halves(parameters: RankParameters, estimates: Options, n_rows: int) -> None:
    """Raise an error if ``n_outer`` exceeds the size of a half-sample, before any work is done."""
    half, n_outer = n_rows // 2, estimates.n_outer
    if parameters.stability is not None and isinstance(n_outer, int) and half < n_outer <= n_rows:
        raise ValueError(f"n_outer must be at most {half:,}, half of the rows, with stability=; got {n_outer:,}.")


def _say_path(data: Any) -> str:
    """Return the given path, or several paths joined by commas."""
    return os.fspath(data) if isinstance(data, (str, os.PathLike)) else ", ".join(map(os.fspath, data))


def _load(
    data: Any,
    files: tuple[str, ...],
    target: str | Sequence[str] | None,
    parameters: RankParameters,
    estimates: Options,
    procedure: Procedure,
    show: Progress,
) -> "Dataset":
    """Load the table to analyse from files or, if there are none, from a data frame."""
    from ._utils.optional import require

    require("polars", "reading a table")
    from .tables.dataset import read_dataset, to_polars
    from .tables.roles import Request, as_list
    from .tables.source import frame_source

    request = Request(target, parameters, estimates, as_list(procedure.forced))
    if parameters.memory is not None and not files:
        raise ValueError("memory= is for files; this table is in memory already. Leave out memory=.")
    if files and (parameters.memory is not None or parameters.on_cluster):
        from .tables.out_of_core import open_dataset

        return open_dataset(_open(data, files, parameters), request, show)
    if not files:
        return read_dataset(frame_source(to_polars(data), "the table"), request)
    with _open(data, files, parameters) as source:
        return read_dataset(source, request)


def _open(data: Any, files: tuple[str, ...], parameters: RankParameters) -> AbstractContextManager["Source"]:
    """Open the table in the files for reading; a single file that was given by its name is opened as it is."""
    from .tables.formats import open_source

    if _say_path(data) == files[0]:
        return open_source(files[0], parameters)
    from .tables.many_files import open_files

    return open_files(files, parameters)


@contextmanager
def _place(dataset: "Dataset", parameters: RankParameters, show: Progress) -> Iterator[Any]:
    """Yield the factors for a local search or, on a cluster, for a search by its workers."""
    if not parameters.on_cluster:
        yield dataset.X
        return
    from joblib import parallel_config

    from .cluster.session import open_cluster
    from .cluster.table import ReadByWorkers
    from .data.stored_table import ColumnTable

    show(f"starting {parameters.workers} workers" if parameters.workers else f"connecting to {parameters.cluster}")
    with open_cluster(parameters.cluster, parameters.workers) as cluster:
        show("searching (workers that are new also load or compile kernels, for up to a minute)")
        if isinstance(dataset.X, ColumnTable):
            yield ReadByWorkers(cluster, dataset.X)
        else:
            with parallel_config(backend="dask", client=cluster.client):
                yield dataset.X


def _take_rows(variances: "Variances") -> "Observations":
    """Return the encoded rows that variances are estimated from."""
    from .data.observations import Observations

    search, rows, dropped = variances.search, variances.rows, variances.dropped
    return Observations(search.design, variances.response, search.weights, search.groups, rows, dropped)


def _estimate(
    variances: "Variances", method: str, procedure: Procedure, callback: "Callable[[Path], None]"
) -> "Indices":
    """Estimate importances by the given method."""
    from .dependence.sharing import add_sharing
    from .inference.totals import estimate_totals
    from .selection.backward import eliminate
    from .selection.fitting import estimate_selected, find_forced, fit, in_context

    design = variances.design
    if method == "total":
        indices = estimate_totals(variances, method="plug-in" if design.n_factors <= MAX_WITH_UNCERTAINTY else None)
        return add_sharing(variances, indices, procedure.cluster_cut)
    if method == "backward":
        on_step = in_context(callback, design.names, variances.response.variance)
        forced = find_forced(variances, procedure)
        selection = eliminate(variances, design.varying, procedure.elimination, on_step=on_step, forced=forced)
        is_sure, cut = len(selection.kept) <= MAX_WITH_UNCERTAINTY, procedure.cluster_cut
        return estimate_selected(variances, selection, "NANNE-BE", is_sure, cluster_cut=cut)
    return fit(variances, procedure, callback)


def _try_normal_scores(
    dataset: "Dataset", X: Any, options: Options, procedure: Procedure, indices: "Indices"
) -> tuple["Finding", ...]:
    """Report additional factors that the calibrated rule finds by the normal scores of a skewed response."""
    import polars as pl

    from .data.quality import Finding
    from .selection.fitting import choose
    from .variance.conditional import open_variances

    if procedure.rule != "calibrated" or options.response != "values" or indices.task != "regression":
        return ()
    if not isinstance(dataset.X, pl.DataFrame) or not isinstance(dataset.y, pl.Series):
        return ()
    if indices.support.all() or indices.n_rows > ENOUGH_TO_SEE:
        return ()
    y = dataset.y.cast(pl.Float64)
    skewness = y.skew()
    if (y <= 0).any() or skewness is None or not skewness >= SKEWED:
        return ()
    scores = replace(options, response="normal-scores", checkpoint=None)
    with open_variances(X, dataset.y, scores, dataset.weights, dataset.groups, procedure=procedure) as variances:
        found = choose(variances, replace(procedure, goal="explain"))
    more = [indices.names[i] for i in found if not indices.support[i]]
    if len(found) <= indices.selected.size:
        return ()
    few = "A few large values are most of the variance of the response. By its normal scores"
    return (
        Finding("skewed", len(more), f"{few}, more factors show: {list_names([printable(name) for name in more])}."),
    )


def _describe_step(path: "Path") -> str:
    """Describe the last step of a path in a few words."""
    step = path.steps[-1]
    enters = step.phase == "forward" and bool(step.chosen)
    explained = float(step.explained.max()) if enters else step.base_explained
    share = f"{max(explained / path.response_variance, 0):.0%}"
    if not enters:
        return f"searching: {share} explained; checking that each of {len(step.base)} factors is needed"
    entered, left = printable(path.names[step.chosen[0]])[:24], len(step.candidates) - 1
    count = f"{len(step.base) + 1} factors explain" if step.base else "1 factor explains"
    return f"searching: + {entered}, {count} {share}; trying {left} more"


def _settings_used(
    parameters: RankParameters, estimates: Options, procedure: Procedure, dataset: "Dataset"
) -> dict[str, Any]:
    """Return all parameters by name, with the values used in place of defaults that depend on others."""
    values = vars(parameters) | vars(procedure) | vars(estimates) | dict(dataset.reading)
    alpha = procedure.alpha if procedure.rule == "calibrated" else None
    return {name: values[name] for name in RANK} | {"alpha": alpha}


class _StopWatch:
    """Timer of the parts of a run, in seconds."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, part: str) -> None:
        """Record the time since the last part as that of ``part``."""
        now = time.perf_counter()
        self.seconds[part], self._last = now - self._last, now
