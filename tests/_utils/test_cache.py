import pickle
import threading
import time
from copy import deepcopy
from dataclasses import FrozenInstanceError, dataclass, replace

import pytest

from firstfactor._utils.cache import Later, LaterField


@dataclass(frozen=True)
class Result:
    value: float
    more: LaterField[str] = LaterField("none")


class Counted:
    """A function that counts its calls, and holds something that cannot be pickled."""

    def __init__(self):
        self.calls, self.lock = 0, threading.Lock()

    def __call__(self):
        self.calls += 1
        time.sleep(0.01)
        return f"call {self.calls}"


def test_it_is_found_once_and_only_if_somebody_looks():
    find = Counted()
    result = Result(1.0, Later(find))
    assert find.calls == 0
    assert result.more == result.more == "call 1"
    assert Result(1.0).more == "none" and Result(1.0, "given").more == "given"
    with pytest.raises(FrozenInstanceError):
        result.more = "other"


def test_what_it_takes_is_let_go_of():
    later = Later(Counted())
    assert later._find is not None
    assert later.value == "call 1"
    assert later._find is None


def test_copies_have_what_was_found():
    find = Counted()
    result = Result(1.0, Later(find))
    for copied in (pickle.loads(pickle.dumps(result)), deepcopy(result), replace(result, value=2.0)):
        assert copied.more == "call 1"
    assert find.calls == 1


def test_threads_wait_for_one_of_them():
    find, seen = Counted(), []
    result = Result(1.0, Later(find))
    threads = [threading.Thread(target=lambda: seen.append(result.more)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == ["call 1"] * 8


def test_after_an_error_it_can_be_looked_at_again():
    answers = iter([ZeroDivisionError, "found"])

    def find():
        answer = next(answers)
        if answer is ZeroDivisionError:
            raise answer
        return answer

    later = Later(find)
    with pytest.raises(ZeroDivisionError):
        _ = later.value
    assert later.value == "found"
