"""The simulator on graphs whose schedule is known, and the tasks that are recorded from the real code."""

from collections import Counter

import pytest

from benchmarks.scale.graph import Task, record
from benchmarks.scale.model import Law, fit
from benchmarks.scale.plans import from_files
from benchmarks.scale.simulator import Machines, Trouble, simulate

ONE, TWO = Machines(1, 1, bandwidth=100.0), Machines(2, 1, bandwidth=100.0)


def task(*needs, owner=None, round=0, kind="work"):  # noqa: A002
    return Task(kind, needs, owner, round)


def run(tasks, machines, trouble=None, seconds=10.0, size=0.0, **options):
    return simulate(tasks, lambda _: seconds, lambda _: size, machines, trouble, **options)


def test_a_chain_is_done_in_turn_however_many_machines_there_are():
    chain = [task(), task(0), task(1)]
    assert run(chain, ONE).seconds == run(chain, TWO).seconds == 30
    assert run(chain, TWO).path["work"] == 30


def test_independent_tasks_are_shared_out():
    tasks = [task() for _ in range(8)]
    assert run(tasks, ONE).seconds == 80
    found = run(tasks, TWO)
    assert found.seconds == 40 and found.busy == 80


def test_threads_of_a_machine_work_at_the_same_time():
    assert run([task(owner=0) for _ in range(8)], Machines(2, 4, 100.0)).seconds == 20


def test_rounds_wait_for_each_other():
    found = run([task(owner=0), task(owner=1, round=1)], TWO)
    assert found.ends == [10, 20]


def test_what_a_task_needs_is_sent():
    found = run([task(owner=0), task(0, owner=1)], TWO, size=500.0)
    assert found.seconds == 10 + 5 + 10
    assert found.moved == 500 and found.path["transfer"] == 5


def test_a_machine_serves_some_at_a_time_and_then_there_are_more_that_have_it():
    tasks = [task(owner=0), *(task(0, owner=k) for k in range(1, 10))]
    machines = Machines(10, 1, bandwidth=100.0, serves=3)
    # 3 get it together after 15 seconds; then the first serves 3, and each of those one of the rest or none
    assert run(tasks, machines, size=500.0).seconds == pytest.approx(10 + 15 + 15 + 10)


@pytest.mark.parametrize(("forgets", "moved"), [(False, 500), (True, 1000)])
def test_copies_may_be_forgotten_between_rounds(forgets, moved):
    tasks = [task(owner=0), task(0, owner=1), task(0, owner=1, round=1)]
    assert run(tasks, Machines(2, 1, 100.0, forgets=forgets), size=500.0).moved == moved


def test_the_scheduler_takes_time_for_each_task():
    found = run([task(owner=0) for _ in range(3)], Machines(1, 3, 100.0, task=1.0))
    assert found.seconds == 3 + 10


def test_a_straggler_holds_up_all():
    tasks = [task(owner=k % 2) for k in range(4)]
    assert run(tasks, TWO, Trouble(slow_machine=3.0)).seconds == 60
    assert run(tasks, TWO, Trouble(slow_tasks=1.0, slower=2.0)).seconds == 40


def test_tasks_that_anybody_may_do_are_stolen_from_a_slow_machine():
    tasks = [task() for _ in range(8)]
    found = run(tasks, TWO, Trouble(slow_machine=3.0))
    assert found.seconds == 60 and found.stolen > 0
    assert run(tasks, TWO, Trouble(slow_machine=3.0), steals=False).seconds == 120


def test_nothing_is_stolen_if_sending_takes_longer_than_waiting():
    tasks = [task(owner=0), *(task(0) for _ in range(4))]
    assert run(tasks, TWO, size=50_000.0).stolen == 0
    assert run(tasks, TWO, size=50_000.0, steals="blindly").stolen > 0


def test_what_a_lost_machine_had_is_made_again():
    chain = [task(owner=0), task(0, owner=0), task(1, owner=0)]
    found = run(chain, TWO, Trouble(lost_at=((15.0, 0),)))
    assert found.lost == 1
    assert found.seconds == 15 + 30  # the other machine begins anew


def test_what_another_machine_has_is_not_made_again():
    tasks = [task(owner=0), task(0, owner=1), task(1, owner=1)]
    assert run(tasks, TWO, Trouble(lost_at=((15.0, 0),))).seconds == 30


def test_the_only_machine_comes_back():
    found = run([task(owner=0)], ONE, Trouble(lost_at=((5.0, 0),), replaced_after=60.0))
    assert found.seconds == 5 + 60 + 10


def test_results_that_were_not_fetched_are_made_again():
    found = run([task(owner=0), task(owner=1), task(1, owner=1)], TWO, Trouble(lost_at=((15.0, 0),)))
    assert found.seconds == 30 and found.busy == 40


def test_many_losses_end_all_the_same():
    tasks = [task(owner=k % 4) for k in range(20)]
    tasks += [task(k, owner=k % 4) for k in range(20)]
    tasks += [task(*range(20, 40), owner=k % 4, round=1) for k in range(20)]
    for seed in range(20):
        found = run(tasks, Machines(4, 2, 100.0), Trouble(losses=1 / 100, seed=seed), size=50.0)
        assert found.seconds > 30


@pytest.mark.parametrize(("n_machines", "parts"), [(1, 1), (3, 3), (100, 64)])
def test_recorded_tasks_are_those_of_the_blocks(n_machines, parts):
    tasks = record(n_machines, 1, 200, 3, eliminates=True)  # 4 blocks of 50
    found = Counter(task.kind for task in tasks)
    assert found["send Placed"] == found["describe"] == 4
    assert found["prepare"] == 2 * 4
    assert found["run_part"] == 2 * 4 * parts
    assert found["take_factor"] == found["search_set"] == 3
    assert found["send Space"] == 1


def test_parts_need_what_was_prepared_and_are_pinned_where_blocks_are_even():
    for n_machines, is_even in ((2, True), (3, False)):
        tasks = record(n_machines, 1, 256, 2)
        for one in tasks:
            if one.kind == "run_part":
                assert tasks[one.needs[0]].kind == "prepare"
                assert (one.owner is not None) == is_even
                assert one.base == 1 and one.width in (63, 64)


def test_blocks_can_come_from_files():
    kinds = Counter(task.kind for task in from_files(record(2, 1, 128, 1)))
    assert kinds["read_block"] == 2 and "send Placed" not in kinds


def test_a_law_is_found_again():
    law = Law((2.0, 0.5), 0.25, 1e6)
    records = [{"N": n, "c": c, "t": law(n, 1, c)} for n in (1e4, 1e5, 1e6) for c in (8, 64)]
    found = fit(records, "t", lambda r: (1, r["c"]))
    assert found.exponent == 0.25 and found.coefficients == pytest.approx((2.0, 0.5))


def test_theory_goes_on_where_measurements_end():
    law = Law((1.0,), 0.5, 1e6, (0.0, 1.0))
    assert law(1e6, 1) == pytest.approx(10**0.5)
    assert law(1e9, 1) == pytest.approx(10**0.5 * 1.5)
