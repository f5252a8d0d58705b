"""The model of large clusters: laws that are fitted, and runs whose seconds are known."""

import json
from types import SimpleNamespace

import pytest

from benchmarks import markers
from benchmarks.scale import page
from benchmarks.scale.__main__ import RESULTS
from benchmarks.scale.model import Law, Machines, fit, predict, predict_run

# Tasks that take the same time whatever the table; the threads of a machine share a search.
PLAIN = SimpleNamespace(
    describing=lambda *_: 10.0,
    preparing=lambda *_: 10.0,
    searching=lambda *_: 80.0,
    searching_set=lambda *_: 5.0,
    block_bytes=lambda *_: 3e9,
)


def test_a_law_is_found_again():
    law = Law((2.0, 0.5), 0.25, 1e6)
    records = [{"N": n, "c": c, "t": law(n, 1, c)} for n in (1e4, 1e5, 1e6) for c in (8, 64)]
    found = fit(records, "t", lambda r: (1, r["c"]))
    assert found.exponent == 0.25 and found.coefficients == pytest.approx((2.0, 0.5))


def test_theory_goes_on_where_measurements_end():
    law = Law((1.0,), 0.5, 1e6, (0.0, 1.0))
    assert law(1e6, 1) == pytest.approx(10**0.5)
    assert law(1e9, 1) == pytest.approx(10**0.5 * 1.5)


def test_what_one_machine_has_is_passed_on_by_those_that_have_it():
    def seconds(count):
        return Machines(count, 1, network=100.0, serves=3).seconds_to_spread(500)

    assert [seconds(count) for count in (1, 2, 4, 5, 16)] == [0, 5, 15, 20, 30]


@pytest.mark.parametrize(("machines", "threads", "expected"), [(1, 1, 4), (2, 1, 2), (4, 1, 1), (100, 1, 1), (1, 4, 1)])
def test_the_machine_with_most_blocks_decides(machines, threads, expected):
    spent, busy = predict(PLAIN, Machines(machines, threads, 1e9, task=0), 1000, 200, 3)  # 4 blocks of 50
    assert spent["sort"] == 10 * expected and spent["prepare"] == 20 * expected
    assert spent["search"] == pytest.approx(160 * expected)
    assert busy == 4 * (10 + 2 * 90)


def test_a_whole_run_reads_its_blocks_and_eliminates():
    spent, busy = predict_run(PLAIN, Machines(2, 1, 1e9, task=0), 1000, 200, 3)
    assert spent["read"] == 2 * 3 and spent["eliminate"] == 2 * 5
    assert busy == 4 * (10 + 2 * 90) + 3 * 5


def test_the_page_shows_what_is_stored():
    stored, text = json.loads(RESULTS.read_text()), page.PAGE.read_text(encoding="utf-8")
    assert markers.fill(text, {name: make(stored) for name, make in page.SECTIONS.items()}) == text
