"""Results as text that fits the terminal."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from .._utils.text import list_names, printable, without_controls
from ..ranking import Ranking
from ..results.formats import format_importance, format_interval, format_p
from ..results.wording import (
    LEVEL,
    intervals,
    say_bias,
    say_ceiling,
    say_disagreement,
    say_no_evidence,
    say_no_p_values,
    say_no_shares,
    say_rows_judged,
    say_weak,
)

if TYPE_CHECKING:
    from ..results.stability import Stability

# Rows that a person reads in a terminal; files hold all of them.
MOST_SELECTED, MOST_LEFT_OUT, MOST_NAMED = 40, 10, 4

LONGEST_BAR, SHORTEST_BAR, SHORTEST_NAME = 30, 4, 8

# Room that names leave for bars where there is little.
BAR_ROOM = 10

# What factors are, in words: one, and several.
KINDS = {
    "number": "numbers",
    "category": "categories",
    "ordered": "ordered",
    "date": "dates",
    "periodic": "periodic",
    "group": "groups",
    "constant": "constant",
}

FORCED = " always in"

_EIGHTHS = " ▏▎▍▌▋▊▉█"
_ASCII = str.maketrans({"²": "2", "−": "-", "–": "-", "…": "~", "█": "#", "→": "->", "±": "+-", "≥": ">="})


class Screen:
    """Standard output: as wide as the terminal, plain in a pipe, in characters that it can show."""

    def __init__(self, file: TextIO) -> None:
        if hasattr(file, "reconfigure"):
            file.reconfigure(errors="backslashreplace")  # a name in another script must not end the run
        self._console = Console(file=file, highlight=False, markup=False, emoji=False)
        self._ascii = not self._console.encoding.lower().startswith("utf")

    @property
    def width(self) -> int:
        """Columns that fit."""
        return self._console.width

    def print(self, *parts: str | tuple[str, str]) -> None:
        """Print text, with styles for parts of it; lines break at words."""
        styled = [(part, "") if isinstance(part, str) else part for part in parts]
        paragraph = Text.assemble(*((self.plain(text), style) for text, style in styled))
        for line in paragraph.wrap(self._console, self.width):
            line.rstrip()
            self._console.print(line)

    def print_line(self, start: str, end: str, style: str) -> None:
        """Print one row of a table, cut where the terminal ends."""
        row = Text.assemble(self.plain(start), (self.plain(end), style))
        self._console.print(row, no_wrap=True, overflow="crop", crop=True)

    def plain(self, text: str) -> str:
        """Text in characters that the encoding has, and that say nothing to the terminal."""
        text = without_controls(text)
        return text.translate(_ASCII) if self._ascii else text

    def bar(self, share: float, width: int) -> str:
        """A bar of the given share of the width, never nothing."""
        if self._ascii:
            return "#" * max(round(share * width), 1)
        whole, eighths = divmod(max(round(share * width * 8), 1), 8)
        return "█" * whole + _EIGHTHS[eighths].strip()


def print_result(screen: Screen, result: Ranking) -> None:
    """Print what the data are, how far any model could get, and the factors."""
    screen.print(*_data_line(result))
    missing = _missing_line(result)
    if missing:
        screen.print(missing)
    for remark in result.dataset.remarks:
        screen.print(("Note: ", "yellow"), printable(remark))
    screen.print()
    screen.print((say_ceiling(result.indices, response_name(result)), "bold"))
    for doubt in _doubts(result):
        screen.print(("Note: ", "yellow"), doubt)
    screen.print()
    _print_factors(screen, result)
    for line in _after_table(result):
        screen.print(line)


def print_ending(screen: Screen, result: Ranking, written: dict[str, Any], seconds: Mapping[str, float]) -> None:
    """Print which files were written, and where time went."""
    screen.print()
    for path in written.values():
        screen.print(f"Wrote {path}")
    if "plot" in written and (lacking := _lacking_characters(result)):
        screen.print(("Note: ", "yellow"), f"No installed font has {_some(lacking)}; the picture shows boxes instead.")
    parts = ", ".join(f"{name} {time:.2f}" for name, time in seconds.items())
    screen.print((f"Time: {sum(seconds.values()):.2f} s ({parts})", "dim"))


def _lacking_characters(result: Ranking) -> str:
    """Characters in names of factors that no installed font has."""
    from ..plots.fonts import find_fallback

    return find_fallback(result.indices.names).lacking


def _some(characters: str, most: int = 10) -> str:
    return characters if len(characters) <= most else f"{characters[:most]} and {len(characters) - most} more"


def response_name(result: Ranking) -> str:
    """What is explained, in words."""
    names = [printable(name) for name in result.dataset.target_names]
    name = list_names(names) + (" (standardised, summed)" if len(names) > 1 else "")
    how = result.settings["response"]
    return name if how == "values" else f"the {how.replace('-', ' ')} of {name}"


def _doubts(result: Ranking) -> Iterator[str]:
    """Say why the figures may be off."""
    indices = result.indices
    for finding in indices.findings:
        yield printable(finding.command_advice)
    too_few = indices.sample_size.sentence
    if too_few:
        yield f"{too_few} Use {'' if indices.path is not None else '--method first, fewer factors or '}more rows."
    for doubt in (
        say_no_evidence(indices),
        say_bias(indices, "Try --estimator extrapolated."),
        say_no_shares(indices),
    ):
        if doubt:
            yield doubt


def _data_line(result: Ranking) -> list[str | tuple[str, str]]:
    """Say in a line what was analysed, and what was not and why."""
    data, indices = result.dataset, result.indices
    kinds: Counter[str] = Counter(indices.kinds)
    held = ", ".join(f"{n} {many if n > 1 else kind}" for kind, many in KINDS.items() if (n := kinds[kind]))
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
        f"{printable(data.shown)}: {rows}, {count} factor{'s' if count > 1 else ''} ({held}); {_say_role(result)}."
    ]
    if data.left_out:
        line += [" ", (f"Left out: {_name_some(data.left_out)}.", "yellow")]
    return line


def _say_role(result: Ranking) -> str:
    """Say what the response is."""
    name = printable(list_names(result.dataset.target_names))
    n_classes = len(result.classes)
    if n_classes:
        return f"{name} has {'two' if n_classes == 2 else f'{n_classes:,}'} classes"
    return f"{name} is a quantity" if len(result.dataset.target_names) == 1 else f"{name} are explained together"


def _missing_line(result: Ranking) -> str:
    """Say which factors have missing values, and what they are taken for; nothing if none has."""
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
    """Name the first columns with their counts, and say how many more there are."""
    named = [f"{printable(name)} {count:,}" for name, count in counts[:MOST_NAMED]]
    more = len(counts) - len(named)
    return ", ".join(named) + (f" and {more:,} more column{'s' if more > 1 else ''}" if more else "")


def _name_some(reasons: dict[str, str]) -> str:
    named = [f"{printable(name)} ({why})" for name, why in list(reasons.items())[:MOST_NAMED]]
    more = len(reasons) - len(named)
    return ", ".join(named) + (f" and {more} more columns" if more else "")


def _print_factors(screen: Screen, result: Ranking) -> None:
    """Print the table of factors: the selected ones with a bar, then others with a reason."""
    indices = result.indices
    selected, others = indices.selected.tolist()[:MOST_SELECTED], indices.left_out.tolist()[:MOST_LEFT_OUT]
    names = {i: screen.plain(printable(indices.names[i])) for i in [*selected, *others]}
    room = screen.width - len("rank    category  ") - 2
    cells = _Cells(result, room - SHORTEST_NAME)
    room -= len(cells.header)
    width = min(max(map(cell_len, ["factor", *names.values()])), max(room - BAR_ROOM, SHORTEST_NAME))
    longest_bar = min(room - width - (len(FORCED) if indices.forced else 0), LONGEST_BAR)
    shares = indices.shares
    largest = float(shares.max()) or 1.0

    def row(rank: str, name: str, kind: str) -> str:
        return f"{rank:>4}  {set_cell_size(shorten(name, width), width)}  {kind:8}  "

    screen.print((row("rank", "factor", "kind") + cells.header, "bold"))
    for rank, i in enumerate(selected, start=1):
        bar = screen.bar(shares[i] / largest, longest_bar) if longest_bar >= SHORTEST_BAR else ""
        mark = FORCED if i in indices.forced else ""
        screen.print_line(row(str(rank), names[i], indices.kinds[i]) + cells.of(i), f"  {bar}{mark}", "blue")
    for i in others:
        reason = f"{cells.frequency(i)}{indices.why_left_out(i)}"
        screen.print_line(row("–", names[i], indices.kinds[i]), reason, "dim")


class _Cells:
    """What stands in the table between the kind of a factor and its bar; without intervals where there is no room."""

    def __init__(self, result: Ranking, room: int) -> None:
        self._indices, self._stability = result.indices, result.stability
        self._intervals, self._weak = intervals(result.indices), result.indices.weak
        self._marks = bool(self._weak.any())
        halves = "" if self._stability is None else "halves  "
        p_value = f"{'       p' if self._indices.has_p_values else ''}{self._mark(False)}"
        self.header = f"{halves}importance (interval){p_value}"
        self._shows_intervals = self._indices.uncertainty is not None and len(self.header) <= room
        if not self._shows_intervals:
            self.header = f"{halves}importance{p_value}"

    def of(self, factor: int) -> str:
        """The cells of a selected factor."""
        importance = format_importance(float(self._indices.shares[factor]))
        cell = f"{importance:>7} {format_interval(self._intervals[factor]):13}"
        if not self._shows_intervals:
            cell = f"{importance:>10}"
        p_value = f"  {format_p(float(self._indices.p_values[factor])):>6}" if self._indices.has_p_values else ""
        return f"{self.frequency(factor)}{cell}{p_value}{self._mark(bool(self._weak[factor]))}"

    def frequency(self, factor: int) -> str:
        """How often a factor was selected on halves, if that is known."""
        return "" if self._stability is None else f"{self._stability.frequencies[factor]:6.2f}  "

    def _mark(self, weak: bool) -> str:
        """The mark of a weak factor, and room for it where other factors are weak."""
        return "" if not self._marks else " ?" if weak else "  "


def shorten(text: str, width: int) -> str:
    """Text with its middle left out where it is too wide: both ends tell names apart."""
    if cell_len(text) <= width:
        return text
    head, tail = width // 2, (width - 1) // 2
    return set_cell_size(text, head) + "…" + set_cell_size(text[::-1], tail)[::-1]


def _after_table(result: Ranking) -> Iterator[str]:
    """Say what the table does not show, and what its columns mean."""
    hidden = max(result.indices.selected.size - MOST_SELECTED, 0)
    others = max(len(result.indices.left_out) - MOST_LEFT_OUT, 0)
    counts = [f"{hidden} more with an importance"] * bool(hidden) + [f"{others} more left out"] * bool(others)
    if counts:
        yield f"      … and {', '.join(counts)}; --csv or --json writes all."
    legend = [*_legend(result)]
    if legend:
        yield ""
        yield from legend
    if result.dataset.true_factors:
        yield ""
        yield _verdict(result)


def _legend(result: Ranking) -> Iterator[str]:
    """Say what the columns mean."""
    indices = result.indices
    if indices.uncertainty is None:
        yield result.why_no_intervals
    elif indices.selected.size:
        p_values = "; p: probability of the effect by chance" if indices.has_p_values else ""
        yield f"{100 * LEVEL:g} % intervals (chance and bias){p_values}."
    if indices.weak.any():
        yield f"? weak: {say_weak(indices)}."
    for sentence in (say_no_p_values(indices), say_disagreement(indices), say_rows_judged(indices)):
        if sentence:
            yield sentence
    if result.stability is not None:
        yield _stability_sentence(result.stability)


def _stability_sentence(found: "Stability") -> str:
    """Say what the column of frequencies is, and how many of the frequent factors may be luck."""
    often = found.selected.size
    sentence = f"halves: how often selected on {2 * found.n_pairs:,} random halves of the rows"
    if not often:
        return f"{sentence}; none in {found.threshold:.0%} or more.".replace("%", " %")
    if found.expected_false >= often:
        return f"{sentence}; with so few factors, there is no bound on how many by luck."
    bound = f"{found.expected_false:.2g}"
    return f"{sentence}; of {often} in {100 * found.threshold:g} % or more, at most {bound} are expected there by luck."


def _verdict(result: Ranking) -> str:
    """Compare the factors found with the true ones."""
    true = result.dataset.true_factors
    chosen = {result.indices.names[i] for i in result.indices.selected}
    missed, wrong = [n for n in true if n not in chosen], sorted(chosen - set(true))
    verdict = "all found" if not missed else f"{', '.join(missed)} missed"
    verdict += f", {', '.join(wrong)} selected too" if wrong else ", and no others"
    return f"{result.dataset.response_name} truly depends on {', '.join(true)}: {verdict}."
