"""What the page of a result shows, as plain values by name."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from .._utils.optional import versions
from .._utils.text import list_names, printable
from ..data.observations import Observations
from ..parameters import Options
from ..plots.original_data import AnalysedTable
from ..results.drivers import say_drivers
from ..results.formats import format_importance, format_number, unbroken
from ..results.indices import Indices, indices_of
from ..results.wording import (
    LEVEL,
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
    share_name,
)
from .data_summary import describe_data, read_data
from .page_figures import draw_figures
from .rows import driver_rows, explain, other_factors
from .settings import describe_settings, say_whether_repeatable, without_addresses
from .source import today

if TYPE_CHECKING:
    from ..results.stability import Stability

# What a reader can take in; the page says how many more there are.
MOST_SHOWN, MOST_FOLDED, MOST_LEFT_OUT, MOST_MEMBERS, MOST_OFTEN = 25, 75, 100, 60, 30


def gather(
    result: Any,
    X: Any,
    y: Any,
    *,
    title: str | None,
    call: str | None,
    notes: Iterable[str],
    settings: Mapping[str, Any] | None,
    stability: "Stability | None",
    source: Mapping[str, str],
    options: Options | None,
    sample_weight: Any,
    groups: Any,
    observed: Observations | None,
) -> dict[str, Any]:
    """Everything that the page shows, as plain values by name."""
    indices = indices_of(result)
    _refuse_mismatch(indices, X, y, stability)
    if result is not indices:  # a FIRST, which knows how it was called
        settings = result.get_params() if settings is None else settings
        options = result.parameters()[0] if options is None else options
        call = without_addresses(f"{result.__repr__(N_CHAR_MAX=10_000)}.fit(X, y)") if call is None else call
    data = None
    if X is not None:
        data = read_data(AnalysedTable(X, y, indices, options, sample_weight, groups, observed))
    names = list_names([printable(name) for name in indices.outputs])
    response = name_response(names, (settings or {}).get("response", "values"))
    n_rows = len(data.target.values) if data else indices.n_rows
    return {
        "title": title or f"What drives {names}?",
        "answer": unbroken(say_drivers(indices, response, several=response != names)),
        "response": names,
        "measure": measure(indices),
        "response_kind": _describe_response(indices),
        "response_variance": format_number(indices.response_variance),
        "missing": say_missing(indices),
        "forced": list_names([printable(indices.names[i]) for i in indices.forced]),
        "indices": indices,
        "ceiling": indices.r2_ceiling,
        "ceiling_sentence": unbroken(say_ceiling(indices, response)),
        "n_rows": n_rows,
        "n_columns": sum(map(len, indices.members)) + len(indices.outputs),
        "source": {
            **{"name": "", "size": "", "sha256": "", "date": today()},
            **{key: printable(value) for key, value in source.items()},
        },
        "split": indices.path is not None and indices.path.rows_apart > 0,
        **_evidence(indices),
        **_chart(indices, stability),
        "stability": stability and describe_stability(stability),
        "kinds": say_kinds(indices),
        "data": None if data is None else describe_data(data, indices),
        "figures": draw_figures(indices, data, stability),
        "notes": [printable(note) for note in notes],
        "call": call,
        "settings": describe_settings(settings or {}),
        "repeatable": say_whether_repeatable(settings),
        "versions": versions(),
    }


def _refuse_mismatch(indices: Indices, X: Any, y: Any, stability: "Stability | None") -> None:
    if (X is None) != (y is None):
        raise ValueError("X and y must be given together; got only one of them. Use report(path, X, y).")
    if stability is not None and stability.names != indices.names:
        raise ValueError("stability must be of the same factors as the result; got others. Use the same X for both.")


def _describe_response(indices: Indices) -> str:
    """What kind of response it is, in words."""
    if len(indices.outputs) > 1:
        return f"{len(indices.outputs)} outputs, standardised and explained together"
    if indices.classes:
        return f"one of {'two' if len(indices.classes) == 2 else f'{len(indices.classes):,}'} classes"
    return "a quantity"


def _chart(indices: Indices, stability: "Stability | None") -> dict[str, Any]:
    """The rows of the chart, those that are folded away, and what is said about factors in no row."""
    rows = driver_rows(indices, stability)
    shown = rows[:MOST_SHOWN] if len(rows) > MOST_SHOWN + 5 else rows  # for a few more, nobody wants to unfold
    folded = rows[len(shown) : len(shown) + MOST_FOLDED]
    close, others = other_factors(indices)
    return {
        "rows": shown,
        "folded": folded,
        "more_rows": len(rows) - len(shown) - len(folded),
        "folded_most": format_importance(folded[0].lost) if folded else "",
        "most_members": MOST_MEMBERS,
        "share_name": share_name(indices),
        "has_alone": indices.sharing is not None and bool(rows),
        "has_intervals": any(each.interval_text for row in rows for each in (row, *row.members)),
        "has_clusters": any(row.members for row in rows),
        "has_dashes": any(not member.selected for row in rows for member in row.members),
        "close": [explain(indices, i) for i in close[:MOST_LEFT_OUT]],
        "more_close": max(len(close) - MOST_LEFT_OUT, 0),
        "others": [explain(indices, i) for i in others[:MOST_LEFT_OUT]],
        "more_others": max(len(others) - MOST_LEFT_OUT, 0),
    }


def _evidence(indices: Indices) -> dict[str, Any]:
    """How sure the result is, and what makes it doubtful."""
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
        "findings": [printable(finding.advice) for finding in indices.findings],
        "too_few_rows": indices.sample_size.sentence,
        "bias": say_bias(indices, "The estimator “adaptive” has less bias."),
        "no_shares": say_no_shares(indices),
        "disagreement": say_disagreement(indices),
        "rest": say_rest(indices),
        "rows_judged": say_rows_judged(indices),
    }


def describe_stability(found: "Stability") -> dict[str, Any]:
    """What the page says about halves of the rows."""
    return {
        "halves": 2 * found.n_pairs,
        "often": _were([printable(found.names[i]) for i in found.selected]),
        "threshold": f"{100 * found.threshold:g}",
        "average_size": f"{found.average_size:.2g}",
        "expected_false": f"{found.expected_false:.2g}" if found.expected_false < found.selected.size else "",
    }


def _were(names: list[str]) -> str:
    """Some names and a verb, the beginning of a sentence; nothing for none."""
    named = names[:MOST_OFTEN] if len(names) > MOST_OFTEN else names[:-1]
    last = f"{len(names) - len(named):,} more" if len(names) > MOST_OFTEN else names[-1] if names else ""
    listed = f"{', '.join(named)} and {last}" if named else last
    return listed and f"{listed} {'was' if len(names) == 1 else 'were'}"
