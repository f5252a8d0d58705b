"""What `benchmarks.compare` measures: one list of cases, each with the bound that is wanted.

Both sides of a case are processes of their own that take turns (`benchmarks.side`); the figure is the median of the
ratios of all turns. If nothing else is said, both have one thread, and processor time is compared, which other work on
the machine changes little.
"""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np

from . import data
from .measure import ROOT, SOURCE, Side, command_seconds, stored_table, take_turns


class SkippedError(Exception):
    """Something that a case needs is not there."""


@dataclass(frozen=True)
class Run:
    """What cases need to know of a run."""

    releases: dict[str, Path] = field(default_factory=dict)
    """Folders with the sources of old releases: ``first`` and ``before``."""
    tables: dict[str, Path] = field(default_factory=dict)
    """Files with real tables: ``diamonds`` and ``flights``."""
    seconds: float = 20.0
    """How long the sides of a case take turns, at least."""

    def source(self, release):
        """Return the folder with the sources of a release; None is the code of this repository."""
        if release is None:
            return SOURCE
        if release not in self.releases:
            raise SkippedError(f"no sources of the release: --{release} FOLDER, or a clone with its history")
        return self.releases[release]


@dataclass(frozen=True)
class Work:
    """One side of a case.

    Parameters
    ----------
    table : callable
        Takes a `Run` and returns the table as a dictionary.
    task : str
        What is done with it: a function of `benchmarks.side`.
    options : dict
        Options of the task.
    release : str, optional
        The old release that does it.
    threads : int
        Threads that it may use.
    """

    table: Callable[[Run], dict]
    task: str = "fit"
    options: dict = field(default_factory=dict)
    release: str | None = None
    threads: int = 1


def turns(case, run):
    """Compare two sides: how many times as long ours takes, or how many times as fast it is if that is the bound."""
    sources = [run.source(work.release) for work in (case.ours, case.theirs)]
    tables = [work.table(run) for work in (case.ours, case.theirs)]
    with stored_table(tables[0]) as ours, stored_table(tables[1]) as theirs:
        first, second = (
            Side(work.task, table, source, work.threads, work.options)
            for work, table, source in zip((case.ours, case.theirs), (ours, theirs), sources, strict=True)
        )
        with first, second:
            found = take_turns((first, second), run.seconds)
    times = [[turn[case.clock] for turn in side] for side in found]
    ratio = median(a / b for a, b in zip(*times, strict=True))
    row = {"value": ratio if case.at_least is None else 1 / ratio}
    row |= {"ours": median(times[0]), "theirs": median(times[1]), "turns": len(times[0])}
    if case.same_answer:
        answers = [np.array(side[0]["answer"]) for side in found]
        row["difference"] = float(np.abs(answers[0] - answers[1]).max())
    return row


def two_threads_and_one(case, run):
    """Compare the wall time of two threads, which is the figure, and the processor time of one."""
    both = replace(case, ours=replace(case.ours, threads=2), theirs=replace(case.theirs, threads=2), clock="wall")
    return turns(both, run) | {"one_thread": turns(case, run)["value"]}


def peak_memory(case, run):
    """Measure the peak memory of our side, its table included, in multiples of the table."""
    table = case.ours.table(run)
    with stored_table(table) as path, Side(case.ours.task, path, warm_up="head") as side:
        size = table["X"].nbytes
        return {"value": (size + side()["memory"]) / size}


def warm_start(case, run):  # noqa: ARG001
    """Measure the seconds of a first fit in a new process, beyond those of importing scikit-learn."""
    use = (
        "import numpy as np; from firstfactor import FIRST; rng = np.random.default_rng(0);"
        "X = rng.uniform(size=(1000, 10)); FIRST().fit(X, X[:, 0] + X[:, 1] ** 2 + rng.normal(size=1000))"
    )
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    command_seconds(use, environment, repeats=1)  # fills the cache
    warm = command_seconds(use, environment, repeats=7)
    return {"value": warm - command_seconds("import sklearn.feature_selection", environment, repeats=7)}


def cold_start(case, run):  # noqa: ARG001
    """Measure what `benchmarks.startup` prints as the ratio of compile times, against the release before."""
    command = [sys.executable, "-m", "benchmarks.startup", "--cold", "--against", run.source("before")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    ratios = re.findall(r"ratio +([\d.]+)", done.stdout)
    if done.returncode or not ratios or "cold" not in done.stdout:
        raise SkippedError("python -m benchmarks.startup --cold --against FOLDER printed no ratio of cold starts")
    return {"value": float(ratios[-1])}


@dataclass(frozen=True)
class Case:
    """A row of the tables in README.md and docs.

    Parameters
    ----------
    name : str
        What ``--only`` calls it. The word before the first hyphen is its group: a table on a page.
    words : str
        What pages call it.
    ours, theirs : Work, optional
        Its two sides.
    at_most, at_least : float, optional
        The bound. Without one, the figure is only shown.
    measure : callable
        Takes the case and a `Run`; returns the figure as ``value``, and what else is stored.
    clock : {"processor", "wall"}
        The time that is compared.
    same_answer : bool
        Store how far the answers of both sides differ.
    unit : str
        Unit of the figure.
    is_slow : bool
        Leave it out with ``--quick``.
    """

    name: str
    words: str
    ours: Work | None = None
    theirs: Work | None = None
    at_most: float | None = None
    at_least: float | None = None
    measure: Callable = turns
    clock: str = "processor"
    same_answer: bool = False
    unit: str = "×"
    is_slow: bool = False

    @property
    def group(self):
        """Return the table on a page that it is a row of."""
        return self.name.partition("-")[0]

    @property
    def bound(self):
        """Return the bound as pages write it; empty if there is none."""
        if self.at_least is not None:
            return f"≥ {self.at_least:g} {self.unit}"
        return "" if self.at_most is None else f"≤ {self.at_most:g} {self.unit}"

    def is_reached(self, value):
        """Return whether a figure keeps the bound."""
        return value >= self.at_least if self.at_least is not None else value <= self.at_most


# Tables


def table(make, *arguments, **options):
    """Return a function that makes X and y as one of `benchmarks.data` does."""
    return lambda run: dict(zip(("X", "y"), make(*arguments, **options), strict=True))  # noqa: ARG005


def real(name, target, dropped=()):
    """Return a function that reads a real table, without rows that have missing values."""

    def read(run):
        import pandas as pd

        if name not in run.tables:
            raise SkippedError(f"no file with {name}: see --help")
        frame = pd.read_csv(run.tables[name]).drop(columns=list(dropped), errors="ignore").dropna()
        return {"frame": frame, "target": target, "X": frame.drop(columns=target), "y": frame[target].to_numpy()}

    return read


def framed(make):
    """Return a function that makes a table as a data frame with the response y."""

    def frame(run):
        import pandas as pd

        plain = make(run)
        return {"frame": pd.DataFrame(plain["X"]).add_prefix("x").assign(y=plain["y"]), "target": "y"}

    return frame


def everyday(change):
    """Return a function that makes a plain table and changes it to what people have."""

    def make(run):
        plain = PLAIN(run)
        return plain | change(plain["X"], plain["y"])

    return make


def classes(count, X, y):  # noqa: ARG001
    """Cut the response into classes of the same size."""
    return {"y": np.searchsorted(np.quantile(y, np.linspace(0, 1, count + 1)[1:-1]), y)}


def outputs(X, y):
    """Add two outputs, one of them noise."""
    return {"y": np.column_stack([y, X[:, 8], np.random.default_rng(0).normal(size=len(y))])}


def missing(X, y):  # noqa: ARG001
    """Remove a tenth of all values."""
    return {"X": np.where(np.random.default_rng(0).uniform(size=X.shape) < 0.1, np.nan, X)}


friedman = partial(table, data.friedman)
PLAIN = friedman(10_000, 10)
MILLION = friedman(1_000_000, 20)
DIAMONDS = real("diamonds", "price")
FLIGHTS = real("flights", "arr_delay", ("rownames", "year", "time_hour", "tailnum"))

# Cases


def first(name, words, make, task="fit"):
    """The same call of this code and of the first release."""
    ours = Work(make, task)
    return Case(f"first-{name}", words, ours, replace(ours, release="first"), at_most=1.05)


def pyfirst(name, words, make, at_least, same_answer=True, is_slow=False):
    """The procedure of pyfirst: candidates are dropped early, in two passes, and factors eliminated one at a time."""
    ours = Work(make, options={"forward": 2, "elimination": "single"})
    options = {"measure": two_threads_and_one, "same_answer": same_answer, "is_slow": is_slow}
    return Case(f"pyfirst-{name}", words, ours, Work(make, "pyfirst"), at_least=at_least, **options)


def calibrated(name, words, make, at_most, is_slow=False):
    """A fit by the calibrated rule against the release before."""
    ours = Work(make, options={"rule": "calibrated", "random_state": 0})
    theirs = replace(ours, release="before")
    return Case(f"calibrated-{name}", words, ours, theirs, at_most=at_most, is_slow=is_slow)


def rank_before(name, words, make, at_most, is_slow=False):
    """`rank` against the release before, on two threads."""
    ours = Work(make, "rank", threads=2)
    theirs, words = replace(ours, release="before"), f"{words}, against 0.2.0"
    return Case(f"rank-{name}-before", words, ours, theirs, at_most=at_most, clock="wall", is_slow=is_slow)


def rank(name, words, make, is_slow):
    """`rank` against the release before, and against selecting alone, without importances and how sure they are."""
    ours, selecting = Work(make, "rank", threads=2), Work(make, "choose", {"rule": "calibrated"}, threads=2)
    words_of_selection = f"{words}, against selecting alone"
    yield rank_before(name, words, make, 0.5, is_slow)
    yield Case(f"rank-{name}-selection", words_of_selection, ours, selecting, at_most=2, clock="wall", is_slow=is_slow)


def daily(name, words, change, at_most=None, **options):
    """A table of an everyday kind against a plain one of the same size."""
    ours = Work(everyday(change), options=options)
    return Case(f"everyday-{name}", words, ours, Work(PLAIN), at_most=at_most)


def looking(name, words, make, **options):
    """A fit with all that is computed only when it is looked at, against the fit alone."""
    ours = Work(make, "fit_and_look", options)
    return Case(f"sharing-{name}", words, ours, replace(ours, task="fit"), at_most=3)


CASES = (
    first("1000x10", "1,000 × 10", friedman(1_000, 10)),
    first("1500x600", "1,500 × 600", friedman(1_500, 600)),
    first("1000x1000", "1,000 × 1,000", friedman(1_000, 1_000)),
    first("20000x12", "20,000 × 12", friedman(20_000, 12)),
    first("totals", "`total_indices`, 3,000 × 40", friedman(3_000, 40), "totals"),
    pyfirst("1000x10", "1,000 × 10, ρ = 0.8", friedman(1_000, 10, 0.8), 30),
    pyfirst("1000x1000", "1,000 × 1,000, ρ = 0.9", friedman(1_000, 1_000, 0.9), 80, is_slow=True),
    pyfirst("1500x600", "1,500 × 600", friedman(1_500, 600), 60, is_slow=True),
    pyfirst("10000x10", "10,000 × 10", friedman(10_000, 10), 70, is_slow=True),
    pyfirst("20000x12", "20,000 × 12", friedman(20_000, 12), 100, is_slow=True),
    pyfirst("50000x10", "50,000 × 10", friedman(50_000, 10), 250, is_slow=True),
    pyfirst("mixed", "mixed, 6,000 × 16", table(data.mixed, 6_000), 40, same_answer=False),
    Case(
        "pyfirst-totals",
        "NANNE, 3,000 × 40",
        Work(friedman(3_000, 40), "totals"),
        Work(friedman(3_000, 40), "pyfirst_totals"),
        at_least=18,
        measure=two_threads_and_one,
        same_answer=True,
    ),
    pyfirst("discrete", "discrete, 10,000 × 12", table(data.discrete, 10_000), 100, same_answer=False, is_slow=True),
    pyfirst("classes", "two classes, 20,000 × 20", table(data.two_classes, 20_000, 20), 60, is_slow=True),
    Case(
        "million-tree",
        "1,000,000 × 20, against one search by cKDTree",
        Work(MILLION),
        Work(MILLION, "tree_search", {"factors": [0, 6, 7, 8, 9]}),
        at_most=3.5,
        is_slow=True,
    ),
    Case("million-memory", "the same: peak memory", Work(MILLION), at_most=5, measure=peak_memory, is_slow=True),
    *rank("diamonds", "`rank` on diamonds", DIAMONDS, is_slow=False),
    *rank("flights", "`rank` on flights", FLIGHTS, is_slow=True),
    rank_before("1000x10", "`rank`, 1,000 × 10", framed(friedman(1_000, 10)), 1),
    rank_before("10000x20", "`rank`, 10,000 × 20", framed(friedman(10_000, 20)), 1),
    rank_before("100000x20", "`rank`, 100,000 × 20", framed(friedman(100_000, 20)), 1, is_slow=True),
    calibrated("1000x10", "1,000 × 10", friedman(1_000, 10), 1.5),
    calibrated("1000x1000", "1,000 × 1,000", friedman(1_000, 1_000), 1),
    calibrated("100000x20", "100,000 × 20", friedman(100_000, 20), 1, is_slow=True),
    calibrated("2000x5000", "2,000 × 5,000", friedman(2_000, 5_000), 1, is_slow=True),
    Case(
        "start-cold", "compiling for `firstfactor demo`, against 0.2.0", at_most=0.5, measure=cold_start, is_slow=True
    ),
    Case("start-warm", "a new process, beyond importing scikit-learn", at_most=1, measure=warm_start, unit="s"),
    Case(
        "threads-2",
        "a second thread, 50,000 × 10",
        Work(friedman(50_000, 10), threads=2),
        Work(friedman(50_000, 10)),
        at_least=1.7,
        clock="wall",
    ),
    daily("3-neighbors", "three neighbours, as classes have", lambda X, y: {}, n_neighbors=3),  # noqa: ARG005
    daily("3-classes", "3 classes", partial(classes, 3), 1.5, task="classification"),
    daily("10-classes", "10 classes", partial(classes, 10), 3, task="classification"),
    daily("outputs", "3 outputs", outputs, 1.5),
    daily("weights", "weights", lambda X, y: {"rows": {"sample_weight": 1 + X[:, 1]}}, 1.2),  # noqa: ARG005
    daily("missing", "10 % missing values", missing, 2),
    daily("groups", "groups of 20 rows", lambda X, y: {"rows": {"groups": np.arange(len(y)) // 20}}, 2),  # noqa: ARG005
    daily("columns", "two columns grouped", lambda X, y: {}, 2, factor_groups={"pair": [1, 2]}),  # noqa: ARG005
    Case(
        "sharing-shapley",
        "fair shares against pyfirst's, 2,000 × 10",
        Work(friedman(2_000, 10, 0.8), "shares"),
        Work(friedman(2_000, 10, 0.8), "pyfirst_shares"),
        at_least=40,
        same_answer=True,
    ),
    looking("paper", "all that a fit can say, 10,000 × 10, ρ = 0", PLAIN),
    looking("paper-0.8", "the same, ρ = 0.8", friedman(10_000, 10, 0.8)),
    looking("calibrated", "calibrated rule, ρ = 0", PLAIN, rule="calibrated", random_state=0),
    looking("calibrated-0.8", "the same, ρ = 0.8", friedman(10_000, 10, 0.8), rule="calibrated", random_state=0),
)


def find(names):
    """Return the cases that names are of; a name can be that of a group."""
    known = {name for case in CASES for name in (case.group, case.name)}
    if unknown := set(names) - known:
        raise ValueError(
            f"no case or group is called {' or '.join(sorted(unknown))}; there are {', '.join(sorted(known))}"
        )
    return [case for name in names for case in CASES if name in (case.group, case.name)]
