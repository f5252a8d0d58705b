"""`rank`: from files or a data frame to a result in one call. The command line is a terminal interface to it."""

import inspect
import os
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Unpack

from ._utils.checks import InputError, Mention, warn_user
from ._utils.text import list_names, printable
from .findings.constants import ENOUGH_FOR_RANKS, ENOUGH_TO_SEE, EXPLAINS_ALL, OF_ALL, SKEWED
from .settings import RANK, Options, RankKeywords, RankSettings, document, find

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._utils.frames import Backend
    from .data.observations import Observations
    from .findings.finding import Finding
    from .results.comparison import Comparison
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

# Maximum number of columns that a warning names; ``notes()`` has all of them.
MOST_NAMED = 9

# Maximum number of parts of a table in memory of which the findings are kept.
MOST_KNOWN = 20


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
    _backend: "Backend" = field(default="polars", repr=False)  # library of the table

    @property
    def selected(self) -> tuple[str, ...]:
        """Names of the selected factors, in order of decreasing importance."""
        return tuple(self.indices.names[i] for i in self.indices.selected)

    @property
    def ceiling(self) -> float:
        """Highest R² that any model of the selected factors can reach; ``indices.r2_interval()`` is its interval."""
        return self.indices.r2_ceiling

    @property
    def findings(self) -> tuple["Finding", ...]:
        """Findings about the table, such as columns that contain the target; the gravest first."""
        return self.indices.findings

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

    def compare(self, score: float) -> "Comparison":
        """Compare the score of a model with the ceiling.

        Parameters
        ----------
        score : float
            R² of the model on new rows. For classes, 1 - Brier score / Brier score of the class shares, which is the R²
            of the predicted probabilities; accuracy or AUC cannot be compared.

        Returns
        -------
        Comparison
            Where the score lies between nothing and the ceiling; ``print`` it for a sentence.
        """
        from .results.comparison import compare

        return compare(self.indices, score, self.settings["response_scale"])

    def summary(self) -> str:
        """Return the result as text: the data, the answer, the ceiling, all factors and all remarks.

        Returns
        -------
        str
            Text of several lines, which ``print`` shows; `repr` leaves out most of many factors.
        """
        from .reporting.summary import as_text

        return as_text(self, all_lines=True)

    def to_frame(self, backend: "Backend | None" = None) -> Any:
        """Return a data frame with a row for each factor, as sorted in the ranking, and the columns of `to_csv`.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            Library of the data frame. Default: that of the table that was ranked; polars for files and arrays.

        Returns
        -------
        data frame
            A data frame of that library.
        """
        from ._utils.frames import make_frame
        from .reporting.export import as_columns

        return make_frame(as_columns(self), backend or self._backend)

    def to_json(self, path: str | os.PathLike[str] | None = None, **more: Any) -> str | None:
        """Write all results as JSON, or return them.

        Parameters
        ----------
        path : path, optional
            File to write, whole or not at all. Default: return the text.
        **more : keyword arguments
            Entries to add.

        Returns
        -------
        str or None
            JSON text, if no file is written.
        """
        from .reporting.export import as_json

        return _write(path, as_json(self, more))

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """Write the table of factors as CSV that is safe to open in a spreadsheet, or return it.

        Parameters
        ----------
        path : path, optional
            File to write, whole or not at all. Default: return the text.

        Returns
        -------
        str or None
            CSV text, if no file is written.
        """
        from .reporting.export import as_csv

        return _write(path, as_csv(self))

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
            ``title``; ``call``, the command or call that repeats the analysis; ``model_score``, the R² of a model to
            compare with the ceiling; ``sensitive=True`` to show nothing of single rows.
        """
        from .reporting.report import describe_files, describe_table, write_report

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
            without=self._without_leaks(),
            **details,
        )

    def _without_leaks(self) -> "Indices | None":
        """Rank the same table without the columns that contain the target; return None if there are none or no others.

        Remarks on the table are those of the whole one.
        """
        import polars as pl

        leaks = {name for one in self.findings if one.kind == "leak" for name in one.columns}
        X, settings = self.dataset.X, self.options
        if not leaks or not isinstance(X, pl.DataFrame) or not isinstance(settings, RankSettings):
            return None
        if leaks >= {*X.columns} or leaks & _named_by_user(self.dataset):
            return None
        settings = replace(settings, leaks="keep", stability=None, checkpoint=None, scheduler=None, workers=None)
        dataset = self.dataset.without(leaks, {})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _rank(dataset, settings, lambda _: None, _StopWatch(), for_report=False).indices

    def __repr__(self) -> str:
        from .reporting.summary import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        from .reporting.notebook import as_html

        return as_html(self)


def _write(path: str | os.PathLike[str] | None, text: str) -> str | None:
    """Write text to a file; return it if there is none."""
    if path is None:
        return text
    from ._utils.atomic_write import write_whole

    write_whole(path, lambda file: file.write(text.encode()))
    return None


def rank(
    data: Any,
    target: Any,
    *,
    progress: Progress | None = None,
    **options: Unpack[RankKeywords],
) -> Ranking:
    """Rank the factors in a table by how much a response depends on them.

    This is the command ``firstfactor rank`` as a function. Text columns are categories, dates are numbers of days, and
    missing values are a level of their own. Columns that identify each row are left out; ``notes()`` lists them.

    Parameters
    ----------
    data : path, list of paths, data frame or array
        A CSV, TSV, Parquet, Arrow, JSON, JSON lines, Excel, SQLite, DuckDB or Stata file, gzipped or not; a pandas,
        polars (also lazy) or pyarrow table; or an array, whose columns are called x0, x1 and so on. A list of files, a
        folder (with its subfolders) or a pattern such as ``data/*.csv`` is read as one table, if all files have the
        same format and columns; folders such as year=2024 add a column.
    target : str, list of str, or array-like
        Column to explain: numbers or class labels. Several columns are standardised and explained together. A name, a
        number that is a name, or a list of text names columns of the table. Anything else is the response itself, as
        in ``rank(X, y)``: a series, an array or a list of numbers with one value for each row, or a table of several
        outputs. Rows are matched by position. A series that is also a column of the table stands for this column.
    progress : callable, optional
        Called with a short description of the current work.

    Returns
    -------
    Ranking
        The importances with their intervals, the table, and notes, with methods to plot and to write them.

    Other Parameters
    ----------------
    {parameters}

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
    target: Any,
    progress: Progress | None,
    options: Mapping[str, Any],
    for_report: bool = False,
) -> Ranking:
    """Return what `rank` returns; with ``for_report``, it keeps the encoded table so that a report need not read it."""
    from ._utils.frames import library_of
    from .tables.find_files import are_paths, find_files

    settings = RankSettings.parse(options)
    show, watch = progress or (lambda _: None), _StopWatch()
    show("reading")
    files = find_files(data) if are_paths(data) else ()
    dataset, settings = _load(data, files, target, settings, show)
    _warn_of_losses(dataset)
    try:
        ranking = _rank(dataset, settings, show, watch, for_report)
    except BaseException:
        dataset.close()
        raise
    backend = "polars" if files else library_of(data)
    return replace(ranking, path=_join_paths(data) if files else None, files=files, _backend=backend)


def _rank(dataset: "Dataset", settings: RankSettings, show: Progress, watch: "_StopWatch", for_report: bool) -> Ranking:
    """Rank the factors of a table that has been read."""
    _check_halves(settings, len(dataset.y))
    watch.lap("reading")
    show("loading")  # only now: errors in a file are reported before the compiler is loaded
    from ._utils.threads import Workers
    from .findings.finding import in_order, warn_of_findings
    from .inference.sample_size import warn_if_too_few_rows
    from .selection.stability import Pairs, select_on_halves
    from .variance.conditional import open_variances

    watch.lap("loading")
    show("looking at the columns")
    dataset, noticed = Workers(1).call(lambda: _notice(dataset, settings))
    show("searching (the first run on a machine also compiles, for about 20 seconds)")
    settings = replace(settings, **dataset.column_options).resolve_estimator()
    if dataset.jobs is not None:
        settings = replace(settings, n_jobs=dataset.jobs)
    with _local_or_cluster(dataset, settings, show) as X:
        with open_variances(X, dataset.y, settings, dataset.weights, dataset.groups) as variances:
            observed = _take_rows(variances) if for_report and variances.design.is_in_memory else None
            indices = _estimate(variances, settings, lambda path: show(_describe_step(path)))
        if settings.selects:
            found = _try_normal_scores(dataset, X, settings, indices)
            indices = replace(indices, findings=indices.findings + found)
        noticed = [
            *_compare_ranks(dataset, X, settings, indices, noticed),
            *_ask_when_known(indices, noticed, settings),
        ]
    watch.lap("searching")
    stability = None
    if settings.stability is not None:
        try:
            stability = select_on_halves(
                dataset.X,
                dataset.y,
                replace(settings, split=False),  # no importances are estimated on half-samples
                Pairs(settings.stability),
                lambda done, total: show(f"selecting on halves of the rows: {done} of {total}"),
                dataset.weights,
                dataset.groups,
            )
        except Exception as error:  # the importances are known already and must not be lost
            warn_user(f"stability= failed, so the result is without it: {error!r}", UserWarning)
        watch.lap("stability")
    units = {one.column for one in noticed if one.kind == "units"}
    # Rows of a unit that follow each other are alike because of the unit.
    known = [
        one
        for one in indices.findings
        if not (units and (one.kind == "order" or (one.kind == "groups" and one.column in units)))
    ]
    findings = in_order([*noticed, *known])
    _warn_of_constants(indices)
    warn_of_findings(findings)
    warn_if_too_few_rows(indices.sample_size)
    return Ranking(
        indices=replace(indices, findings=findings),
        dataset=dataset,
        settings=_settings_used(settings, dataset),
        options=settings,
        stability=stability,
        seconds=watch.seconds,
        _observed=observed,
    )


rank.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
    [
        inspect.Parameter("data", inspect.Parameter.POSITIONAL_OR_KEYWORD),
        inspect.Parameter("target", inspect.Parameter.POSITIONAL_OR_KEYWORD),
        inspect.Parameter("progress", inspect.Parameter.KEYWORD_ONLY, default=None),
        *(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=find(name).default) for name in RANK),
    ],
    return_annotation=Ranking,
)
document(rank, RankSettings)


def _check_halves(settings: RankSettings, n_rows: int) -> None:
    """Raise an error if ``n_outer`` exceeds the size of a half-sample, before any work is done."""
    half, n_outer = n_rows // 2, settings.n_outer
    if settings.stability is not None and isinstance(n_outer, int) and half < n_outer <= n_rows:
        raise InputError(
            "{n_outer} must be at most {half:,}, half of the rows, with {stability=}; got {given:,}.",
            half=half,
            given=n_outer,
        )


def _warn_of_losses(dataset: "Dataset") -> None:
    """Warn of columns that cannot be factors, and of rows without a response, which were left out."""
    from .findings.finding import ColumnsWarning, RowsWarning

    if dataset.left_out:
        columns = [f"{printable(name)} ({why})" for name, why in dataset.left_out.items()]
        way_out = "Name text in categorical= to keep it as labels, or name them in drop=."
        warn_user(f"Left out: {list_names(columns, most=MOST_NAMED)}. {way_out}", ColumnsWarning)
    if dataset.dropped.no_target:
        warn_user(dataset.say_dropped()[0], RowsWarning)


def _warn_of_constants(indices: "Indices") -> None:
    """Warn of factors that have the same value in every row."""
    from .findings.finding import ColumnsWarning

    names = [printable(name) for name, kind in zip(indices.names, indices.kinds, strict=True) if kind == "constant"]
    if names:
        is_one = len(names) == 1
        what = "is constant: it has" if is_one else "are constant: each has"
        warn_user(f"{list_names(names, most=MOST_NAMED)} {what} the same value in every row.", ColumnsWarning)


def _join_paths(data: Any) -> str:
    """Return the given path, or several paths joined by commas."""
    return os.fspath(data) if isinstance(data, (str, os.PathLike)) else ", ".join(map(os.fspath, data))


def _load(
    data: Any, files: tuple[str, ...], target: Any, settings: RankSettings, show: Progress
) -> tuple["Dataset", RankSettings]:
    """Load the table to analyse from files or, if there are none, from memory; the settings then name its columns."""
    from ._utils.packages import require

    require("polars", "rank()")
    from .tables.dataset import read_dataset
    from .tables.in_memory import one_table, refuse_values
    from .tables.roles import Request
    from .tables.source import Source, frame_source

    if isinstance(data, Source):  # whoever ranks a table many times opens it once
        return read_dataset(data, Request(target, settings)), settings
    if not files:
        for option in ("memory", "format", "table"):
            if getattr(settings, option) is not None:
                raise InputError(
                    "{option} is for files; this table is in memory already. Leave out {option}.",
                    option=Mention(option, ""),
                )
        frame, names, settings = one_table(data, target, settings)
        source = frame_source(frame, "the table", settings.decimal).with_nulls(settings.na)
        return read_dataset(source, Request(names, settings)), settings
    refuse_values(target, settings)
    request = Request(target, settings)
    if settings.memory is not None or settings.on_cluster:
        from .tables.out_of_core import open_dataset

        return open_dataset(open_table(data, files, settings), request, show), settings
    with open_table(data, files, settings) as source:
        return read_dataset(source, request), settings


def open_table(data: Any, files: tuple[str, ...], settings: RankSettings) -> AbstractContextManager["Source"]:
    """Open the table in the files for reading; a single file that was given by its name is opened as it is."""
    from .tables.formats import open_source

    if _join_paths(data) == files[0]:
        return open_source(files[0], settings)
    from .tables.many_files import open_files

    return open_files(files, settings)


@contextmanager
def _local_or_cluster(dataset: "Dataset", settings: RankSettings, show: Progress) -> Iterator[Any]:
    """Yield the factors for a local search or, on a cluster, for a search by its workers."""
    if not settings.on_cluster:
        yield dataset.X
        return
    from joblib import parallel_config

    from .cluster.client import open_cluster
    from .cluster.table import ReadByWorkers
    from .data.stored_table import ColumnTable

    show(f"starting {settings.workers} workers" if settings.workers else f"connecting to {settings.scheduler}")
    with open_cluster(settings.scheduler, settings.workers) as cluster:
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


def _estimate(variances: "Variances", settings: RankSettings, callback: "Callable[[Path], None]") -> "Indices":
    """Estimate importances by the method of the settings."""
    from .dependence.sharing import add_sharing
    from .inference.estimates import estimate_totals
    from .selection.algorithms import eliminate
    from .selection.fitting import estimate_selected, find_forced, fit, in_context

    design = variances.design
    if settings.method == "total":
        indices = estimate_totals(variances, method="plug-in" if design.n_factors <= MAX_WITH_UNCERTAINTY else None)
        return add_sharing(variances, indices, settings.cluster_cut)
    if settings.method == "backward":
        on_step = in_context(callback, design.names, variances.response.variance)
        forced = find_forced(variances, settings)
        selection = eliminate(variances, design.varying, settings.elimination, on_step=on_step, forced=forced)
        is_sure, cut = len(selection.kept) <= MAX_WITH_UNCERTAINTY, settings.cluster_cut
        return estimate_selected(variances, selection, "NANNE-BE", is_sure, cluster_cut=cut)
    return fit(variances, settings, callback)


def _notice(dataset: "Dataset", settings: RankSettings) -> tuple["Dataset", list["Finding"]]:
    """Look at the columns of a table in memory; return it as asked without leaks and with groups, and the findings."""
    import polars as pl

    from .findings.notice import notice

    if not isinstance(dataset.X, pl.DataFrame):
        return dataset, []
    is_grouped, with_leaks = dataset.groups is not None, settings.leaks != "keep"
    # Of one table, columns and rows depend on these alone.
    columns = (*dataset.X.columns, *dataset.target_names), dataset.categorical, settings.date_parts
    rows = settings.sample, settings.seed, settings.unique, settings.missing
    key = columns, rows, settings.task, is_grouped, with_leaks
    known = {} if dataset.known is None else dataset.known.setdefault("findings", {})
    found = known.get(key)
    if found is None:
        found = notice(dataset.X, dataset.y, settings.task, dataset.categorical, is_grouped, with_leaks)
        known[key] = found
        for oldest in [*known][:-MOST_KNOWN]:
            del known[oldest]
    named = _named_by_user(dataset)
    groups: dict[str, Sequence[str]] = dict(dataset.column_options.get("factor_groups") or {})
    leaks, others = dict[str, str](), list["Finding"]()
    for one in found:
        proposed = dict(one.remedy.get("factor_groups", {}))
        if one.kind == "leak" and settings.leaks == "drop" and named.isdisjoint(one.columns):
            leaks.update(dict.fromkeys(one.columns, one.sentence.rstrip(".")))
        elif proposed and not named.isdisjoint(one.columns):
            continue
        elif proposed and settings.regroup:
            taken = {*dataset.X.columns, *groups}
            groups |= {f"{name} (group)" if name in taken else name: some for name, some in proposed.items()}
        else:
            others.append(one)
    if leaks and len(leaks) == dataset.X.width:
        raise InputError(
            '{leaks="drop"} would leave no factor: each contains the target ({names}). Use {leaks="warn"}, or other '
            "columns.",
            names=list_names([printable(name) for name in leaks]),
        )
    if leaks:
        dataset = dataset.without(leaks, leaks)
        others = [one for one in others if not leaks.keys() & {*one.columns, *one.sources}]
    if settings.regroup and groups:
        dataset = replace(dataset, column_options={**dataset.column_options, "factor_groups": groups})
    return dataset, others


def _named_by_user(dataset: "Dataset") -> set[str]:
    """Return the columns that the user named: they are neither left out nor grouped with others."""
    options = dataset.column_options
    grouped = [name for names in (options.get("factor_groups") or {}).values() for name in names]
    scale = options.get("scale")
    scaled = scale if isinstance(scale, Mapping) else ()
    return {*grouped, *(options.get("period") or ()), *(options.get("forced") or ()), *scaled}


def _compare_ranks(
    dataset: "Dataset", X: Any, settings: RankSettings, indices: "Indices", noticed: Sequence["Finding"]
) -> Iterator["Finding"]:
    """Yield the findings, with what the same factors explain of the ranks if few rows hold the variance."""
    import numpy as np
    import polars as pl

    from .results.formats import percent
    from .variance.conditional import open_variances

    for one in noticed:
        few = one.kind == "few rows" and settings.response_scale == "values" and indices.task == "regression"
        if not few or not indices.selected.size or indices.n_rows > ENOUGH_TO_SEE or len(dataset.target_names) > 1:
            yield one
            continue
        ranks = replace(settings, response_scale="ranks", checkpoint=None)
        table: tuple[Any, ...] = (X, dataset.y, dataset.weights, dataset.groups)
        if isinstance(X, pl.DataFrame) and len(X) > ENOUGH_FOR_RANKS:  # it is a remark, not the answer
            rows = np.random.default_rng(settings.seed).choice(len(X), ENOUGH_FOR_RANKS, replace=False)
            table = tuple(part if part is None else part[rows] for part in table)
        X_drawn, y, weights, groups = table
        with open_variances(X_drawn, y, ranks, weights, groups) as variances:
            left = variances.around(tuple(indices.selected.tolist())).of(tuple(indices.selected.tolist()))
            explained = max(1 - left / variances.response.variance, 0.0)
        of_ranks, of_values = percent(explained), percent(indices.r2_ceiling)
        by_ranks = f"The selected factors explain about {of_ranks} of the ranks, {of_values} of the values."
        yield replace(one, sentence=f"{one.sentence} {by_ranks}")


def _ask_when_known(indices: "Indices", noticed: Sequence["Finding"], settings: RankSettings) -> Iterator["Finding"]:
    """Yield the question whether the first factor is known in time, if it explains far more than all others."""
    from .findings.finding import Finding

    if settings.leaks == "keep" or indices.selected.size < 1 or len(indices.names) < 2 or indices.is_shapley:
        return
    first = int(indices.selected[0])
    name, lost, explained = indices.names[first], float(indices.values[first]), float(indices.r2_ceiling)
    leaking = {column for one in noticed if one.kind == "leak" for column in one.columns}
    numbers = {one.column for one in [*noticed, *indices.findings] if one.kind in ("units", "groups", "identifier")}
    if explained < EXPLAINS_ALL or lost < OF_ALL * explained or leaking.intersection(indices.names) or name in numbers:
        return
    target = list_names(indices.outputs)
    sentence = f"{name} explains far more than all others together. Is {name} known before {target}?"
    yield Finding("known", sentence, (name,), remedy={"drop": [name]})


def _try_normal_scores(dataset: "Dataset", X: Any, settings: RankSettings, indices: "Indices") -> tuple["Finding", ...]:
    """Report additional factors that the calibrated rule finds by the normal scores of a skewed response."""
    import polars as pl

    from .findings.finding import Finding
    from .selection.fitting import choose
    from .variance.conditional import open_variances

    if settings.rule != "calibrated" or settings.response_scale != "values" or indices.task != "regression":
        return ()
    if not isinstance(dataset.X, pl.DataFrame) or not isinstance(dataset.y, pl.Series):
        return ()
    if indices.support.all() or indices.n_rows > ENOUGH_TO_SEE or indices.r2_ceiling >= EXPLAINS_ALL:
        return ()
    y = dataset.y.cast(pl.Float64)
    skewness = y.skew()
    if (y <= 0).any() or skewness is None or not skewness >= SKEWED:
        return ()
    scores = replace(settings, response_scale="normal-scores", checkpoint=None, goal="explain", max_factors=1)
    found, entered = tuple(indices.selected.tolist()), True
    with open_variances(X, dataset.y, scores, dataset.weights, dataset.groups) as variances:
        while entered:  # one at a time, beside those that the values show: a tenth of a selection if none enters
            before = found
            found = choose(variances, replace(scores, forced=before or None))
            entered = len(found) > len(before)
    more = [indices.names[i] for i in found if not indices.support[i]]
    if not more:
        return ()
    few = "A few large values are most of the variance of the response. By its normal scores"
    return (
        Finding(
            "skewed", f"{few}, more factors show: {list_names([printable(name) for name in more])}.", count=len(more)
        ),
    )


def _describe_step(path: "Path") -> str:
    """Describe the last step of a path in a few words."""
    step = path.steps[-1]
    enters = step.phase == "forward" and bool(step.chosen)
    explained = float(step.explained.max()) if enters else step.base_explained
    share = f"{max(100 * explained / path.response_variance, 0):.0f} %"
    if not enters:
        return f"searching: {share} explained; checking that each of {len(step.base)} factors is needed"
    entered, left = printable(path.names[step.chosen[0]])[:24], len(step.candidates) - 1
    count = f"{len(step.base) + 1} factors explain" if step.base else "1 factor explains"
    return f"searching: + {entered}, {count} {share}; trying {left} more"


def _settings_used(settings: RankSettings, dataset: "Dataset") -> dict[str, Any]:
    """Return all parameters by name, with the values used in place of defaults that depend on others."""
    values = vars(settings) | dict(dataset.reading)
    alpha = settings.alpha if settings.rule == "calibrated" else None
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
