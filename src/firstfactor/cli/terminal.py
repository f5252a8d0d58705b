"""Result in the terminal: the data, the answer, the table of factors with its legend, and the files written."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rich.cells import cell_len, set_cell_size

from .._utils.text import list_names, shorten, shorten_all
from ..ranking import Ranking
from ..reporting.summary import choose_lines, has_numbers, summarise
from ..results.ranking_line import RankingLine
from ..results.wording import share_name
from .screen import Screen


def print_result(screen: Screen, result: Ranking, all_notes: bool = False, model_score: float | None = None) -> None:
    """Print a summary of the data, the drivers of the response, the ceiling of any model, and the factors."""
    said = summarise(result, in_command=True, all_notes=all_notes)
    screen.print(said.data, (f" {said.left_out}", "yellow"))
    if said.missing:
        screen.print(said.missing)
    for remark in said.remarks:
        screen.print(("Note: ", "yellow"), remark)
    for leak in said.leaks:
        screen.print(("Leak: ", "bold red"), leak)
    screen.print()
    screen.print((said.answer, "bold"))
    if said.ceiling:
        screen.print(said.ceiling)
    if model_score is not None:
        screen.print(str(result.compare(model_score)))
    for doubt in said.doubts:
        screen.print(("Note: ", "yellow"), doubt)
    screen.print()
    bars = ("", "") if print_factors(screen, result) else (" (█)", " (░)")
    for line in ["", *said.legend] if said.legend else []:
        line = line.replace(bars[0], "").replace(bars[1], "")
        screen.print(line)
    if result.dataset.true_factors:
        screen.print()
        screen.print(_verdict(result))


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


def _verdict(result: Ranking) -> str:
    """Return the sentence that compares the factors found with the true ones."""
    true = result.dataset.true_factors
    chosen = {result.indices.names[i] for i in result.indices.selected}
    missed, wrong = [n for n in true if n not in chosen], sorted(chosen - set(true))
    verdict = "all found" if not missed else f"{', '.join(missed)} missed"
    verdict += f", {', '.join(wrong)} selected too" if wrong else ", and no others"
    is_one = len(true) == 1
    return f"The true factor{' is' if is_one else 's are'} {list_names(true, most=len(true))}: {verdict}."


# --- the table of factors ---------------------------------------------------------------------------------------------

# Tables of rich have no cells that span columns, as the names of clusters and the reasons do here.

LONGEST_BAR, SHORTEST_BAR, SHORTEST_NAME = 30, 4, 8

# Width that longer names leave for bars, and width at which long names can be read.
BAR_ROOM, READABLE = 10, 20

# A name is followed by functions of the factor if this part of the terminal is wide enough.
NAME_OF_SCREEN = 4

FORCED = "*"


def print_factors(screen: Screen, result: Ranking) -> bool:
    """Print the table: drivers with bars and the factors of clusters below them, then other factors with a reason.

    Return True if there are bars, for which the terminal must be wide enough.
    """
    shown = [
        each if isinstance(each, str) else _labelled(screen, each[0], "  " * each[1])
        for each in choose_lines(result.indices, result.stability, "--csv lists them")
    ]
    table = _Table(screen, result, [line for line in shown if isinstance(line, RankingLine)])
    screen.print((table.header, "bold"))
    for each in shown:
        if isinstance(each, str):
            screen.print_line(" " * 6, each, "dim")
        else:
            table.print(each)
    return table.has_bars


def _labelled(screen: Screen, line: RankingLine, indent: str = "") -> RankingLine:
    """Return a line with its name as it is printed: indented, in characters of the terminal, marked if forced."""
    names = [line.name] if line.is_cluster else [line.name, line.short_name, line.names[0]]
    name = next((name for name in names if cell_len(name) <= screen.width // NAME_OF_SCREEN), names[-1])
    return replace(line, name=f"{indent}{screen.plain(name)}{FORCED * line.forced}")


class _Table:
    """Columns that fit into the terminal: if it is narrow, kinds give way to names first, then bars, then numbers."""

    def __init__(self, screen: Screen, result: Ranking, lines: Sequence[RankingLine]) -> None:
        self._screen, self._stability, self._share = screen, result.stability, share_name(result.indices)
        with_numbers = [line for line in lines if has_numbers(line)]
        longest, needed = (
            max(cell_len(name) for name in ["factor", *(_shortest_name(line) for line in some)])
            for some in (lines, with_numbers)
        )
        room, readable = screen.width - len("rank") - 2 - 2 - 2, min(needed, READABLE)
        self._p = result.indices.has_p_values and bool(with_numbers)
        self._marks = any(line.weak for line in with_numbers)
        self._alone = result.indices.sharing is not None and bool(with_numbers)
        self._shows_intervals = any(line.interval_text for line in with_numbers)
        self._alone = self._alone and len(self._titles) + readable <= room
        self._shows_intervals = self._shows_intervals and len(self._titles) + readable <= room
        room -= len(self._titles)
        self._kind = 8 if readable + BAR_ROOM + 10 <= room else 0  # names of what was left out can be shorter
        room -= self._kind + 2 if self._kind else 0
        self._name = min(longest, max(room - BAR_ROOM, min(room, readable), SHORTEST_NAME))
        self._bar = min(room - self._name, LONGEST_BAR) if room - self._name >= SHORTEST_BAR else 0
        self._largest = max((max(line.importance, line.alone or 0.0) for line in with_numbers), default=0.0) or 1.0
        plain = [line.name for line in lines if not line.is_cluster]
        self._short = dict(zip(plain, shorten_all(plain, lambda _, name: cell_len(name) <= self._name), strict=True))
        self.header = self._start("rank", "factor", "kind") + self._titles

    @property
    def has_bars(self) -> bool:
        """True if there is space for bars."""
        return bool(self._bar)

    @property
    def _titles(self) -> str:
        """Titles of the numeric columns."""
        halves = "" if self._stability is None else "halves  "
        lost = f"{self._share} (95 %)".ljust(20) if self._shows_intervals else self._share.rjust(12)
        return f"{halves}{lost}{'   alone' * self._alone}{'       p' * self._p}{'  ' * self._marks}"

    def print(self, line: RankingLine) -> None:
        """Print one line: with numbers and a bar, or with a reason."""
        rank = str(line.rank or "") if has_numbers(line) else "–"
        start = self._start(rank, self._short.get(line.name, line.name), line.kind)
        if not has_numbers(line):
            halves = "" if self._stability is None else f"{line.frequency_text:>6}  "
            self._screen.print_line(start, halves + line.reason, "dim")
            return
        solid = line.importance / self._largest if line.selected else None
        bar = self._screen.bar(solid, (line.alone or 0.0) / self._largest, self._bar) if self._bar else ""
        start = self._start_of_cluster(line) if line.is_cluster else start
        self._screen.print_line(start + self._numbers(line), f"  {bar}" if bar else "", "blue")

    def _start(self, rank: str, name: str, kind: str) -> str:
        """Return the beginning of a line: rank, name and kind."""
        start = f"{rank:>4}  {set_cell_size(name, self._name)}  "
        return f"{start}{kind:{self._kind}}  " if self._kind else start

    def _start_of_cluster(self, line: RankingLine) -> str:
        """Return the beginning of the line of a cluster, whose names also fill the column of kinds."""
        room = self._name + (self._kind + 2 if self._kind else 0)
        names = [line.name, *map(self._screen.plain, (line.short_name, line.shortest_name))]
        name = next((name for name in names if cell_len(name) <= room), names[-1])
        short = shorten(name, lambda text: cell_len(text) <= room)
        return f"{line.rank:>4}  {set_cell_size(short, room)}  "

    def _numbers(self, line: RankingLine) -> str:
        """Return the columns between the kind and the bar."""
        halves = "" if self._stability is None else f"{line.frequency_text:>6}  "
        interval = f"{line.importance_text:>6} {line.interval_text:13}"
        lost = interval if self._shows_intervals else f"{line.importance_text:>12}"
        alone = f"  {line.alone_text:>6}" if self._alone else ""
        p_value = f"  {line.p_text:>6}" if self._p else ""
        mark = "" if not self._marks else " ?" if line.weak else "  "
        return f"{halves}{lost}{alone}{p_value}{mark}"


def _shortest_name(line: RankingLine) -> str:
    """Return the shortest name that a line can be printed with."""
    return line.shortest_name if line.is_cluster else line.name
