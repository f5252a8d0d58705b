"""Results as text that fits the terminal."""

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TextIO

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from .importance_plot import format_importance
from .observed import printable

if TYPE_CHECKING:
    from .job import Result

# Rows that a person reads in a terminal; files hold all of them.
MOST_SELECTED, MOST_LEFT_OUT, MOST_NAMED = 40, 10, 4

LONGEST_BAR, SHORTEST_NAME = 30, 8
REASON_WIDTH = len("adds nothing to the others")

_EIGHTHS = " ▏▎▍▌▋▊▉█"
_ASCII = str.maketrans({"²": "2", "−": "-", "–": "-", "…": "~", "█": "#", "→": "->"})


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
        """Return text in characters that the encoding has."""
        return text.translate(_ASCII) if self._ascii else text

    def bar(self, share: float, width: int) -> str:
        """Return a bar of the given share of the width, never nothing."""
        if self._ascii:
            return "#" * max(round(share * width), 1)
        whole, eighths = divmod(max(round(share * width * 8), 1), 8)
        return "█" * whole + _EIGHTHS[eighths].strip()


def print_result(screen: Screen, result: "Result") -> None:
    """Print what the data are, how far any model could get, and the factors."""
    screen.print(*_data_line(result))
    for remark in result.table.remarks:
        screen.print(("Note: ", "yellow"), printable(remark))
    screen.print()
    screen.print((ceiling_sentence(result), "bold"))
    screen.print()
    _print_factors(screen, result)
    for line in _after_table(result):
        screen.print(line)


def print_ending(screen: Screen, result: "Result", written: dict[str, Any]) -> None:
    """Print which files were written, and where time went."""
    screen.print()
    for path in written.values():
        screen.print(f"Wrote {path}")
    parts = ", ".join(f"{name} {seconds:.2f}" for name, seconds in result.seconds.items())
    screen.print((f"Time: {sum(result.seconds.values()):.2f} s ({parts})", "dim"))


def ceiling_sentence(result: "Result") -> str:
    """Say how well any model could do."""
    indices, target = result.indices, printable(result.table.y.name)
    ceiling = indices.r2_ceiling
    if ceiling <= 0 or not indices.selected.size:
        return f"These factors explain nothing of the variance of {target} that {indices.n_rows:,} rows could show."
    what = f"of the variance of {target} from these factors"
    if indices.task == "classification":
        zero, one = (printable(label) for label in result.classes)
        coded = "" if (zero, one) == ("0", "1") else f"{one} = 1, {zero} = 0; "
        what += f" ({coded}no Brier score below {indices.noise_variance:.3g})"
    if ceiling == 1:
        return f"Estimated ceiling: a model can explain all {what}."
    return f"Estimated ceiling: no model can explain more than {_percent(ceiling)} {what}."


def _percent(share: float) -> str:
    """Return a share in words: no 100 % that is not quite, no 0 % that is some."""
    decimals = next((d for d in range(4) if 0 < round(100 * share, d) < 100), 4)
    return f"{100 * share:.{decimals}f} %"


def _data_line(result: "Result") -> list[str | tuple[str, str]]:
    """Say in a line what was analysed, and what was not and why."""
    table, indices = result.table, result.indices
    kinds: Counter[str] = Counter(indices.kinds)
    words = {"number": "numbers", "category": "categories", "constant": "constant"}
    held = ", ".join(f"{n} {many if n > 1 else kind}" for kind, many in words.items() if (n := kinds[kind]))
    rows = f"{indices.n_rows:,} rows"
    if table.n_drawn is not None:
        rows += f" drawn from {table.n_read:,}"
    if table.n_dropped:
        rows += f" ({table.n_dropped:,} with missing values dropped)"
    role = "has two classes" if indices.task == "classification" else "is a quantity"
    count = len(indices.names)
    line: list[str | tuple[str, str]] = [
        f"{printable(table.shown)}: {rows}, {count} factor{'s' if count > 1 else ''} ({held}); "
        f"{printable(table.y.name)} {role}."
    ]
    if table.left_out:
        line += [" ", (f"Left out: {_name_some(table.left_out)}.", "yellow")]
    return line


def _name_some(reasons: dict[str, str]) -> str:
    named = [f"{printable(name)} ({why})" for name, why in list(reasons.items())[:MOST_NAMED]]
    more = len(reasons) - len(named)
    return ", ".join(named) + (f" and {more} more columns" if more else "")


def _print_factors(screen: Screen, result: "Result") -> None:
    """Print the table of factors: the selected ones with a bar, then others with a reason."""
    indices = result.indices
    selected, others = indices.selected.tolist()[:MOST_SELECTED], indices.left_out.tolist()[:MOST_LEFT_OUT]
    names = {i: screen.plain(printable(indices.names[i])) for i in [*selected, *others]}
    room = screen.width - len("rank  ") - len("  category") - len("  importance  ")
    width = min(max(map(cell_len, ["factor", *names.values()])), max(room - REASON_WIDTH, SHORTEST_NAME))
    longest_bar = max(min(room - width, LONGEST_BAR), 1)

    def row(rank: str, name: str, kind: str, importance: str) -> str:
        return f"{rank:>4}  {set_cell_size(shorten(name, width), width)}  {kind:8}  {importance:>10}"

    screen.print((row("rank", "factor", "kind", "importance"), "bold"))
    for rank, i in enumerate(selected, start=1):
        bar = screen.bar(indices.values[i] / indices.values.max(), longest_bar)
        importance = format_importance(indices.values[i])
        screen.print_line(row(str(rank), names[i], indices.kinds[i], importance), f"  {bar}", "blue")
    for i in others:
        screen.print_line(row("–", names[i], indices.kinds[i], ""), f"  {indices.why_left_out(i)}", "dim")


def shorten(text: str, width: int) -> str:
    """Return text with its middle left out where it is too wide: both ends tell names apart."""
    if cell_len(text) <= width:
        return text
    head, tail = width // 2, (width - 1) // 2
    return set_cell_size(text, head) + "…" + set_cell_size(text[::-1], tail)[::-1]


def _after_table(result: "Result") -> Iterator[str]:
    """Say what the table does not show."""
    hidden = max(result.indices.selected.size - MOST_SELECTED, 0)
    others = max(len(result.indices.left_out) - MOST_LEFT_OUT, 0)
    counts = [f"{hidden} more with an importance"] * bool(hidden) + [f"{others} more left out"] * bool(others)
    if counts:
        yield f"      … and {', '.join(counts)}; --csv or --json writes all."
    true = result.table.true_factors
    if true:
        chosen = {result.indices.names[i] for i in result.indices.selected}
        missed, wrong = [n for n in true if n not in chosen], sorted(chosen - set(true))
        verdict = "all found" if not missed else f"{', '.join(missed)} missed"
        verdict += f", {', '.join(wrong)} selected too" if wrong else ", and no others"
        yield ""
        yield f"{result.table.y.name} truly depends on {', '.join(true)}: {verdict}."
