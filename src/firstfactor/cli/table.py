"""Table of factors in a terminal: drivers of the response with numbers and bars, then others with a reason."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size

from .._utils.shorten import shorten, shorten_all
from .._utils.text import printable
from ..ranking import Ranking
from ..reporting.rows import Row, driver_rows, other_factors
from ..results.explanations import why_left_out
from ..results.wording import share_name
from .screen import Screen

# Maximum number of rows shown in a terminal; output files have all of them.
MOST_SELECTED, MOST_MEMBERS, MOST_LEFT_OUT = 30, 8, 4

LONGEST_BAR, SHORTEST_BAR, SHORTEST_NAME = 30, 4, 8

# Width that names leave for bars in a narrow terminal, and that intervals leave for names.
BAR_ROOM, ROOM_FOR_NAME = 10, 12

FORCED = "*"


@dataclass(frozen=True)
class _Line:
    """Line of the table: a row of the result or a factor that was left out, with its rank and label."""

    rank: str
    name: str
    kind: str
    row: Row | None = None
    reason: str = ""
    """Reason why a factor was left out."""


def print_factors(screen: Screen, result: Ranking) -> None:
    """Print the table: drivers with bars and their replacements below them, then other factors with a reason."""
    others = [i for group in other_factors(result.indices) for i in group]
    named = others if len(others) <= MOST_LEFT_OUT + 1 else others[:MOST_LEFT_OUT]  # one more takes no more lines
    lines = [*_driver_lines(screen, result), *(_left_out_line(screen, result, i) for i in named)]
    table = _Table(screen, result, lines)
    screen.print((table.header, "bold"))
    for line in lines:
        table.print(line)
    if len(others) > len(named):
        screen.print(f"      … and {len(others) - len(named):,} others were left out (--csv lists them)")


def _driver_lines(screen: Screen, result: Ranking) -> Iterator[_Line]:
    """Return the lines of the drivers of the response, the most important first."""
    rows = driver_rows(result.indices, result.stability)
    for rank, row in enumerate(rows[:MOST_SELECTED], start=1):
        yield from _lines(screen, rank, row)
    if len(rows) > MOST_SELECTED:
        yield _Line("", "", "", reason=f"… and {len(rows) - MOST_SELECTED:,} more with less")


def _lines(screen: Screen, rank: int, row: Row) -> Iterator[_Line]:
    """Return the line of a factor; or the line of a cluster and one for each of its factors, the best first."""
    yield _Line(str(rank), screen.plain(row.name) + FORCED * row.forced, row.kind, row)
    ordered = sorted(row.members, key=lambda member: row.factors.index(member.factors[0]))
    for member in ordered[:MOST_MEMBERS]:
        yield _Line("", f"  {screen.plain(member.name)}{FORCED * member.forced}", member.kind, member)
    if len(ordered) > MOST_MEMBERS:
        yield _Line("", "", "", reason=f"  … and {len(ordered) - MOST_MEMBERS:,} more of these")


def _left_out_line(screen: Screen, result: Ranking, i: int) -> _Line:
    """Return the line of a factor that was left out."""
    indices = result.indices
    halves = "" if result.stability is None else f"{result.stability.frequencies[i]:6.2f}  "
    name = screen.plain(printable(indices.names[i]))
    return _Line("–", name, indices.kinds[i], reason=halves + why_left_out(indices, i))


class _Table:
    """Columns that fit into the terminal: if it is narrow, kinds are dropped first, then intervals."""

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
        """Titles of the numeric columns."""
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
        """Return the beginning of a line: rank, name and kind."""
        start = f"{rank:>4}  {set_cell_size(name, self._name)}  "
        return f"{start}{kind:{self._kind}}  " if self._kind else start

    def _start_of_several(self, line: _Line, row: Row) -> str:
        """Return the beginning of the line of a cluster, whose names also fill the column of kinds."""
        room = self._name + (self._kind + 2 if self._kind else 0)
        names = [line.name, *map(self._screen.plain, (row.short_name, row.shortest_name))]
        name = next((name for name in names if cell_len(name) <= room), names[-1])
        short = shorten(name, lambda text: cell_len(text) <= room)
        return f"{line.rank:>4}  {set_cell_size(short, room)}  "

    def _numbers(self, row: Row) -> str:
        """Return the columns between the kind and the bar."""
        halves = "" if self._stability is None else f"{row.frequency_text:>6}  "
        lost = f"{row.lost_text:>6} {row.interval_text:13}" if self._shows_intervals else f"{row.lost_text:>12}"
        alone = f"  {row.alone_text:>6}" if self._alone else ""
        p_value = f"  {row.p:>6}" if self._p else ""
        mark = "" if not self._marks else " ?" if row.weak else "  "
        return f"{halves}{lost}{alone}{p_value}{mark}"


def _least_name(line: _Line) -> str:
    """Return the width that a line needs in the column of names."""
    return line.row.shortest_name if line.row is not None and line.row.members else line.name
