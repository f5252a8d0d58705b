import threading
import time

import pytest

from firstfactor._utils.threads import Workers


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_results_come_in_order(n_jobs):
    def late(i):
        time.sleep(0.002 * (i % 3))
        return i * i

    with Workers(n_jobs) as workers:
        assert workers.map(late, range(30)) == [i * i for i in range(30)]
        assert workers.map(late, []) == []


def test_several_threads_take_part():
    with Workers(3) as workers:
        threads = set(workers.map(lambda _: (time.sleep(0.02), threading.get_ident())[1], range(12)))
    assert len(threads) == 3


def test_a_task_may_map_again():
    with Workers(2) as workers:
        assert workers.map(lambda i: workers.map(lambda j: i * j, range(3)), range(4)) == [
            [i * j for j in range(3)] for i in range(4)
        ]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_error_reaches_the_caller_and_stops_the_rest(n_jobs):
    done = []

    def task(i):
        if i == 3:
            raise ZeroDivisionError
        time.sleep(0.001)
        done.append(i)

    with Workers(n_jobs) as workers, pytest.raises(ZeroDivisionError):
        workers.map(task, range(1000))
    assert len(done) < 500
    with Workers(n_jobs) as workers:
        assert workers.map(str, range(3)) == ["0", "1", "2"]


def test_all_cores():
    with Workers(-1) as workers:
        assert workers.count >= 1


def test_an_interrupt_wrapped_by_a_kernel_is_an_interrupt():
    wrapped = SystemError("returned a result with an exception set")
    wrapped.__cause__ = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt), Workers(1):
        raise wrapped
    with pytest.raises(SystemError, match="something else"), Workers(1):
        raise SystemError("something else")


def test_work_that_nobody_waits_for_ends():
    before, started, steps = threading.enumerate(), threading.Event(), []

    def step(_):
        started.set()
        steps.append(time.sleep(0.001))

    def task(_):
        if threading.current_thread() is threading.main_thread():
            assert started.wait(10)
            raise KeyboardInterrupt
        Workers(1).map(step, range(100_000))

    with pytest.raises(KeyboardInterrupt), Workers(2) as workers:
        workers.map(task, range(2))
    for thread in threading.enumerate():
        if thread not in before:
            thread.join(10)
    assert 0 < len(steps) < 10_000
