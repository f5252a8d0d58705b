"""Results as text that fits the terminal."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np
from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from .._utils.shorten import shorten_all
from .._utils.text import list_names, printable, without_controls
from ..ranking import Ranking
from ..reporting.rows import Row, driver_rows, other_factors, why_left_out
from ..results.wording import (
    LEVEL,
    intervals,
    say_bias,
    say_ceiling,
    say_disagreement,
    say_drivers,
    say_kinds,
    say_no_evidence,
    say_no_p_values,
    say_no_shares,
    say_rows_judged,
    say_weak,
    share_name,
)

if TYPE_CHECKING:
    from ..results.stability import Stability

# Rows that a person reads in a terminal; files hold all of them.
MOST_SELECTED, MOST_MEMBERS, MOST_LEFT_OUT, MOST_NAMED = 30, 8, 4, 4

LONGEST_BAR, SHORTEST_BAR, SHORTEST_NAME = 30, 4, 8

# Room that names leave for bars where there is little, and that intervals leave for names.
BAR_ROOM, ROOM_FOR_NAME = 10, 12

FORCED = "*"

# Stands for a blank at which no line ends, while lines are made.
UNBROKEN = "\ue000"

_EIGHTHS = " ▏▎▍▌▋▊▉█"
_ASCII = str.maketrans({"²": "2", "−": "-", "–": "-", "…": "~", "█": "#", "░": ".", "→": "->", "±": "+-", "≥": ">="})


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
        paragraph = Text.assemble(*((self.plain(text).replace(" %", f"{UNBROKEN}%"), style) for text, style in styled))
        for line in paragraph.wrap(self._console, self.width):
            line.plain = line.plain.replace(UNBROKEN, " ")
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

    def bar(self, share: float | None, pale: float, width: int) -> str:
        """A solid bar of a share of the width, never nothing if there is one, then a pale one up to another share."""
        if share is None:
            solid = ""
        elif self._ascii:
            solid = "#" * max(round(share * width), 1)
        else:
            whole, eighths = divmod(max(round(share * width * 8), 1), 8)
            solid = "█" * whole + _EIGHTHS[eighths].strip()
        return solid + ("." if self._ascii else "░") * (round(pale * width) - len(solid))


def print_result(screen: Screen, result: Ranking) -> None:
    """Print what the data are, what drives the response, how far any model could get, and the factors."""
    screen.print(*_data_line(result))
    missing = _missing_line(result)
    if missing:
        screen.print(missing)
    for remark in result.dataset.remarks:
        screen.print(("Note: ", "yellow"), printable(remark))
    screen.print()
    several = result.settings["response"] != "values"
    screen.print((say_drivers(result.indices, response_name(result), several=several), "bold"))
    if result.indices.selected.size:
        screen.print(say_ceiling(result.indices, response_name(result)))
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


# --- the table --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Line:
    """One line of the table: a row of the result or a factor that was left out, its rank, and what it is called."""

    rank: str
    name: str
    kind: str
    row: Row | None = None
    reason: str = ""
    """Why a factor was left out."""


def _print_factors(screen: Screen, result: Ranking) -> None:
    """Print the table: what drives the response with bars, those that stand in below it, then others with a reason."""
    indices = result.indices
    rows = driver_rows(indices, result.stability)
    lines = [line for rank, row in enumerate(rows[:MOST_SELECTED], start=1) for line in _lines(screen, rank, row)]
    if len(rows) > MOST_SELECTED:
        lines.append(_Line("", "", "", reason=f"… and {len(rows) - MOST_SELECTED:,} more with less"))
    for i in _named_others(result):
        halves = "" if result.stability is None else f"{result.stability.frequencies[i]:6.2f}  "
        name = screen.plain(printable(indices.names[i]))
        lines.append(_Line("–", name, indices.kinds[i], reason=halves + why_left_out(indices, i)))
    table = _Table(screen, result, lines)
    screen.print((table.header, "bold"))
    for line in lines:
        table.print(line)


def _lines(screen: Screen, rank: int, row: Row) -> Iterator[_Line]:
    """The line of a factor; or that of several and one for each of them, the best first."""
    yield _Line(str(rank), screen.plain(row.name) + FORCED * row.forced, row.kind, row)
    ordered = sorted(row.members, key=lambda member: row.factors.index(member.factors[0]))
    for member in ordered[:MOST_MEMBERS]:
        yield _Line("", f"  {screen.plain(member.name)}{FORCED * member.forced}", member.kind, member)
    if len(ordered) > MOST_MEMBERS:
        yield _Line("", "", "", reason=f"  … and {len(ordered) - MOST_MEMBERS:,} more of these")


def _named_others(result: Ranking) -> list[int]:
    """The factors left out that have a line: a few, or all if that is one line more."""
    others = [i for group in other_factors(result.indices) for i in group]
    return others if len(others) <= MOST_LEFT_OUT + 1 else others[:MOST_LEFT_OUT]


class _Table:
    """The columns that the terminal has room for: kinds, then intervals, are the first to go."""

    def __init__(self, screen: Screen, result: Ranking, lines: Sequence[_Line]) -> None:
        self._screen, self._stability, self._share = screen, result.stability, share_name(result.indices)
        rows = [line.row for line in lines if line.row is not None]
        self._alone = result.indices.sharing is not None and bool(rows)
        self._p = result.indices.has_p_values and bool(rows)
        self._marks = any(row.weak for row in rows)
        longest, needed = (
            max(cell_len(name) for name in ["factor", *map(_least_name, some)])
            for some in (lines, [line for line in lines if line.row is not None])
        )
        room = screen.width - len("rank") - 2 - 2 - 2
        self._shows_intervals = any(row.interval_text for row in rows)
        if len(self._titles) + min(needed, ROOM_FOR_NAME) > room:
            self._shows_intervals = False
        room -= len(self._titles)
        self._kind = 8 if needed + BAR_ROOM + 10 <= room else 0  # names of what was left out can be shorter
        room -= self._kind + 2 if self._kind else 0
        self._name = min(longest, max(room - BAR_ROOM, SHORTEST_NAME))
        self._bar = min(room - self._name, LONGEST_BAR) if room - self._name >= SHORTEST_BAR else 0
        self._largest = max((max(row.lost, row.alone or 0.0) for row in rows), default=0.0) or 1.0
        plain = [line.name for line in lines if line.row is None or not line.row.members]
        self._short = dict(zip(plain, shorten_all(plain, lambda _, name: cell_len(name) <= self._name), strict=True))
        self.header = self._start("rank", "factor", "kind") + self._titles

    @property
    def _titles(self) -> str:
        """The titles of the columns of numbers."""
        halves = "" if self._stability is None else "halves  "
        lost = f"{self._share} (95 %)".ljust(20) if self._shows_intervals else self._share.rjust(12)
        return f"{halves}{lost}{'   alone' * self._alone}{'       p' * self._p}{'  ' * self._marks}"

    def print(self, line: _Line) -> None:
        """Print one line: with numbers and a bar, or with a reason."""
        row, name = line.row, self._short.get(line.name, line.name)
        if row is None:
            start = self._start(line.rank, name, line.kind) if line.name else " " * 6
            self._screen.print_line(start, line.reason, "dim")
            return
        solid = row.lost / self._largest if row.selected else None
        bar = self._screen.bar(solid, (row.alone or 0.0) / self._largest, self._bar) if self._bar else ""
        start = self._start_of_several(line, row) if row.members else self._start(line.rank, name, line.kind)
        self._screen.print_line(start + self._numbers(row), f"  {bar}" if bar else "", "blue")

    def _start(self, rank: str, name: str, kind: str) -> str:
        """The beginning of a line: rank, name and kind."""
        start = f"{rank:>4}  {set_cell_size(name, self._name)}  "
        return f"{start}{kind:{self._kind}}  " if self._kind else start

    def _start_of_several(self, line: _Line, row: Row) -> str:
        """The beginning of the line of several factors, whose names also take the room of the kind."""
        room = self._name + (self._kind + 2 if self._kind else 0)
        names = [line.name, *map(self._screen.plain, (row.short_name, row.shortest_name))]
        name = next((name for name in names if cell_len(name) <= room), names[-1])
        return f"{line.rank:>4}  {set_cell_size(shorten(name, room), room)}  "

    def _numbers(self, row: Row) -> str:
        """The columns between the kind and the bar."""
        halves = "" if self._stability is None else f"{row.frequency_text:>6}  "
        lost = f"{row.lost_text:>6} {row.interval_text:13}" if self._shows_intervals else f"{row.lost_text:>12}"
        alone = f"  {row.alone_text:>6}" if self._alone else ""
        p_value = f"  {row.p:>6}" if self._p else ""
        mark = "" if not self._marks else " ?" if row.weak else "  "
        return f"{halves}{lost}{alone}{p_value}{mark}"


def _least_name(line: _Line) -> str:
    """What a line must have room for in the column of names."""
    return line.row.shortest_name if line.row is not None and line.row.members else line.name


def shorten(text: str, width: int) -> str:
    """Text with its middle left out where it is too wide: both ends tell names apart."""
    if cell_len(text) <= width:
        return text
    head, tail = width // 2, (width - 1) // 2
    return set_cell_size(text, head) + "…" + set_cell_size(text[::-1], tail)[::-1]


def _after_table(result: Ranking) -> Iterator[str]:
    """Say what the table does not show, and what its columns mean."""
    indices = result.indices
    others = sum(map(len, other_factors(indices))) - len(_named_others(result))
    if others:
        yield f"      … and {others:,} others add nothing (--csv lists them)"
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
    if indices.selected.size:
        by_itself = ", explained by it alone (░)" if indices.sharing is not None else ""
        what = "the factor's fair share" if indices.is_shapley else "lost without the factor"
        yield f"Of what is explained: {what} (█){by_itself}."
    if indices.uncertainty is None:
        yield result.why_no_intervals
    elif indices.selected.size:
        known = not np.isnan(intervals(indices)).all()
        p_values = "p: probability of the effect by chance" if indices.has_p_values else ""
        said = [f"{100 * LEVEL:g} % intervals (chance and bias)"] * known + [p_values] * bool(p_values)
        if said:
            yield f"{'; '.join(said)}."
    if indices.forced:
        yield "* always in; all others are judged given these."
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
