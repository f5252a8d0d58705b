"""All that is said of a ranking in words, once for the terminal, for `repr` and for notebooks; and its text."""

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .._utils.text import list_names, printable
from ..results.constants import LEVEL
from ..results.drivers import say_drivers
from ..results.formats import draw_bar, unbroken
from ..results.indices import Indices, ranking_lines
from ..results.ranking_line import SHOWN, SMALL, RankingLine
from ..results.wording import (
    importance_words,
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
from .export import Exported

if TYPE_CHECKING:
    from ..results.stability import Stability

# Maximum number of columns named in a sentence; output files list all of them.
MOST_NAMED = 4

# Maximum number of remarks about the table unless all are wanted.
MOST_FINDINGS = 5

# Maximum number of factors in the table: drivers, members of one cluster, and those left out.
MOST_DRIVERS, MOST_MEMBERS, MOST_LEFT_OUT = 30, 8, 4

# Width of text and of its bars, in characters.
WIDTH, LONGEST_BAR = 100, 20


@dataclass(frozen=True, kw_only=True)
class Summary:
    """Sentences on a ranking, in the order in which they are read."""

    data: str
    """The rows and factors that were analysed, and the response."""
    left_out: str
    """Columns that were left out, with reasons; empty if there are none."""
    missing: str
    """Missing values of factors; empty if there are none."""
    remarks: Sequence[str]
    """Remarks on how columns were read."""
    leaks: Sequence[str]
    """Columns that contain the target."""
    answer: str
    """What the response depends on."""
    ceiling: str
    """How much of the response models can explain; empty if nothing was selected."""
    doubts: Sequence[str]
    """Why the estimates may be off."""
    legend: Sequence[str]
    """The meaning of the columns of the table."""


def summarise(result: Exported, *, in_command: bool = False, all_notes: bool = False) -> Summary:
    """Return what is said of a ranking; ``in_command`` names options as they are typed."""
    several = result.settings["response_scale"] != "values"
    response = _name_response(result)
    found = result.findings if all_notes else result.findings[:MOST_FINDINGS]
    advice = [printable(one.command_advice if in_command else one.advice) for one in found]
    leaks = [text for text, one in zip(advice, found, strict=True) if one.kind == "leak"]
    others = [text for text, one in zip(advice, found, strict=True) if one.kind != "leak"]
    more = len(result.findings) - len(found)
    if more:
        where = "--notes" if in_command else "see .findings"
        others.append(f"{more} more remark{'s' if more > 1 else ''} about the table: {where}.")
    return Summary(
        data=_say_data(result),
        left_out=_say_left_out(result),
        missing=_say_missing(result),
        remarks=[printable(remark) for remark in result.dataset.remarks],
        leaks=leaks,
        answer=say_drivers(result.indices, response, several=several),
        ceiling=say_ceiling(result.indices, response) if result.indices.selected.size else "",
        doubts=[*others, *_say_doubts(result.indices, in_command)],
        legend=[*_say_columns(result)],
    )


def _name_response(result: Exported) -> str:
    """Return the name of the response that is explained."""
    names = [printable(name) for name in result.dataset.target_names]
    name = list_names(names) + (" (standardised, summed)" if len(names) > 1 else "")
    return name_response(name, result.settings["response_scale"])


def _say_data(result: Exported) -> str:
    """Return the sentence on the data that were analysed."""
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
    return (
        f"{printable(data.shown)}: {rows}, {count} factor{'s' if count > 1 else ''} ({say_kinds(indices)}); "
        f"{_say_role(result)}."
    )


def _say_left_out(result: Exported) -> str:
    """Return the sentence on columns that were left out, with reasons; empty if there are none."""
    reasons = [f"{printable(name)} ({why})" for name, why in result.dataset.left_out.items()]
    return f"Left out: {list_names(reasons, most=MOST_NAMED)}." if reasons else ""


def _say_role(result: Exported) -> str:
    """Return a description of the response."""
    name = printable(list_names(result.dataset.target_names))
    n_classes = len(result.classes)
    if n_classes:
        return f"{name} has {'two' if n_classes == 2 else f'{n_classes:,}'} classes"
    return f"{name} is numeric" if len(result.dataset.target_names) == 1 else f"{name} are explained together"


def _say_missing(result: Exported) -> str:
    """Return the sentence on missing values of factors and their treatment; empty if there are none."""
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


def _say_doubts(indices: Indices, in_command: bool) -> Iterator[str]:
    """Yield the sentences on why the estimates may be off."""
    too_few = indices.sample_size.sentence
    if too_few:
        method = "--method first" if in_command else 'method="first"'
        yield f"{too_few} Use {'' if indices.path is not None else f'{method}, fewer factors or '}more rows."
    adaptive = "--variance-estimator adaptive" if in_command else 'variance_estimator="adaptive"'
    yield from filter(None, (say_no_evidence(indices), say_bias(indices, f"Try {adaptive}."), say_no_shares(indices)))


def _say_columns(result: Exported) -> Iterator[str]:
    """Yield the sentences on the meaning of the columns of the table."""
    indices = result.indices
    if indices.selected.size:
        by_itself = ", explained by it alone (░)" if indices.sharing is not None else ""
        yield f"Of what is explained: {importance_words(indices).of_factor} (█){by_itself}."
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
    yield from filter(
        None, (say_no_p_values(indices), say_disagreement(indices), say_rest(indices), say_rows_judged(indices))
    )
    if result.stability is not None:
        yield _say_stability(result.stability)


def _say_stability(found: "Stability") -> str:
    """Return the sentence on the column of frequencies, with a bound on false selections."""
    often = found.selected.size
    sentence = f"halves: selection frequency on {2 * found.n_pairs:,} random half-samples"
    if not often:
        return f"{sentence}; none reaches {found.threshold:.2g}."
    if found.expected_false >= often:
        return f"{sentence}; with so few factors, there is no bound on false selections."
    bound = f"{found.expected_false:.2g}"
    return f"{sentence}; of {often} that reach {found.threshold:.2g}, at most {bound} are expected to be false."


# --- the table --------------------------------------------------------------------------------------------------------


def choose_lines(
    indices: Indices, stability: "Stability | None", where: str, all_lines: bool = False
) -> Iterator[tuple[RankingLine, bool] | str]:
    """Yield the lines to show, each with True for a member of a cluster, and a remark in place of others.

    ``where`` says where the others are.
    """
    lines = ranking_lines(indices, stability)
    drivers = [line for line in lines if line.rank is not None]
    others = lines[len(drivers) :]
    most_drivers, most_members = (len(lines), len(indices.names)) if all_lines else (MOST_DRIVERS, MOST_MEMBERS)
    for line in drivers[:most_drivers]:
        yield line, False
        yield from ((member, True) for member in line.members[:most_members])
        if len(line.members) > most_members:
            yield f"  … and {len(line.members) - most_members:,} more of these"
    if len(drivers) > most_drivers:
        yield f"… and {len(drivers) - most_drivers:,} more with less"
    named = others if all_lines or len(others) <= MOST_LEFT_OUT + 1 else others[:MOST_LEFT_OUT]  # one more takes a line
    yield from ((line, False) for line in named)
    if len(others) > len(named):
        yield f"… and {len(others) - len(named):,} others were left out ({where})"


def has_numbers(line: RankingLine) -> bool:
    """Return True for drivers and members of clusters, False for other factors that were left out."""
    return line.rank is not None or line.kept is not None


# --- as text ----------------------------------------------------------------------------------------------------------


def as_text(result: Exported, all_lines: bool = False) -> str:
    """Return a ranking as text: the data, the answer, the table and its legend."""
    said = summarise(result, all_notes=all_lines)
    return "\n".join(
        [
            *_wrap(" ".join(filter(None, [said.data, said.left_out]))),
            *_wrap(said.missing),
            *(line for remark in said.remarks for line in _wrap(f"Note: {remark}")),
            *(line for leak in said.leaks for line in _wrap(f"Leak: {leak}")),
            "",
            *_wrap(said.answer),
            *_wrap(said.ceiling),
            *(line for doubt in said.doubts for line in _wrap(f"Note: {doubt}")),
            "",
            *_draw_table(result, all_lines),
            "",
            *(line for sentence in said.legend for line in _wrap(sentence)),
        ]
    )


def _wrap(text: str) -> list[str]:
    """Return text in lines, with no break before a percent sign."""
    lines = textwrap.wrap(unbroken(text), WIDTH, break_long_words=False, break_on_hyphens=False)
    return [line.replace("\u00a0%", " %") for line in lines]


def _draw_table(result: Exported, all_lines: bool) -> Iterator[str]:
    """Yield the lines of the table: numbers and bars of drivers, and reasons of factors that were left out."""
    indices, stability = result.indices, result.stability
    chosen = [*choose_lines(indices, stability, "to_frame() lists them", all_lines)]
    lines = [each for each in chosen if not isinstance(each, str)]
    largest = max((max(line.importance, line.alone or 0.0) for line, _ in lines if has_numbers(line)), default=0) or 1.0
    names = [f"{'  ' * member}{line.name}{'*' * line.forced}" for line, member in lines]
    starts = [[str(line.rank or "") if has_numbers(line) else "–", line.kind] for line, _ in lines]
    cells = [_numbers(indices, line, stability is not None) for line, _ in lines if has_numbers(line)]
    header = ["halves"] * (stability is not None) + [importance_words(indices).name, "(95 %)", "alone", "p", ""]
    shown = [any(cell[k] for cell in cells) for k in range(len(header))]
    widths = [max([len(title), *(len(cell[k]) for cell in cells)]) for k, title in enumerate(header)]
    wide, kind = max(map(len, [*names, "factor"])), max(len(line.kind) for line, _ in lines)

    def join(numbers: Sequence[str]) -> str:
        aligned = (text.ljust(width) if title == "(95 %)" else text.rjust(width)
                   for text, width, title in zip(numbers, widths, header, strict=True))  # fmt: skip
        return "  ".join(text for text, known in zip(aligned, shown, strict=True) if known)

    yield f"rank  {'factor':{wide}}  {'kind':{kind}}  {join(header) if cells else ''}".rstrip()
    remaining = iter(zip(names, starts, strict=True))
    for each in chosen:
        if isinstance(each, str):
            yield f"      {each}"
            continue
        (line, _), (name, (rank, kind_of)) = each, next(remaining)
        start = f"{rank:>4}  {name:{wide}}  {kind_of:{kind}}  "
        if not has_numbers(line):
            halves = "" if stability is None else f"{line.frequency_text:>6}  "
            yield f"{start}{halves}{line.reason}".rstrip()
            continue
        solid = line.importance / largest if line.selected else None
        numbers = join(_numbers(indices, line, stability is not None))
        yield f"{start}{numbers}  {draw_bar(solid, (line.alone or 0.0) / largest, LONGEST_BAR)}".rstrip()


def _numbers(indices: Indices, line: RankingLine, with_halves: bool) -> list[str]:
    """Return the numeric cells of a line."""
    p_value = line.p_text if indices.has_p_values else ""
    halves = [line.frequency_text] * with_halves
    return [*halves, line.importance_text, line.interval_text, line.alone_text, p_value, "?" if line.weak else ""]
