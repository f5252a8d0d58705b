"""A schedule without a cluster: machines with threads and a network, a scheduler, and what goes wrong.

What Dask does is kept where it decides the time:

- Tasks of a round go through the scheduler one after the other; what was submitted first is done first.
- A task that is meant for a machine is done there, unless that machine is lost; others are done where what they need
  is, and may be stolen by a machine that has nothing to do.
- What a task needs is fetched from a machine that has it, before a thread is taken. A machine serves so many at a time,
  which share its network; others ask again, and by then there are more that have it.
- Between rounds, machines forget what another one has, too, as Dask's Active Memory Manager makes them.
- What a lost machine had is made again from what it was made of, if it is needed; a new machine comes in its place.

Not kept: how threads of a machine share its memory, how much the network takes in at the receiver, and that Dask may
move a task away from the machine that it was meant for.
"""

import heapq
from collections import Counter, defaultdict
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Machines:
    """What a cluster is made of."""

    count: int
    threads: int
    bandwidth: float
    """Bytes that each machine sends in a second."""
    task: float = 0.0
    """Seconds of the scheduler for each task."""
    serves: int = 10
    """Transfers that a machine serves at a time; distributed.worker.connections.incoming of Dask."""
    forgets: bool = False
    """Whether only one of several copies is kept between rounds."""


@dataclass(frozen=True)
class Trouble:
    """What goes wrong."""

    slow_tasks: float = 0.0
    """The share of tasks that take ``slower`` times as long."""
    slower: float = 3.0
    slow_machine: float = 1.0
    """How many times as long all tasks of the first machine take."""
    losses: float = 0.0
    """How many machines are lost in a second, on average, of each."""
    lost_at: tuple[tuple[float, int], ...] = ()
    """Machines that are lost for sure, and when."""
    replaced_after: float = 60.0
    seed: int = 0


@dataclass
class Run:
    """What came out."""

    ends: list[float]
    """When each round ended."""
    busy: float
    """Seconds of all threads together."""
    path: Counter
    """Seconds on the path that decided the end, by what they were spent on."""
    moved: float
    """Bytes between machines."""
    lost: int
    stolen: int

    @property
    def seconds(self):
        """The time of all."""
        return self.ends[-1]

    def rounds(self):
        """The seconds of each round."""
        return np.diff([0.0, *self.ends]).tolist()


@dataclass
class State:
    """One task, on its way."""

    waits_for: int = 0
    machine: int | None = None
    done: bool = False
    active: bool = False
    """Submitted, and not done."""
    submitted: float = 0.0
    ready: float = 0.0
    fetched: float = 0.0
    started: float = 0.0
    ended: float = 0.0
    cause: int | None = None
    """The need that was done last."""
    missing: set = field(default_factory=set)
    attempt: int = 0


class Simulation:
    """One run of recorded tasks."""

    def __init__(self, tasks, seconds, sizes, machines, trouble=None, steals=True):
        """Take functions of a task: its seconds, and the bytes of its result."""
        self.tasks, self.machines, self.trouble = tasks, machines, trouble or Trouble()
        self.steals = steals
        rng = np.random.default_rng(self.trouble.seed)
        slow = rng.random(len(tasks)) < self.trouble.slow_tasks
        self.seconds = [
            seconds(task) * (self.trouble.slower if s else 1.0) for task, s in zip(tasks, slow, strict=True)
        ]
        self.sizes = [sizes(task) for task in tasks]
        self.states = [State() for _ in tasks]
        self.users = defaultdict(list)
        for number, task in enumerate(tasks):
            for need in task.needs:
                self.users[need].append(number)
        self.holders = defaultdict(set)
        self.queues = [[] for _ in range(machines.count)]
        self.free = [machines.threads] * machines.count
        self.alive = [True] * machines.count
        self.running = [set() for _ in range(machines.count)]
        self.sending = [False] * machines.count
        self.wanted = defaultdict(list)
        self.client_free = 0.0
        self.now, self.events, self.count = 0.0, [], 0
        self.left, self.ends, self.busy, self.moved, self.lost, self.stolen = 0, [], 0.0, 0.0, 0, 0
        self.n_rounds = 1 + max(task.round for task in tasks)
        self.of_round = defaultdict(list)
        for number, task in enumerate(tasks):
            self.of_round[task.round].append(number)
        for at, machine in self.trouble.lost_at:
            self._at(at, self._lose, machine)
        if self.trouble.losses:
            self._rng = rng
            for machine in range(machines.count):
                self._at(rng.exponential(1 / self.trouble.losses), self._lose, machine)

    def run(self):
        """All rounds, one after the other."""
        for number in range(self.n_rounds):
            self._submit(self.of_round[number])
            while self.left:
                self.now, _, action, arguments = heapq.heappop(self.events)
                action(*arguments)
            self.ends.append(self.now)
            if self.machines.forgets:
                self.holders = defaultdict(set, {k: {min(some)} for k, some in self.holders.items() if some})
        return Run(self.ends, self.busy, self._find_path(), self.moved, self.lost, self.stolen)

    def _at(self, when, action, *arguments):
        self.count += 1
        heapq.heappush(self.events, (when, self.count, action, arguments))

    # --- from the client to a machine -----------------------------------------------------------------

    def _submit(self, numbers):
        self.left = len(numbers)
        for k, number in enumerate(numbers):
            self.states[number].active = True
            self._at(self.now + (k + 1) * self.machines.task, self._arrive, number)

    def _arrive(self, number):
        """The scheduler knows of a task; what it needs and nobody has any more is made again."""
        state = self.states[number]
        state.submitted = self.now
        state.waits_for = 0
        for need in self.tasks[number].needs:
            if not self.holders[need]:
                self._again(need)
            state.waits_for += not self.states[need].done
        if not state.waits_for:
            self._ready(number)

    def _again(self, number):
        """Make a result again that was lost."""
        state = self.states[number]
        if state.active or not state.done:
            return  # it is under way
        state.done, state.active = False, True
        self.left += 1
        self._arrive(number)

    def _ready(self, number):
        task, state = self.tasks[number], self.states[number]
        if not all(self.holders[need] for need in task.needs):
            return self._arrive(number)  # lost meanwhile
        state.ready, state.machine = self.now, self._choose(task)
        if state.machine is None:
            return None  # until a machine comes back
        return self._send(number) if task.kind.startswith("send ") else self._assign(number, state.machine)

    def _send(self, number):
        """The client sends one value after the other."""
        self.client_free = max(self.client_free, self.now) + self.seconds[number]
        state = self.states[number]
        state.fetched = state.started = self.now
        state.attempt += 1
        self._at(self.client_free, self._finish, number, state.attempt)

    def _choose(self, task):
        """The machine for a task: its own, or the one with least to do of those that have most of what it needs."""
        if task.owner is not None and self.alive[task.owner]:
            return task.owner
        candidates = [m for m in range(self.machines.count) if self.alive[m]]
        if not candidates:
            return None
        held = [need for need in task.needs if self.sizes[need] > 0]
        if held:
            largest = max(held, key=self.sizes.__getitem__)
            candidates = list(self.holders[largest]) or candidates
        return min(candidates, key=lambda m: (len(self.queues[m]) + self.machines.threads - self.free[m], m))

    def _assign(self, number, machine):
        state = self.states[number]
        state.machine = machine
        state.missing = {need for need in self.tasks[number].needs if machine not in self.holders[need]}
        for need in state.missing:
            self.wanted[need].append((machine, number))
        if state.missing:
            self._at(self.now, self._serve)
        else:
            self._fetched(number)

    def _fetched(self, number):
        state = self.states[number]
        state.fetched = self.now
        heapq.heappush(self.queues[state.machine], number)
        self._start(state.machine)
        if self.steals and self.queues[state.machine]:
            self._share_out(state.machine)

    # --- the network -------------------------------------------------------------------------------------

    def _serve(self):
        """Let every machine that is free to send serve some of those that want what it has."""
        for need in list(self.wanted):
            if not self.holders[need]:
                self._again(need)
            for source in sorted(self.holders[need]):
                if not self.wanted[need]:
                    break
                if self.alive[source] and not self.sending[source]:
                    receivers = list(dict.fromkeys(m for m, _ in self.wanted[need]))[: self.machines.serves]
                    served = [pair for pair in self.wanted[need] if pair[0] in receivers]
                    self.wanted[need] = [pair for pair in self.wanted[need] if pair[0] not in receivers]
                    self.sending[source] = True
                    size = self.sizes[need] * len(receivers)
                    self.moved += size
                    self._at(self.now + size / self.machines.bandwidth, self._sent, source, need, served)
            if not self.wanted[need]:
                del self.wanted[need]

    def _sent(self, source, need, served):
        self.sending[source] = False
        is_there = source in self.holders[need]  # else the sender was lost meanwhile
        for machine, number in served:
            state = self.states[number]
            if state.machine != machine or need not in state.missing:
                continue
            if not is_there:
                self.wanted[need].append((machine, number))
                continue
            self.holders[need].add(machine)
            state.missing.discard(need)
            if not state.missing:
                self._fetched(number)
        self._serve()

    # --- threads -----------------------------------------------------------------------------------------

    def _start(self, machine):
        """Let free threads take what was submitted first."""
        while self.alive[machine] and self.free[machine] and self.queues[machine]:
            number = heapq.heappop(self.queues[machine])
            state = self.states[number]
            self.free[machine] -= 1
            self.running[machine].add(number)
            state.started = self.now
            state.attempt += 1
            taken = self.seconds[number] * (self.trouble.slow_machine if machine == 0 else 1.0)
            self._at(self.now + taken, self._finish, number, state.attempt)

    def _finish(self, number, attempt):
        state = self.states[number]
        if state.attempt != attempt or not state.active:
            return  # its machine was lost
        machine = state.machine
        if number in self.running[machine]:
            self.running[machine].discard(number)
            self.free[machine] += 1
            self.busy += self.now - state.started
        state.done, state.active, state.ended = True, False, self.now
        self.holders[number].add(machine)
        self.left -= 1
        if number in self.wanted:
            self._serve()
        for user in self.users[number]:
            other = self.states[user]
            if other.active and other.waits_for:
                other.waits_for -= 1
                if not other.waits_for:
                    other.cause = number
                    self._ready(user)
        self._start(machine)
        if self.steals and self.free[machine]:
            self._steal(machine)

    def _steal(self, thief):
        """Take a task of the machine with most to do, if any may do it."""
        victim = max(range(self.machines.count), key=lambda m: len(self.queues[m]))
        self._move(victim, thief)

    def _share_out(self, victim):
        idle = [m for m in range(self.machines.count) if self.alive[m] and self.free[m] and not self.queues[m]]
        if idle:
            self._move(victim, max(idle, key=lambda m: self.free[m]))

    def _move(self, victim, thief):
        """Give the last task of one machine to another, unless it would be done sooner where it is."""
        if victim == thief or not self.alive[thief]:
            return
        free = [number for number in self.queues[victim] if self.tasks[number].owner is None]
        if not free:
            return
        number = max(free)
        needs = [need for need in self.tasks[number].needs if thief not in self.holders[need]]
        sending = sum(self.sizes[need] for need in needs) / self.machines.bandwidth
        waiting = self.seconds[number] * len(self.queues[victim]) / self.machines.threads
        if self.steals != "blindly" and sending > waiting:
            return
        self.queues[victim].remove(number)
        heapq.heapify(self.queues[victim])
        self.stolen += 1
        self._assign(number, thief)

    # --- losses ------------------------------------------------------------------------------------------

    def _lose(self, machine):
        """Forget all that a machine has and does; others do what it was about to do, and it comes back empty."""
        self.lost += 1
        self.alive[machine] = False
        self._at(self.now + self.trouble.replaced_after, self._replace, machine)
        for holders in self.holders.values():
            holders.discard(machine)
        self.queues[machine].clear()
        self.running[machine].clear()
        self.sending[machine] = False
        for need in list(self.wanted):
            self.wanted[need] = [pair for pair in self.wanted[need] if pair[0] != machine]
        current = len(self.ends)
        for number, state in enumerate(self.states):
            if state.machine != machine:
                continue
            if state.active and not state.waits_for:
                state.attempt += 1
                state.missing = set()
                self._arrive(number)
            elif state.done and self.tasks[number].round == current and not self.holders[number]:
                self._again(number)  # its result was not fetched yet

    def _replace(self, machine):
        self.alive[machine], self.free[machine] = True, self.machines.threads
        if self.trouble.losses:
            self._at(self.now + self._rng.exponential(1 / self.trouble.losses), self._lose, machine)
        for number, state in enumerate(self.states):  # what had nowhere to go
            if state.active and not state.waits_for and state.machine is None:
                self._ready(number)

    # --- what decided the time -----------------------------------------------------------------------------

    def _find_path(self):
        """Seconds by what they were spent on, from the last task of each round back to its beginning."""
        spent = Counter()
        start = 0.0
        for number, end in enumerate(self.ends):
            last = max(self.of_round[number], key=lambda k: self.states[k].ended)
            begin = start
            while True:
                state = self.states[last]
                kind = self.tasks[last].kind
                spent[kind] += state.ended - max(state.started, begin)
                spent["wait for a thread"] += max(0.0, state.started - max(state.fetched, begin))
                spent["transfer"] += max(0.0, state.fetched - max(state.ready, begin))
                if state.cause is None or self.states[state.cause].ended <= begin:
                    spent["scheduler"] += max(0.0, min(state.ready, state.fetched) - begin)
                    break
                last = state.cause
            start = end
        return spent


def simulate(*arguments, **options):
    """The run of some tasks; see `Simulation`."""
    return Simulation(*arguments, **options).run()
