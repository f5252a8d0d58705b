"""Seconds and bytes of tasks as functions of the table, fitted to what was measured.

All seconds have the form (sum of coefficients times features) · (N / 10⁵)^γ. What a row takes in a search among N rows
is fitted for each number d of factors in the base, whether outer rows are all of them ("dense": rows of a leaf share
what they find) or few ("sparse"). Relative errors are minimised: coefficients by least squares, γ by trying.

Beyond the largest table that was measured, nobody knows γ: part of it is that larger tables are not in the processor's
caches, which ends somewhere. So there are two predictions. One goes on with γ. The other goes on as theory has it:
sorting and building like N log N; a search in a base of d factors like N^(1/(d + 1)), the number of rows in a ball of
the base that is as large as one of d + 1 factors; a search of one set like log N.

A run is a sum of what is done in turn. Blocks stay where they are, so the machine with most of them decides; the
threads of a machine share searches, but one thread sorts and prepares a block. Nothing goes wrong.
"""

from collections import Counter
from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from firstfactor.neighbors.strategy import (
    FEW_CANDIDATES,
    FEW_ROWS,
    MANY_ROWS,
    cost_alone,
    cost_of_building,
)

UNIT = 1e5
EXPONENTS = np.arange(-0.1, 1.51, 0.01)


@dataclass(frozen=True)
class Law:
    """Seconds, or counted nanoseconds, as a function of features and rows."""

    coefficients: tuple[float, ...]
    exponent: float
    largest: float
    """The most rows that it was fitted to."""
    beyond: tuple[float, float] | None = None
    """How it goes on: the exponents of N and of log N; None if as before."""

    def __call__(self, n_rows, *features):
        """The value for a table."""
        value = float(np.dot(self.coefficients, features))
        if self.beyond is None or n_rows <= self.largest:
            return value * (n_rows / UNIT) ** self.exponent
        power, logarithm = self.beyond
        further = (n_rows / self.largest) ** power * (np.log(n_rows) / np.log(self.largest)) ** logarithm
        return float(value * (self.largest / UNIT) ** self.exponent * further)


def fit(records, value, features, exponents=EXPONENTS, beyond=None):
    """The law that fits records best."""
    targets = np.array([record[value] for record in records])
    rows = np.array([record["N"] for record in records]) / UNIT
    table = np.array([features(record) for record in records], dtype=float)
    best = None
    for exponent in exponents:
        coefficients, error = nnls(table * rows[:, None] ** exponent / targets[:, None], np.ones(len(targets)))
        if best is None or error < best[0]:
            law = Law(tuple(coefficients.tolist()), round(float(exponent), 2), float(rows.max() * UNIT), beyond)
            best = error, law
    return best[1]


class Model:
    """What a run takes on a machine like the one that was measured."""

    def __init__(self, records, by_theory=False):
        """Fit all laws to records that are not held out; beyond them, go on by theory if asked to."""
        records = [record for record in records if not record["held_out"]]
        steps, sets, columns = ([r for r in records if r["kind"] == kind] for kind in ("step", "set", "columns"))
        n_log_n, log_n = ((1.0, 1.0), (0.0, 1.0)) if by_theory else (None, None)
        about_one = np.arange(0.9, 1.5, 0.01)
        self.columns = fit(columns, "seconds", lambda r: (r["c"],), about_one, n_log_n)
        self.prepare = {
            way: fit(some, "prepare", lambda r: (1, r["d"], r["c"]), about_one, n_log_n)
            for way, some in (
                ("tree", [r for r in steps if not _is_sorted(r)]),
                ("sorted", [r for r in steps if _is_sorted(r)]),
            )
        }
        searched = [record for record in steps if record["way"] != "alone"]
        self.row, self.counted = {}, {}
        for d in sorted({record["d"] for record in steps}):
            by_ball = (1 / (d + 1), 0.0) if by_theory else None
            of_base = [r for r in searched if r["d"] == d and (d > 1 or r["way"] == "sorted")]
            self.counted[d] = fit(of_base, "counted", lambda r: (1 / r["c"], 1), beyond=by_ball)
            for kind, is_dense in (("dense", True), ("sparse", False)):
                some = [r for r in of_base if (r["outer"] is None) == is_dense] or of_base
                self.row[kind, d] = fit(some, "row", lambda r: (1, r["c"]), beyond=by_ball)
        weights = [record for record in records if record["kind"] == "weight"]
        self.weight = fit(weights, "peak", lambda r: (1, r["d"]), (1.0,))
        self.build = fit(sets, "build", lambda r: (1, r["d"]), about_one, n_log_n)
        self.set_row = {
            (kind, d): fit([r for r in sets if r["d"] == d], name, lambda _: (1,), beyond=log_n)
            for kind, name in (("dense", "row"), ("sparse", "row_few"))
            for d in sorted({record["d"] for record in sets})
        }

    def way(self, n_rows, base, width, n_outer):
        """How a step is searched: as `Search.prepare` decides from counted costs."""
        alone = float(cost_alone(np.inf, base + 1, n_rows)) + cost_of_building(base + 1) * n_rows / n_outer
        if alone < self._of(self.counted, base, n_rows, 1 / width, 1):
            return "alone"
        least = FEW_ROWS if width < FEW_CANDIDATES else MANY_ROWS
        return "sorted" if base == 1 and n_rows >= least else "tree"

    def describing(self, n_rows, width):
        """Seconds to sort and search single columns."""
        return self.columns(n_rows, width)

    def preparing(self, n_rows, base, width):
        """Seconds to prepare a step."""
        way = "sorted" if base == 1 and n_rows >= MANY_ROWS else "tree"
        return self.prepare[way](n_rows, 1, base, width)

    def searching(self, n_rows, base, width, n_outer):
        """Seconds to search all candidates of a block."""
        if self.way(n_rows, base, width, n_outer) == "alone":
            return width * self.searching_set(n_rows, base + 1, n_outer)
        kind = _density(n_rows, n_outer)
        laws = {d: law for (k, d), law in self.row.items() if k == kind}
        return n_outer * self._of(laws, base, n_rows, 1, width)

    def searching_set(self, n_rows, size, n_outer):
        """Seconds to search one set."""
        kind = _density(n_rows, n_outer)
        laws = {d: law for (k, d), law in self.set_row.items() if k == kind}
        return self.build(n_rows, 1, size) + n_outer * self._of(laws, size, n_rows, 1)

    @staticmethod
    def _of(laws, d, n_rows, *features):
        """The law for so many factors, between those that were measured if need be: a straight line of logarithms."""
        known = sorted(laws)
        values = [max(laws[k](n_rows, *features), 1e-12) for k in known]
        return float(np.exp(np.interp(d, known, np.log(values))))

    # --- bytes: counted, not fitted -------------------------------------------------------------------------

    @staticmethod
    def block_bytes(n_rows, width):
        """Of a block of columns."""
        return 8.0 * n_rows * width

    @staticmethod
    def space_bytes(n_rows, n_outer):
        """Of y and the outer rows."""
        return 8.0 * (n_rows + n_outer)

    @staticmethod
    def prepared_bytes(n_rows, base, width, n_outer):
        """Of what a step makes of a block: its values in the order of the tree, and the tree.

        For each row there are its place in the order and in the tree, y and a weight; for each factor of the base a
        point, a place in a leaf (which is 16 places for 8 to 16 rows; counted as 4/3) and boxes (a few percent).
        """
        return 8.0 * (n_rows * (-(-width // 8) * 8 + 5 + base * (1 + 4 / 3 + 0.3)) + n_outer)


@dataclass(frozen=True)
class Machines:
    """What a cluster is made of."""

    count: int
    threads: int
    network: float
    """Bytes that each machine sends in a second."""
    task: float = 1e-3
    """Seconds of the scheduler for each task."""
    storage: float = 1e9
    """Bytes that each machine reads from files in a second."""
    serves: int = 10
    """Transfers that a machine serves at a time; distributed.worker.connections.incoming of Dask."""

    def seconds_to_spread(self, size):
        """Until all machines have what one of them has: those that have it serve others."""
        seconds, have = 0.0, 1
        while have < self.count:
            served = min(self.serves, -(-(self.count - have) // have))
            seconds += served * size / self.network
            have += have * served
        return seconds


def predict(model, machines, n_rows, n_factors, n_steps, n_outer=None):
    """Seconds of forward steps, by what is done, and the processor seconds of all machines together."""
    n_outer = n_outer or n_rows
    n_blocks, width, most = lay_out(n_factors, machines.count)
    turns = -(-most // machines.threads)  # of tasks that are done by one thread
    parts = min(machines.threads, 64) if machines.count > 1 else 1
    sorting = model.describing(n_rows, width)
    spent, busy = Counter({"sort": turns * sorting}), n_blocks * sorting
    for d in range(1, n_steps):
        preparing, searching = model.preparing(n_rows, d, width), model.searching(n_rows, d, width, n_outer)
        spent["send a column"] += machines.seconds_to_spread(8 * n_rows)
        spent["prepare"] += turns * preparing
        spent["search"] += most * searching / machines.threads
        busy += n_blocks * (preparing + searching)
    spent["schedule"] = machines.task * n_blocks * (1 + (n_steps - 1) * (1 + parts))
    return spent, busy


def lay_out(n_factors, n_machines):
    """The number of blocks, factors in a block, and blocks of the machine with most."""
    n_blocks = -(-n_factors // 64)
    return n_blocks, -(-n_factors // n_blocks), -(-n_blocks // n_machines)


def validate(model, measured):
    """Wall seconds of runs on one and two workers, and processor seconds: each measured and predicted."""
    costs = measured["costs"]
    for run in measured["runs"]:
        if run["workers"] <= 2:
            machines = Machines(run["workers"], 1, 102_400_000 / costs["block"], costs["task"])
            spent, busy = predict(model, machines, run["N"], run["p"], len(run["steps"]))
            yield run, sum(run["steps"]), sum(spent.values()), run["processor"], busy


def predict_run(model, machines, n_rows, n_factors, n_selected, n_outer=None):
    """The same of a whole run: blocks are read from files, and after the last step there is a round of elimination."""
    spent, busy = predict(model, machines, n_rows, n_factors, n_selected, n_outer)
    _, width, most = lay_out(n_factors, machines.count)
    alone = model.searching_set(n_rows, n_selected - 1, n_outer or n_rows)
    spent["eliminate"] = -(-n_selected // (machines.count * machines.threads)) * alone
    spent["read"] = most * model.block_bytes(n_rows, width) / machines.storage
    return spent, busy + n_selected * alone


def memory(model, machines, n_rows, n_factors, n_selected, n_outer=None):
    """Bytes on the machine with most blocks, by what they are, and the most at a time.

    Where candidates are searched by themselves, every thread has a tree of its own; what was prepared is gone by then.
    """
    n_outer = n_outer or n_rows
    _, width, most = lay_out(n_factors, machines.count)
    alone = [d for d in range(1, n_selected) if model.way(n_rows, d, width, n_outer) == "alone"]
    found = {
        "its blocks": most * model.block_bytes(n_rows, width),
        "y and outer rows": model.space_bytes(n_rows, n_outer),
        "selected factors": 8.0 * n_rows * n_selected,
    }
    prepared = most * model.prepared_bytes(n_rows, n_selected - 1, width, n_outer)
    trees = machines.threads * model.weight(n_rows, 1, max(alone) + 1) if alone else 0.0
    total = sum(found.values()) + max(prepared, trees)
    return found | {"prepared steps": prepared, "or trees of single candidates": trees, "at most": total}


def _is_sorted(record):
    return record["d"] == 1 and record["N"] >= MANY_ROWS


def _density(n_rows, n_outer):
    return "dense" if n_outer > n_rows / 16 else "sparse"


def compare(model, records):
    """Each record with a kind of task, and what was measured and what is predicted of it."""
    for record in records:
        n, d, c = record["N"], record.get("d"), record.get("c")
        n_outer = record.get("outer") or n
        if record["kind"] == "columns":
            yield record, "sort columns", record["seconds"], model.describing(n, c)
        elif record["kind"] == "step":
            yield record, "prepare", record["prepare"], model.preparing(n, d, c)
            if record["way"] != "alone":
                kind = _density(n, n_outer)
                yield record, f"search, {kind}", record["row"], model.row[kind, d](n, 1, c)
            if record["way"] == "tree":
                predicted = model.prepared_bytes(n, d, c, n_outer)
                yield record, "bytes of a prepared step", record["bytes"], predicted
        elif record["kind"] == "weight":
            yield record, "bytes to search a set", record["peak"], model.weight(n, 1, d)
        else:
            yield record, "build a tree", record["build"], model.build(n, 1, d)
            for kind, name in (("dense", "row"), ("sparse", "row_few")):
                yield record, f"search a set, {kind}", record[name], model.set_row[kind, d](n, 1)


def summarise(model, records):
    """How many records of each kind, held out or not, and how many times off: the median and the most."""
    found = {}
    for record, kind, measured, predicted in compare(model, records):
        found.setdefault((kind, record["held_out"]), []).append(abs(np.log(predicted / measured)))
    return {
        key: (len(some), float(np.exp(np.median(some))), float(np.exp(np.max(some))))
        for key, some in sorted(found.items())
    }
