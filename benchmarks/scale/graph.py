"""The tasks of a run, recorded from the real code: what it does is done here, on a small table, and written down."""

from dataclasses import dataclass

from firstfactor._utils.threads import Workers
from firstfactor.cluster.client import Cluster
from firstfactor.cluster.search import ClusterSearch
from firstfactor.cluster.table import spread
from firstfactor.data.design import read_design

from .tables import NEIGHBORS, choose_outer, draw

N_ROWS = 64  # of the small table: tasks do not depend on it


@dataclass(frozen=True)
class Task:
    """A task, or a value that is sent to the cluster; numbered in the order in which they are submitted."""

    kind: str
    """The function of `cluster.tasks`, or what is sent."""
    needs: tuple[int, ...]
    """Tasks whose results it is given."""
    owner: int | None
    """The machine that it is meant for; None if any may do it."""
    round: int
    """The results of a round are waited for before the next one is submitted."""
    width: int = 0
    """Candidates, or columns."""
    base: int = 0
    """Factors in the base, or in the set."""
    parts: int = 1


@dataclass(frozen=True)
class Recorded:
    """What stands for a future."""

    value: object
    number: int
    status: str = "finished"


class RecordedCluster(Cluster):
    """Machines that are only thought of: tasks are done here at once, and recorded."""

    def __init__(self, n_machines, n_threads):
        super().__init__(None)
        self.tasks = []
        self._round = 0
        names = [f"{k:06}" for k in range(n_machines)]
        self._number_of = {name: k for k, name in enumerate(names)}
        self._machines = {name: {"nthreads": n_threads, "status": "running"} for name in names}

    @property
    def _workers(self):
        return self._machines

    def keep_copies(self):
        """See `Cluster.keep_copies`."""

    def share(self, value, owner=lambda: None):
        """See `Cluster.share`."""
        kind = f"send {type(value).__name__}"
        width = len(value.factors) if kind == "send Placed" else 0
        return self.keep(lambda: self._record(value, kind, (), owner(), width=width))

    def submit(self, name, function, *arguments, worker=None):  # noqa: ARG002
        """See `Cluster.submit`."""
        needs = [each for one in arguments for each in (one if isinstance(one, list) else [one])]
        values = [_value(one) for one in arguments]
        facts = self._facts(function.__name__, values, arguments)
        numbers = tuple(one.number for one in needs if isinstance(one, Recorded))
        return self._record(function(*values), function.__name__, numbers, worker, **facts)

    def compute(self, submit):
        """See `Cluster.compute`."""
        values = _values(submit())
        self._round += bool(self.tasks and self.tasks[-1].round == self._round)  # else there was nothing to do
        return values

    def _record(self, value, kind, needs, worker, **facts):
        owner = None if worker is None else self._number_of[worker]
        self.tasks.append(Task(kind, needs, owner, self._round, **facts))
        return Recorded(value, len(self.tasks) - 1)

    def _facts(self, kind, values, arguments):
        """What a task is to do, as far as its time depends on it."""
        if kind == "prepare":
            return {"width": len(values[4]), "base": len(values[1])}
        if kind == "run_part":
            prepared = self.tasks[arguments[0].number]
            return {"width": prepared.width, "base": prepared.base, "parts": values[2]}
        if kind == "search_set":
            return {"base": len(values[0])}
        return {"width": len(values[0].factors)} if kind == "describe" else {}


def _value(argument):
    if isinstance(argument, list):
        return [_value(each) for each in argument]
    return argument.value if isinstance(argument, Recorded) else argument


def _values(futures):
    return [_values(each) for each in futures] if isinstance(futures, list) else futures.value


def record(n_machines, n_threads, n_factors, n_steps, eliminates=False):
    """The tasks of so many forward steps and, if asked for, of one round of elimination.

    Which factor enters does not change them: factors enter in order.
    """
    cluster = RecordedCluster(n_machines, n_threads)
    X, y = draw(N_ROWS, n_factors)
    design = spread(read_design(X), cluster)
    search = ClusterSearch(design, y, choose_outer(N_ROWS, None), NEIGHBORS, Workers(1))
    for k in range(n_steps):
        search.plus_each(tuple(range(k)), tuple(range(k, n_factors)))
    if eliminates:  # what `minus_each` does where rows are many
        search._each_alone([tuple(i for i in range(n_steps) if i != out) for out in range(n_steps)])
    return cluster.tasks
