"""Speeds on pages are those that were measured, and say on which code."""

import json
import re
import textwrap

import pytest

from benchmarks import app, growth, markers, speeds, stamp
from benchmarks.cases import CASES, Case, Run, SkippedError, Work, friedman
from benchmarks.measure import ROOT, Side, stored_table

ROWS, GROWN = speeds.read(), growth.read()
STAMP = {"commit": "abc1234", "clean": True, "date": "2026-11-08", "machine": "2 cores", "code": stamp.fingerprint()}
SPEED = re.compile(r"\d ?(ms|µs|s|seconds|minutes)\b|\d (×|times) as (fast|long)")
DOCS = ROOT / "docs"
BY_HAND = {ROOT / "README.md", *DOCS.glob("*.md"), *DOCS.glob("guide/*.md")}
BY_HAND -= {DOCS / "scale.md", DOCS / "alternatives.md"}  # have programs and tests of their own
BY_HAND = sorted(BY_HAND)  # so that all workers of pytest see the same order
WRITTEN = re.compile(r"<!-- (\w+) -->\n.*?<!-- /\1 -->|^```.*?^```$", re.DOTALL | re.MULTILINE)


# Pages


@pytest.mark.parametrize(
    ("page", "text"), speeds.pages(ROWS, GROWN).items(), ids=lambda each: getattr(each, "stem", "")
)
def test_pages_show_what_is_stored_and_say_if_the_code_has_changed(page, text):
    assert page.read_text(encoding="utf-8") == text, "run python -m benchmarks.compare --write"


def test_figures_are_stored_with_the_bounds_of_the_cases():
    cases = {case.name: case.bound for case in CASES}
    assert ROWS and {name: row["bound"] for name, row in ROWS.items()}.items() <= cases.items()


def test_the_guide_shows_how_long_the_app_takes():
    text, found = app.PAGE.read_text(encoding="utf-8"), json.loads(app.STORED.read_text(encoding="utf-8"))
    assert markers.fill(text, {"app": app.show(found)}) == text, "run python -m benchmarks.app --write"


@pytest.mark.parametrize("page", BY_HAND, ids=lambda page: page.stem)
def test_no_speed_is_written_by_hand(page):
    text = WRITTEN.sub("", page.read_text(encoding="utf-8"))
    assert [found[0] for found in SPEED.finditer(text)] == []


def test_a_bound_that_is_kept_only_after_rounding_counts_as_shown():
    case = Case("a-b", "b", at_most=1.05)
    assert speeds.verdict(case, {"value": 1.054}) == "reached"
    assert speeds.verdict(case, {"value": 1.056}) == "not reached"
    assert speeds.figure(case, {"value": 249.6, "one_thread": 31.26}) == "250 (31.3) ×"


def test_rows_that_were_not_measured_are_shown_as_such():
    assert "not measured" in speeds.full_table({}, {"first": "words"})
    assert speeds.short_table({}).count("not measured") == 3


# Stamps


def test_code_that_has_changed_is_said():
    assert stamp.describe([STAMP]) == "Measured on 8 November 2026, commit abc1234 (2 cores)."
    assert "has changed since" in stamp.describe([STAMP, STAMP | {"code": "other"}])
    assert "; other rows on " in stamp.describe([STAMP, STAMP | {"commit": "other", "clean": False}])


def test_words_do_not_change_the_fingerprint():
    plain = 'def f(x):\n    return x + "#"\n'
    worded = textwrap.dedent('''
        """Module."""

        # why
        def f(x):
            """Return.

            More.
            """
            return x + "#"  # and so on
    ''')
    assert stamp.without_words(worded).split() == stamp.without_words(plain).split()
    assert stamp.without_words(plain) != stamp.without_words(plain.replace("#", "$"))


def test_figures_are_stamped():
    assert stamp.stamp().keys() == STAMP.keys()
    for measured in [row["measured"] for row in ROWS.values()] + [GROWN["measured"]]:
        assert measured.keys() == STAMP.keys()


# Cases


def test_names_are_unique_and_groups_are_shown():
    assert len({case.name for case in CASES}) == len(CASES)
    assert {case.group for case in CASES} == {*speeds.TABLES, "everyday", "sharing"}


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.group in ("first", "rank")], ids=lambda case: case.name
)
def test_what_is_missing_skips_a_case(case):
    with pytest.raises(SkippedError):
        case.measure(case, Run())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["everyday-groups", "sharing-calibrated"])
def test_sides_answer(name, monkeypatch):
    monkeypatch.setattr("benchmarks.cases.PLAIN", friedman(200, 10))
    case = next(case for case in CASES if case.name == name)
    work = case.ours if case.group == "everyday" else Work(friedman(200, 10), case.ours.task, case.ours.options)
    with stored_table(work.table(Run())) as path, Side(work.task, path, options=work.options, warm_up="head") as side:
        found = side()
    assert found["processor"] > 0 and found["wall"] > 0


# Growth


def test_exponents_are_found_again():
    fits = [
        {"rule": rule, "rows": n, "factors": p, "seconds": 1e-6 * n * p, "memory": 10**6}
        for rule in growth.RULES
        for n, p in [(1_000, 20), (10_000, 20), (1_000, 10), (1_000, 100)]
    ]
    text = growth.describe_growth({"measured": STAMP, "fits": fits})
    assert text.count("| 1.00 | 1.00 |") == 4 and "not reached" not in text


@pytest.mark.slow
def test_the_picture_is_drawn_from_what_is_stored(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(growth, "PICTURE", tmp_path / "growth.svg")
    growth.draw(GROWN)
    words = re.compile(r"<!-- (.*?) -->")
    drawn, kept = ((folder / "growth.svg").read_text(encoding="utf-8") for folder in (tmp_path, ROOT / "docs"))
    assert words.findall(drawn) == words.findall(kept)
    assert json.loads(growth.STORED.read_text(encoding="utf-8")) == GROWN
