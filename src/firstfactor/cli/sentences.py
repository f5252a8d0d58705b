"""Sentences around the table: the data, reasons why estimates may be off, and the meaning of the columns."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .._utils.text import list_names, printable
from ..ranking import Ranking
from ..results.wording import (
    LEVEL,
    intervals,
    name_response,
    say_bias,
    say_disagreement,
    say_kinds,
    say_no_evidence,
    say_no_p_values,
    say_no_shares,
    say_rest,
    say_rows_judged,
    say_weak,
)

if TYPE_CHECKING:
    from ..results.stability import Stability

# Maximum number of columns named in a sentence; output files list all of them.
MOST_NAMED = 4


def response_name(result: Ranking) -> str:
    """Return the name of the response that is explained."""
    names = [printable(name) for name in result.dataset.target_names]
    name = list_names(names) + (" (standardised, summed)" if len(names) > 1 else "")
    return name_response(name, result.settings["response"])


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
        line += [" ", (f"Left out: {_name_some(data.left_out)}.", "yellow")]
    return line


def _say_role(result: Ranking) -> str:
    """Return a description of the response."""
    name = printable(list_names(result.dataset.target_names))
    n_classes = len(result.classes)
    if n_classes:
        return f"{name} has {'two' if n_classes == 2 else f'{n_classes:,}'} classes"
    return f"{name} is a quantity" if len(result.dataset.target_names) == 1 else f"{name} are explained together"


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
    """Format the first columns with their counts, and the number of others."""
    named = [f"{printable(name)} {count:,}" for name, count in counts[:MOST_NAMED]]
    more = len(counts) - len(named)
    return ", ".join(named) + (f" and {more:,} more column{'s' if more > 1 else ''}" if more else "")


def _name_some(reasons: dict[str, str]) -> str:
    """Format the first columns with the reason why each was left out, and the number of others."""
    named = [f"{printable(name)} ({why})" for name, why in list(reasons.items())[:MOST_NAMED]]
    more = len(reasons) - len(named)
    return ", ".join(named) + (f" and {more} more columns" if more else "")


def doubts(result: Ranking) -> Iterator[str]:
    """Return the sentences on why the estimates may be off."""
    indices = result.indices
    for finding in indices.findings:
        yield printable(finding.command_advice)
    too_few = indices.sample_size.sentence
    if too_few:
        yield f"{too_few} Use {'' if indices.path is not None else '--method first, fewer factors or '}more rows."
    for doubt in (
        say_no_evidence(indices),
        say_bias(indices, "Try --estimator adaptive."),
        say_no_shares(indices),
    ):
        if doubt:
            yield doubt


def after_table(result: Ranking) -> Iterator[str]:
    """Return the lines below the table: the meaning of its columns, and a comparison with the true factors if known."""
    legend = [*_legend(result)]
    if legend:
        yield ""
        yield from legend
    if result.dataset.true_factors:
        yield ""
        yield _verdict(result)


def _legend(result: Ranking) -> Iterator[str]:
    """Return the sentences on the meaning of the columns."""
    indices = result.indices
    if indices.selected.size:
        by_itself = ", explained by it alone (░)" if indices.sharing is not None else ""
        what = "the factor's fair share" if indices.is_shapley else "lost without the factor"
        yield f"Of what is explained: {what} (█){by_itself}."
    if indices.uncertainty is None:
        yield result.why_no_intervals
    elif indices.selected.size:
        known = not np.isnan(intervals(indices)).all()
        p_values = "p: probability of such an effect if the factor adds nothing" if indices.has_p_values else ""
        said = [f"{100 * LEVEL:g} % intervals (chance and bias)"] * known + [p_values] * bool(p_values)
        if said:
            yield f"{'; '.join(said)}."
    if indices.forced:
        yield "* always in; all others are judged given these."
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
    sentence = f"halves: how often selected on {2 * found.n_pairs:,} random halves of the rows"
    if not often:
        return f"{sentence}; none in {found.threshold:.0%} or more.".replace("%", " %")
    if found.expected_false >= often:
        return f"{sentence}; with so few factors, there is no bound on how many by luck."
    bound = f"{found.expected_false:.2g}"
    return f"{sentence}; of {often} in {100 * found.threshold:g} % or more, at most {bound} are expected there by luck."


def _verdict(result: Ranking) -> str:
    """Return the sentence that compares the factors found with the true ones."""
    true = result.dataset.true_factors
    chosen = {result.indices.names[i] for i in result.indices.selected}
    missed, wrong = [n for n in true if n not in chosen], sorted(chosen - set(true))
    verdict = "all found" if not missed else f"{', '.join(missed)} missed"
    verdict += f", {', '.join(wrong)} selected too" if wrong else ", and no others"
    return f"{result.dataset.response_name} truly depends on {', '.join(true)}: {verdict}."
