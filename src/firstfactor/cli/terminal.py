"""Result in the terminal: the data, the answer, the table of factors with its legend, and the files written."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .._utils.text import list_names, printable
from ..ranking import Ranking
from ..results.constants import LEVEL
from ..results.drivers import say_drivers
from ..results.indices import ranking_lines
from ..results.ranking_line import SHOWN, SMALL
from ..results.wording import (
    name_response,
    say_bias,
    say_ceiling,
    say_disagreement,
    say_kinds,
    say_no_evidence,
    say_no_p_values,
    say_no_shares,
    say_rest,
    say_rows_judged,
    say_weak,
)
from .screen import Screen
from .table import print_factors

if TYPE_CHECKING:
    from ..findings.finding import Finding
    from ..results.stability import Stability

# Maximum number of columns named in a sentence; output files list all of them.
MOST_NAMED = 4

# Maximum number of remarks about the table that are printed without --notes.
MOST_FINDINGS = 5


def print_result(screen: Screen, result: Ranking, all_notes: bool = False, model_score: float | None = None) -> None:
    """Print a summary of the data, the drivers of the response, the ceiling of any model, and the factors."""
    screen.print(*data_line(result))
    missing = missing_line(result)
    if missing:
        screen.print(missing)
    for remark in result.dataset.remarks:
        screen.print(("Note: ", "yellow"), printable(remark))
    for leak in say_leaks(result, all_notes):
        screen.print(("Leak: ", "bold red"), leak)
    screen.print()
    several = result.settings["response_scale"] != "values"
    screen.print((say_drivers(result.indices, response_name(result), several=several), "bold"))
    if result.indices.selected.size:
        screen.print(say_ceiling(result.indices, response_name(result)))
    if model_score is not None:
        screen.print(str(result.compare(model_score)))
    for doubt in doubts(result, all_notes):
        screen.print(("Note: ", "yellow"), doubt)
    screen.print()
    has_bars = print_factors(screen, result)
    for line in after_table(result, has_bars):
        screen.print(line)


def print_ending(screen: Screen, result: Ranking, written: dict[str, Any], seconds: Mapping[str, float]) -> None:
    """Print the files that were written, and the time of each part."""
    screen.print()
    for path in written.values():
        screen.print(f"Wrote {path}")
    if "plot" in written and (lacking := _lacking_characters(result)):
        listed = list_names([*lacking], most=10)
        screen.print(("Note: ", "yellow"), f"No installed font has {listed}; the picture shows boxes instead.")
    parts = ", ".join(f"{name} {time:.2f}" for name, time in seconds.items())
    screen.print((f"Time: {sum(seconds.values()):.2f} s ({parts})", "dim"))


def _lacking_characters(result: Ranking) -> str:
    """Return the characters in names of factors that no installed font has."""
    from ..plots.axes import find_fallback

    return find_fallback(result.indices.names).lacking


def response_name(result: Ranking) -> str:
    """Return the name of the response that is explained."""
    names = [printable(name) for name in result.dataset.target_names]
    name = list_names(names) + (" (standardised, summed)" if len(names) > 1 else "")
    return name_response(name, result.settings["response_scale"])


def data_line(result: Ranking) -> list[str | tuple[str, str]]:
    """Return the line on the data that were analysed, and on what was left out and why."""
    data, indices = result.dataset, result.indices
    rows = f"{len(data.y):,} rows"
    if data.n_drawn is not None:
        rows += f" drawn from {data.n_read:,}"
    if data.dropped.no_target:
        without = printable(list_names(data.target_names, "or"))
        rows += f" ({data.dropped.no_target:,} without {without} dropped)"
    if data.dropped.incomplete:
        rows += f" ({data.dropped.incomplete:,} with missing values dropped: {_name_counts(data.dropped.costs)})"
    if data.n_copies:
        rows += f" ({data.n_copies:,} copies of others dropped)"
    if result.settings["split"]:
        rows += f" (one half to select on, {indices.n_rows:,} to estimate on)"
    if data.weights is not None:
        rows += f" weighted by {printable(data.weights.name)}"
    if data.groups is not None:
        rows += f" in {data.groups.n_unique():,} groups by {printable(data.groups.name)}"
    count = len(indices.names)
    line: list[str | tuple[str, str]] = [
        f"{printable(data.shown)}: {rows}, {count} factor{'s' if count > 1 else ''} ({say_kinds(indices)}); "
        f"{_say_role(result)}."
    ]
    if data.left_out:
        reasons = [f"{printable(name)} ({why})" for name, why in data.left_out.items()]
        line += [" ", (f"Left out: {list_names(reasons, most=MOST_NAMED)}.", "yellow")]
    return line


def _say_role(result: Ranking) -> str:
    """Return a description of the response."""
    name = printable(list_names(result.dataset.target_names))
    n_classes = len(result.classes)
    if n_classes:
        return f"{name} has {'two' if n_classes == 2 else f'{n_classes:,}'} classes"
    return f"{name} is numeric" if len(result.dataset.target_names) == 1 else f"{name} are explained together"


def missing_line(result: Ranking) -> str:
    """Return the line on missing values of factors and their treatment; empty if there are none."""
    indices = result.indices
    parts = result.dataset.date_parts  # missing wherever their dates are
    counts = [
        (name, count) for name, count in zip(indices.names, indices.missing, strict=True) if count and name not in parts
    ]
    if not counts:
        return ""
    counts.sort(key=lambda each: -each[1])
    return f"Missing values: {_name_counts(counts)} ({'each ' if len(counts) > 1 else ''}a level of its own)."


def _name_counts(counts: Sequence[tuple[str, int]]) -> str:
    """Return the first columns with their counts, and the number of others."""
    return list_names([f"{printable(name)} {count:,}" for name, count in counts], most=MOST_NAMED)


def say_leaks(result: Ranking, all_notes: bool = False) -> list[str]:
    """Return the sentences on columns that contain the target, which are read before the answer."""
    return [printable(one.command_advice) for one in _shown(result, all_notes) if one.kind == "leak"]


def _shown(result: Ranking, all_notes: bool) -> Sequence["Finding"]:
    """Return the findings to print: all, or the gravest."""
    return result.findings if all_notes else result.findings[:MOST_FINDINGS]


def doubts(result: Ranking, all_notes: bool = False) -> Iterator[str]:
    """Return the sentences on why the estimates may be off."""
    indices, shown = result.indices, _shown(result, all_notes)
    yield from (printable(one.command_advice) for one in shown if one.kind != "leak")
    more = len(result.findings) - len(shown)
    if more:
        yield f"{more} more remark{'s' if more > 1 else ''} about the table: --notes."
    too_few = indices.sample_size.sentence
    if too_few:
        yield f"{too_few} Use {'' if indices.path is not None else '--method first, fewer factors or '}more rows."
    for doubt in (
        say_no_evidence(indices),
        say_bias(indices, "Try --variance-estimator adaptive."),
        say_no_shares(indices),
    ):
        if doubt:
            yield doubt


def after_table(result: Ranking, has_bars: bool) -> Iterator[str]:
    """Return the lines below the table: the meaning of its columns, and a comparison with the true factors if known."""
    legend = [*_legend(result, has_bars)]
    if legend:
        yield ""
        yield from legend
    if result.dataset.true_factors:
        yield ""
        yield _verdict(result)


def _legend(result: Ranking, has_bars: bool) -> Iterator[str]:
    """Return the sentences on the meaning of the columns."""
    indices = result.indices
    if indices.selected.size:
        solid, pale = (" (█)", " (░)") if has_bars else ("", "")
        by_itself = f", explained by it alone{pale}" if indices.sharing is not None else ""
        what = "the factor's fair share" if indices.is_shapley else "lost without the factor"
        yield f"Of what is explained: {what}{solid}{by_itself}."
    if indices.uncertainty is None:
        yield result.why_no_intervals
    elif indices.selected.size:
        known = any(each.interval_text for line in ranking_lines(indices) for each in (line, *line.members))
        p_values = "p: probability of such an effect if the factor adds nothing" if indices.has_p_values else ""
        columns = [f"{100 * LEVEL:g} % intervals (chance and bias)"] * known + [p_values] * bool(p_values)
        if columns:
            yield f"{'; '.join(columns)}."
    if indices.forced:
        yield "* always in; the others are tested given these."
    small = [line.names[0] for line in ranking_lines(indices) if line.is_small]
    if small:
        yield f"0.000 with p < {SHOWN:g}: {list_names(small, most=MOST_NAMED)}, {SMALL} with others."
    if indices.weak.any():
        yield f"? weak: {say_weak(indices)}."
    for sentence in (say_no_p_values(indices), say_disagreement(indices), say_rest(indices), say_rows_judged(indices)):
        if sentence:
            yield sentence
    if result.stability is not None:
        yield _stability_sentence(result.stability)


def _stability_sentence(found: "Stability") -> str:
    """Return the sentence on the column of frequencies, with a bound on false selections."""
    often = found.selected.size
    sentence = f"halves: selection frequency on {2 * found.n_pairs:,} random half-samples"
    if not often:
        return f"{sentence}; none reaches {found.threshold:.2g}."
    if found.expected_false >= often:
        return f"{sentence}; with so few factors, there is no bound on false selections."
    bound = f"{found.expected_false:.2g}"
    return f"{sentence}; of {often} that reach {found.threshold:.2g}, at most {bound} are expected to be false."


def _verdict(result: Ranking) -> str:
    """Return the sentence that compares the factors found with the true ones."""
    true = result.dataset.true_factors
    chosen = {result.indices.names[i] for i in result.indices.selected}
    missed, wrong = [n for n in true if n not in chosen], sorted(chosen - set(true))
    verdict = "all found" if not missed else f"{', '.join(missed)} missed"
    verdict += f", {', '.join(wrong)} selected too" if wrong else ", and no others"
    is_one = len(true) == 1
    return f"The true factor{' is' if is_one else 's are'} {list_names(true, most=len(true))}: {verdict}."
