"""Result as one page to send to a colleague: what it shows as plain values by name, and the file."""

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from datetime import UTC, date, datetime
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from .._utils.atomic_write import write_whole
from .._utils.checks import is_integer
from .._utils.packages import versions
from .._utils.text import list_names, printable
from ..data.observations import Observations
from ..findings.finding import in_order
from ..plots.original_data import AnalysedTable
from ..results.comparison import compare
from ..results.constants import LEVEL
from ..results.drivers import say_drivers
from ..results.explanations import explain_factor
from ..results.formats import format_number, unbroken
from ..results.indices import Indices, indices_of, ranking_lines
from ..results.ranking_line import RankingLine
from ..results.sharing import Tree
from ..results.stability import Stability
from ..results.wording import (
    importance_words,
    is_calibrated,
    is_untested,
    measure,
    name_response,
    r2_range,
    say_bias,
    say_ceiling,
    say_disagreement,
    say_kinds,
    say_missing,
    say_no_evidence,
    say_no_p_values,
    say_no_shares,
    say_rest,
    say_rows_judged,
    say_weak,
)
from ..settings import Options
from .data_summary import brief, describe_data, read_data
from .figures import Branch, draw_branches, draw_figures
from .page import render

# Maximum numbers of entries that are shown; the page says how many more there are.
MOST_SHOWN, MOST_FOLDED, MOST_LEFT_OUT, MOST_MEMBERS, MOST_OFTEN = 25, 75, 100, 60, 30
MOST_FINDINGS, MOST_NAMED = 5, 4

# A ceiling that is below this share for certain is that of the factors, not of the models.
HALF = 0.5

# Number of characters of a digest that are shown, enough to identify a file.
DIGEST_LENGTH = 16

# Bytes of a file that are read at a time.
PIECE = 1 << 20

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


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
    stability: Stability | None = None,
    source: Mapping[str, str] | None = None,
    options: Options | None = None,
    sample_weight: Any = None,
    groups: Any = None,
    observed: Observations | None = None,
    without: Indices | None = None,
    model_score: float | None = None,
    sensitive: bool = False,
) -> None:
    """Write a result as one self-contained HTML page, which needs no network.

    If the browser allows scripts, rows can be sorted. The page is written completely or not at all, and the same input
    gives the same bytes on the same day.

    Parameters
    ----------
    result : FIRST or Indices
        A fitted `FIRST`, or the result of `total_indices` or `backward_elimination`.
    path : path
        File to write.
    X, y : array-like, optional
        Data that were analysed, for the sections on effects and on the data.
    title : str, optional
        Title of the page. Default: the question that it answers.
    call : str, optional
        Command or call that repeats the analysis. Default: that of the given `FIRST`.
    notes : iterable of str
        Sentences on how the data were prepared, such as on rows that were dropped.
    settings : mapping, optional
        Parameters and their values. Default: those of the given `FIRST`.
    stability : Stability, optional
        Result of `firstfactor.stability` for the same table.
    source : mapping of str to str, optional
        Description of the table, as returned by `describe_file` and `describe_table`: ``name``, ``size`` and
        ``sha256``, and ``date`` if it is not today.
    options : Options, optional
        Parameters of the encoding and of the variance estimation, needed for effects with the other factors held
        fixed. Default: those of the given `FIRST`.
    sample_weight, groups : array-like of shape (rows,), optional
        As passed to `fit`, also for these effects.
    observed : Observations, optional
        Encoded rows of the analysis. Default: X is encoded again.
    without : Indices, optional
        Result for the same table without the columns that contain the target.
    model_score : float, optional
        R² of a model on new rows, to compare with the ceiling; for classes, that of its probabilities.
    sensitive : bool, default False
        Whether to show nothing of single rows: bins instead of dots, ranges without their ends, no names of rare
        levels, and no positions of rows.
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
        without=without,
        model_score=model_score,
        sensitive=sensitive,
    )
    text = render(page)
    write_whole(path, lambda file: file.write(text.encode("utf-8", errors="replace")))


def gather(
    result: Any,
    X: Any,
    y: Any,
    *,
    title: str | None,
    call: str | None,
    notes: Iterable[str],
    settings: Mapping[str, Any] | None,
    stability: Stability | None,
    source: Mapping[str, str],
    options: Options | None,
    sample_weight: Any,
    groups: Any,
    observed: Observations | None,
    without: Indices | None = None,
    model_score: float | None = None,
    sensitive: bool = False,
) -> dict[str, Any]:
    """Return everything that the page shows, as plain values by name."""
    indices = indices_of(result)
    _refuse_mismatch(indices, X, y, stability)
    if result is not indices:  # a FIRST, which has its parameters
        settings = result._params_used() if settings is None else settings
        options = indices.procedure if options is None else options
        call = without_addresses(result._call()) if call is None else call
    data = None
    if X is not None:
        data = read_data(AnalysedTable(X, y, indices, options, sample_weight, groups, observed), sensitive)
    names = list_names([printable(name) for name in indices.outputs])
    how = (settings or {}).get("response_scale", "values")
    response = name_response(names, how)
    n_rows = len(data.target.values) if data else indices.n_rows
    return {
        "title": title or f"What {'does' if len(indices.outputs) == 1 else 'do'} {names} depend on?",
        "answer": unbroken(say_drivers(indices, response, several=response != names)),
        "response": names,
        "measure": measure(indices),
        "response_kind": _describe_response(indices),
        "response_variance": format_number(indices.response_variance),
        "missing": say_missing(indices),
        "forced": list_names([printable(indices.names[i]) for i in indices.forced]),
        "indices": indices,
        "ceiling": indices.r2_ceiling,
        "model": None if model_score is None else compare(indices, model_score, how),
        "how": _say_how(indices),
        "next_step": _say_next(indices, names),
        "ceiling_sentence": unbroken(say_ceiling(indices, response)),
        "n_rows": n_rows,
        "n_columns": sum(map(len, indices.members)) + len(indices.outputs),
        "source": {
            **{"name": "", "size": "", "sha256": "", "date": today()},
            **{key: printable(value) for key, value in source.items()},
        },
        "split": indices.path is not None and indices.path.n_selection_rows > 0,
        **_evidence(indices),
        "sensitive": sensitive,
        **_list_findings(indices, sensitive, is_command=(call or "").startswith("firstfactor ")),
        "without": without and _rank_without(indices, without, response, several=response != names),
        **_chart(indices, stability),
        "stability": stability and describe_stability(stability),
        "kinds": say_kinds(indices),
        "data": None if data is None else describe_data(data, indices),
        "figures": draw_figures(indices, data, stability),
        "notes": [without_values(printable(note)) if sensitive else printable(note) for note in notes],
        "call": call,
        "settings": describe_settings(settings or {}),
        "repeatable": say_whether_repeatable(settings),
        "versions": versions(),
    }


def _refuse_mismatch(indices: Indices, X: Any, y: Any, stability: Stability | None) -> None:
    if (X is None) != (y is None):
        raise ValueError("X and y must be given together; got only one of them. Use report(path, X, y).")
    if stability is not None and stability.names != indices.names:
        raise ValueError("stability must be of the same factors as the result; got others. Use the same X for both.")


def _describe_response(indices: Indices) -> str:
    """Return the kind of the response, in words."""
    if len(indices.outputs) > 1:
        return f"{len(indices.outputs)} outputs, standardised and explained together"
    if indices.classes:
        return f"one of {'two' if len(indices.classes) == 2 else f'{len(indices.classes):,}'} classes"
    return "numeric"


def _say_how(indices: Indices) -> str:
    """Return the sentence on how the rows are used, which is true of the estimator."""
    match indices.estimator:
        case "nearest":
            return "Each row is compared with those nearest to it; no model is fitted."
        case "extrapolated":
            return "Local linear functions are fitted to each row and those nearest to it."
    return "Smooth functions of the factors are fitted to all rows, and their residuals compared with those nearby."


def _say_next(indices: Indices, response: str) -> str:
    """Return the sentences on what to do with the result; empty if it has no interval."""
    ends = None if is_untested(indices) or indices.estimator == "nearest" else r2_range(indices)
    if ends is None or not indices.has_shares:
        return ""
    low, high = ends
    first = list_names([line.names[0] for line in indices.drivers], most=MOST_NAMED)
    selected = {indices.names[i] for i in indices.selected}
    leaks = [name for one in indices.findings if one.kind == "leak" for name in one.columns if name in selected]
    if leaks:
        names, it = list_names([printable(name) for name in dict.fromkeys(leaks)], most=MOST_NAMED), "it is"
        todo = f"Train a model without {names}, unless {it if len(leaks) == 1 else 'they are'} known before {response}."
    elif high < HALF:
        todo = "Other models cannot help much: to explain more, measure other factors, or measure these more exactly."
    elif low > 1 - HALF / 2:
        todo = f"Train a model of {first}; it should come close to this bar."
    else:
        todo = f"Train a model of {first}, and compare its R² on new rows with this bar."
    return f"{todo} Whether a change of a factor would change {response} takes an experiment."


def _chart(indices: Indices, stability: Stability | None) -> dict[str, Any]:
    """Return the rows of the chart, those that are folded away, and the sentences on factors in no row."""
    lines = ranking_lines(indices, stability)
    rows = [line for line in lines if line.rank is not None]
    others = [(line.is_substitute, _explain(indices, line)) for line in lines[len(rows) :]]
    substitutes, left_out = ([sentence for kind, sentence in others if kind == wanted] for wanted in (True, False))
    shown = rows[:MOST_SHOWN] if len(rows) > MOST_SHOWN + 5 else rows  # a few more are not worth unfolding
    folded = rows[len(shown) : len(shown) + MOST_FOLDED]
    tree = None if indices.sharing is None else indices.sharing.tree
    members = [member for row in rows for member in row.members]
    return {
        "rows": shown,
        "folded": folded,
        "more_rows": len(rows) - len(shown) - len(folded),
        "folded_most": folded[0].importance_text if folded else "",
        "members": {row.factors: _members(row, tree) for row in rows if row.members},
        "most_members": MOST_MEMBERS,
        "words": importance_words(indices),
        "has_alone": indices.sharing is not None and bool(rows),
        "has_intervals": any(line.interval_text for line in (*rows, *members)),
        "has_clusters": bool(members),
        "has_dashes": not all(member.selected for member in members),
        "close": substitutes[:MOST_LEFT_OUT],
        "more_close": max(len(substitutes) - MOST_LEFT_OUT, 0),
        "others": left_out[:MOST_LEFT_OUT],
        "more_others": max(len(left_out) - MOST_LEFT_OUT, 0),
    }


def _explain(indices: Indices, line: RankingLine) -> str:
    """Return the sentence on a factor that is in no row, with the name of its line."""
    (i,) = line.factors
    return line.name + explain_factor(indices, i)[1].removeprefix(printable(indices.names[i]))


def _members(row: RankingLine, tree: Tree | None) -> list[tuple[RankingLine, tuple[Branch, ...]]]:
    """Return the members of a cluster in the order of the tree, each with the branches beside it."""
    order, branches = draw_branches(tree, row.factors)
    member_of = {member.factors[0]: member for member in row.members}
    return [(member_of[i], branches[i]) for i in order]


def _evidence(indices: Indices) -> dict[str, Any]:
    """Return the uncertainty of the result, and the reasons why it may be misleading."""
    return {
        "sure": indices.uncertainty is not None and indices.selected.size > 0,
        "level": f"{100 * LEVEL:g}",
        "has_p": indices.has_p_values,
        "weak": say_weak(indices),
        "n_weak": int(indices.weak.sum()),
        "ceiling_interval": None if indices.estimator == "nearest" else r2_range(indices),
        "calibrated": is_calibrated(indices),
        "for_prediction": bool(indices.for_prediction),
        "untested": is_untested(indices),
        "no_evidence": say_no_evidence(indices),
        "no_p_values": say_no_p_values(indices),
        "too_few_rows": indices.sample_size.sentence,
        "bias": say_bias(indices, "The estimator “adaptive” has less bias."),
        "no_shares": say_no_shares(indices),
        "disagreement": say_disagreement(indices),
        "rest": say_rest(indices),
        "rows_judged": say_rows_judged(indices),
    }


def _list_findings(indices: Indices, sensitive: bool, is_command: bool) -> dict[str, Any]:
    """Return what there is to notice about the table, each as a sentence with the code that mends it between its parts.

    Leaks are read before the answer; of all remarks, the gravest are shown and the others folded away.
    """
    told = []
    for one in in_order(indices.findings):
        advice, code = (one.command_advice, one.command) if is_command else (one.advice, one.python)
        advice, code = without_rows(printable(advice)) if sensitive else printable(advice), printable(code)
        before, code, after = advice.rpartition(code) if code else (advice, "", "")
        told.append((one.kind == "leak", (before, code, after if after != "." else "")))  # no point to copy with it
    shown, folded = told[:MOST_FINDINGS], told[MOST_FINDINGS:]
    return {
        "leaks": [parts for is_leak, parts in shown if is_leak],
        "findings": [parts for is_leak, parts in shown if not is_leak],
        "more_findings": [parts for _, parts in folded],
    }


def _rank_without(indices: Indices, without: Indices, response: str, *, several: bool) -> dict[str, Any]:
    """Return the answer and the chart of the ranking without the columns that contain the target."""
    left = [printable(name) for name in indices.names if name not in without.names]
    return {
        "names": list_names(left, most=MOST_NAMED),
        "answer": unbroken(say_drivers(without, response, several=several)),
        "ceiling_sentence": unbroken(say_ceiling(without, response)) if without.selected.size else "",
        "indices": without,
        "sure": without.uncertainty is not None and without.selected.size > 0,
        "has_p": without.has_p_values,
        "stability": None,
        **_chart(without, None),
    }


def describe_stability(found: Stability) -> dict[str, Any]:
    """Return the results of selections on random half-samples."""
    return {
        "halves": 2 * found.n_pairs,
        "often": list_names([printable(found.names[i]) for i in found.selected], most=MOST_OFTEN),
        "n_often": found.selected.size,
        "threshold": f"{100 * found.threshold:g}",
        "average_size": f"{found.average_size:.2g}",
        "expected_false": f"{found.expected_false:.2g}" if found.expected_false < found.selected.size else "",
    }


# --- settings -------------------------------------------------------------------------------------------------------


def describe_settings(settings: Mapping[str, Any]) -> dict[str, str]:
    """Return names and values of the parameters that are set."""
    return {
        printable(name): _describe_setting(value)
        for name, value in settings.items()
        if value is not None and not (isinstance(value, Sized) and len(value) == 0)
    }


def _describe_setting(value: Any) -> str:
    """Return a value in plain words that are the same in every run: without addresses, and long arrays shortened."""
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


def without_rows(text: str) -> str:
    """Remove positions of single rows from a sentence."""
    return re.sub(r"\bRow \d[\d,]*", "One row", re.sub(r" \(rows \d[^)]*\)", "", text))


def without_values(note: str) -> str:
    """Remove the details of a note, after a colon, which may be values of single rows."""
    return note.partition(": ")[0].rstrip(".") + "."


def without_addresses(text: str) -> str:
    """Remove addresses, which differ from run to run, from the text of `repr`."""
    return re.sub(r" at 0x[0-9A-Fa-f]+", "", text)


def say_whether_repeatable(settings: Mapping[str, Any] | None) -> str:
    """Return the sentence on whether a repeat gives the same result; empty if the settings are unknown."""
    if settings is None:
        return ""
    if settings.get("split") or not all(settings.get(name) is None for name in ("n_outer", "sample")):
        drawn = "Rows were drawn at random"
    elif settings.get("rule") == "calibrated":
        drawn = "Null distributions were simulated"
    else:
        return "Nothing is random: the same data give the same result."
    seed = settings.get("random_state", settings.get("seed"))
    if seed is None:
        return f"{drawn} without a seed: a repeat will differ slightly."
    if not is_integer(seed):
        return f"{drawn}: a repeat needs the same generator in the same state."
    return f"{drawn}. Random seed: {seed}; a repeat with it gives the same result."


# --- source ---------------------------------------------------------------------------------------------------------


def describe_file(path: str | os.PathLike[str]) -> dict[str, str]:
    """Return the name, size and digest of a file, for `write_report`."""
    path = Path(path)
    return {"name": path.name, "size": say_size(path.stat().st_size), "sha256": _digest(_pieces(path))}


def describe_files(paths: Sequence[str], name: str) -> dict[str, str]:
    """Return a name, the total size and the joint digest of several files that are one table."""
    if len(paths) == 1:
        return describe_file(paths[0])
    files = [Path(path) for path in paths]
    size = sum(path.stat().st_size for path in files)
    return {"name": name, "size": say_size(size), "sha256": _digest(chain.from_iterable(map(_pieces, files)))}


def describe_table(X: Any, y: Any, name: str = "") -> dict[str, str]:
    """Return the name and digest of a polars table with its response, for `write_report`.

    The digest is that of the table as a CSV file with the response as its last column or columns.
    """
    table = X.hstack([y] if len(y.shape) == 1 else y.get_columns())
    return {**({"name": name} if name else {}), "sha256": _digest([table.write_csv().encode()])}


def today() -> str:
    """Return the date in words: today, or that of SOURCE_DATE_EPOCH, the variable for reproducible builds."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    try:
        day = datetime.fromtimestamp(int(epoch), UTC).date() if epoch else date.today()
    except (ValueError, OverflowError, OSError) as error:
        raise ValueError(
            "SOURCE_DATE_EPOCH must be the number of seconds from 1970 to a date before the year 10,000; got "
            f"{epoch[:40]!r}. Unset it for today's date."
        ) from error
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def say_size(size: float) -> str:
    """Return a number of bytes in words."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 999.5 or unit == "GB":
            break
        size /= 1000
    return f"{size:.0f} {unit}" if unit == "bytes" or size >= 99.5 else f"{size:.2g} {unit}"


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            yield piece


def _digest(pieces: Any) -> str:
    """Return the first characters of the SHA-256 of some bytes."""
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()[:DIGEST_LENGTH]
