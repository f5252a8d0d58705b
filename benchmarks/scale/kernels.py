"""How long the tasks of workers take, one by one in this process, on more rows than a small cluster could hold.

Of the searches only some parts are done: what a row takes does not depend on how many are searched. Seconds are
those of the processor, which other work on the machine changes less.
"""

import time
import tracemalloc

import numpy as np

from firstfactor.cluster import tasks
from firstfactor.data.design import join_designs
from firstfactor.neighbors.candidate_search import SortedColumnSearch
from firstfactor.neighbors.kernels.ball_variance import ball_variances

from .sizes import count_bytes
from .tables import place

FEW = 2000  # rows that are searched of a step, and outer rows where these are few

# Rows, factors in the base and candidates. What is held out is not used to fit the model.
BASES = (1, 2, 3, 4, 6, 9)
SIZES = ((20_000, 64), (50_000, 64), (200_000, 16), (200_000, 64), (1_000_000, 16), (1_000_000, 32))
STEPS = [(n, d, c) for d in BASES for n, c in SIZES]
STEPS_HELD_OUT = [(n, d, c) for n, c in ((100_000, 32), (2_000_000, 16)) for d in (1, 2, 4, 9)]
SETS = [(n, d) for n in (20_000, 50_000, 200_000, 1_000_000) for d in (2, 3, 5, 7, 10)]
SETS_HELD_OUT = [(n, d) for n in (100_000, 2_000_000) for d in (2, 5, 10)]
WEIGHTS, WEIGHTS_HELD_OUT = [(n, d) for n in (50_000, 100_000) for d in (2, 4, 6)], [(200_000, 3)]
COLUMNS, COLUMNS_HELD_OUT = [(n, 16) for n in (20_000, 100_000, 500_000)], [(200_000, 64), (2_000_000, 8)]


def measure(say):
    """Records of all tasks that were timed."""
    _warm_up()
    records = []
    for is_held_out in (False, True):
        steps, sets, columns = (
            (STEPS_HELD_OUT, SETS_HELD_OUT, COLUMNS_HELD_OUT) if is_held_out else (STEPS, SETS, COLUMNS)
        )
        for case in steps:
            for n_outer in (None, FEW):
                records.append(time_step(*case, n_outer) | {"held_out": is_held_out})
                say(records[-1])
        for case in sets:
            records.append(time_set(*case) | {"held_out": is_held_out})
            say(records[-1])
        for case in columns:
            records.append(time_columns(*case) | {"held_out": is_held_out})
            say(records[-1])
        for case in WEIGHTS_HELD_OUT if is_held_out else WEIGHTS:
            records.append(weigh_set(*case) | {"held_out": is_held_out})
            say(records[-1])
    return records


def _warm_up():
    """Load every kernel."""
    for case in ((1000, 1, 16, None), (4000, 1, 4, FEW), (100_000, 1, 16, None), (1000, 3, 16, None)):
        time_step(*case)
    time_columns(1000, 2)
    time_set(4000, 2)


def time_step(n_rows, n_base, n_candidates, n_outer):
    """The seconds to prepare a step, and for each row of the search."""
    block, base, space, known = place(n_rows, n_base, n_candidates, n_outer)
    prepared, taken = _time(tasks.prepare, block, base, space, known, block.factors)
    step = prepared.step
    record = {"kind": "step", "N": n_rows, "d": n_base, "c": n_candidates, "outer": n_outer, "prepare": taken}
    if step.shared is None:
        return record | {"way": "alone"}
    way = "sorted" if isinstance(step.shared, SortedColumnSearch) else "tree"
    n_tasks = len(step.shared.tasks())
    wanted = max(1, min(n_tasks, FEW * n_tasks // space.outer.size))
    searched = [_time(step.run, n_tasks // 2 + k, n_tasks)[1] for k in range(-(wanted // 2), wanted - wanted // 2)]
    rows = sum(step.shared.tasks()[n_tasks // 2 + k].size for k in range(-(wanted // 2), wanted - wanted // 2))
    return record | {
        "way": way,
        "row": sum(searched) / rows,
        "counted": float(step.shared.cost()),
        "bytes": count_bytes(prepared) - count_bytes((block, base, space, known)),
    }


def time_set(n_rows, n_factors):
    """The seconds to build the tree of a set, and for each row of the search where outer rows are all, or few.

    As `Search._find_balls` does it.
    """
    _, base, space, known = place(n_rows, n_factors, 1)
    search = space.search(join_designs([one.design for one in base]), known.of(range(n_factors)))
    permuted, building = _time(search.kd_tree, range(n_factors))
    points = search.unique_points(range(n_factors))
    about = [each[permuted.tree.order] for each in (points.count, points.mean, points.squares)]
    taken = {}
    for name, centres in (
        ("row", np.arange(n_rows // 2, n_rows // 2 + FEW)),
        ("row_few", np.arange(0, n_rows, n_rows // FEW)),
    ):
        arguments = (permuted.tree, permuted.caps, *about, None, centres, space.n_neighbors)
        taken[name] = _time(ball_variances, *arguments)[1] / centres.size
    return {"kind": "set", "N": n_rows, "d": n_factors, "build": building} | taken


def time_columns(n_rows, n_columns):
    """The seconds to sort some columns and search along each."""
    block, _, space, _ = place(n_rows, 0, n_columns)
    _, taken = _time(tasks.describe, block, space)
    return {"kind": "columns", "N": n_rows, "c": n_columns, "seconds": taken}


def weigh_set(n_rows, n_factors):
    """The most bytes that are taken to search a set by itself, besides what is given."""
    _, base, space, known = place(n_rows, n_factors, 1)
    tracemalloc.start()
    tasks.search_set(base, space, known)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return {"kind": "weight", "N": n_rows, "d": n_factors, "peak": peak}


def _time(function, *arguments):
    start = time.thread_time()
    result = function(*arguments)
    return result, time.thread_time() - start
