"""The page of the app in a real browser: what a person does, and what is shown then."""

import contextlib
import csv
import json
import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from firstfactor import rank
from firstfactor.results.indices import ranking_lines
from tests import in_browser

pytest.importorskip("playwright", reason="playwright is not installed")
pytest.importorskip("starlette", reason="starlette is not installed")
if in_browser.CHROMIUM is None:
    pytest.skip("chromium is not installed", allow_module_level=True)

# A copy of axe-core: npm install axe-core, and AXE=node_modules/axe-core/axe.min.js
AXE = os.environ.get("AXE")

LONG = "一个名字很长很长的列用来检验页面在窄屏幕上面是否仍然能够正确换行而不会横向滚动吗"
NASTY = "<img src=x onerror=alert(1)>"
CLOSING = "</script><script>alert(2)</script>"


# --- tables -------------------------------------------------------------------------------------------------------


def numbers(rng):
    X = rng.uniform(size=(400, 6))
    y = np.sin(6 * X[:, 0]) + 6 * (X[:, 2] - 0.2) * (X[:, 4] - 0.2) + 0.5 * X[:, 1] + 0.1 * rng.normal(size=400)
    return pl.DataFrame({**{f"x{i}": X[:, i] for i in range(6)}, "y": y})


def mixed(rng):
    n = 600
    age, region, income = rng.integers(20, 80, n), rng.choice(["east", "north", "south"], n), rng.gamma(2, 20, n)
    start = np.datetime64("2020-01-01") + rng.integers(0, 1500, n)
    y = age / 10 + 2 * (region == "north") + np.sqrt(income) / 2 + 0.5 * rng.normal(size=n)
    table = pl.DataFrame({"age": age, "region": region, "income": income, "start": start, "noise": rng.normal(size=n)})
    unknown = pl.Series(rng.uniform(size=n) < 0.1)
    income = pl.when(unknown).then(None).otherwise(pl.col("income")).alias("income")
    return table.with_columns(
        income, y=y, patient=pl.Series([f"p{i % 150}" for i in range(n)]), weight=1 + rng.uniform(size=n)
    )


def classes(rng):
    X = rng.normal(size=(500, 4))
    score = X[:, 0] + X[:, 1] * (X[:, 2] > 0)
    kind = np.array(["low", "mid", "top"])[np.digitize(score, [-0.5, 0.5])]
    return pl.DataFrame({**dict(zip("abcd", X.T, strict=True)), "grade": kind})


def wide(rng):
    X = rng.normal(size=(250, 299))
    return pl.DataFrame(
        {**{f"c{i}": X[:, i] for i in range(299)}, "y": X[:, 7] + X[:, 11] + 0.3 * rng.normal(size=250)}
    )


def nasty(rng):
    X = rng.normal(size=(300, 3))
    y = X[:, 0] + np.exp(X[:, 1]) + 0.2 * rng.normal(size=300)
    levels = np.where(X[:, 2] > 0, "<b>bold</b>", "<i>thin</i>")
    return pl.DataFrame({LONG: X[:, 0], NASTY: X[:, 1], CLOSING: levels, f"{NASTY} target": y})


def leaky(rng):
    X = rng.normal(size=(300, 3))
    y = X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=300)
    return pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "echo": 2 * y, "y": y})


def twins(rng):
    z, w = rng.normal(size=(2, 400))
    near = {f"twin{i}": z + 0.05 * rng.normal(size=400) for i in range(3)}
    return pl.DataFrame({**near, "w": w, "y": z + w * w + 0.2 * rng.normal(size=400)})


def large(rng):
    X = rng.normal(size=(150_000, 30))
    y = X[:, :5].sum(axis=1) + X[:, 5] * X[:, 6] + rng.normal(size=len(X))
    return pl.DataFrame({**{f"x{i}": X[:, i] for i in range(30)}, "y": y})


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")

    def write(make):
        path = folder / f"{make.__name__}.csv"
        if not path.exists():
            make(np.random.default_rng(0)).write_csv(path)
        return path

    return write


@pytest.fixture(scope="module")
def browser():
    with in_browser.open_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def address():
    with in_browser.serve() as address:
        yield address


@pytest.fixture
def visit(browser, address):
    """Open the app in a browser without a past; at the end, nothing may have been complained of or asked elsewhere."""
    with contextlib.ExitStack() as stack:
        apps = []

        def open_app(**settings):
            settings = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce", **settings}
            context = browser.new_context(accept_downloads=True, **settings)
            stack.callback(context.close)
            apps.append(in_browser.App(context, address))
            return apps[-1]

        yield open_app
        for app in apps:
            assert app.faults == []
            assert app.foreign == []


def expected(path, target, **options):
    """The selected lines as `rank` has them."""
    ranking = rank(path, target, **{"rule": "calibrated", **options})
    return {line.short_name: line.importance_text for line in ranking_lines(ranking.indices) if line.rank}


# --- the whole way ------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("make", "target"),
    [
        (numbers, "y"),
        pytest.param(mixed, "y", marks=pytest.mark.slow),
        pytest.param(classes, "grade", marks=pytest.mark.slow),
        pytest.param(wide, "y", marks=pytest.mark.slow),
    ],
)
def test_the_whole_way(make, target, tables, visit, tmp_path):
    path = tables(make)
    app = visit().open_file(path)
    app.explain(target)
    first = app.shown()
    assert first == expected(path, target)
    name, before = next(iter(first)), app.key

    app.act(name, "leave out")
    without = app.shown()
    assert without == expected(path, target, drop=[name])
    assert app.chips() == [f"Leave out {name}"]
    assert app.page.locator("#changes li").count() >= 1
    moved = [other for other in without if other in first and without[other] != first[other]]
    for other in moved:
        assert app.row(other).locator(".was-number").inner_text() == f"was {first[other]}"
        assert app.row(other).locator(".ghost").first.is_visible()
    new = [other for other in without if other not in first]
    assert moved or new

    with app.ranked():
        app.page.click("#undo")
    assert app.shown() == first and app.key == before
    with app.ranked():
        app.page.click("#redo")
    assert app.shown() == without

    with app.page.expect_download() as download:
        app.page.get_by_role("button", name="Table (CSV)").click()
    download.value.save_as(tmp_path / "ranking.csv")
    rows = {row["factor"]: row for row in csv.DictReader((tmp_path / "ranking.csv").open(encoding="utf-8"))}
    assert name not in rows and set(without) & set(rows)

    steps = app.steps()
    app.page.reload()
    app.page.wait_for_selector("#chart[data-result]")
    assert app.shown() == without and app.steps() == steps


def test_names_are_text(tables, visit):
    app = visit().open_file(tables(nasty)).explain(f"{NASTY} target")
    app.unfold()
    assert {LONG, NASTY} <= set(app.shown())
    app.act(NASTY, "control for")
    assert f"Control for {NASTY}" in app.chips()
    app.row(NASTY).get_by_role("button", name=NASTY, exact=True).click()
    app.page.wait_for_selector(".panel .figures, .panel .quiet")
    app.page.select_option("#filter-column", CLOSING)
    with app.ranked():
        app.page.get_by_role("checkbox", name="<b>bold</b>").check()
        app.page.get_by_role("button", name="Show these rows").click()
    assert f"Only rows with {CLOSING}: <b>bold</b>" in app.chips()
    assert app.page.locator("main img:not([src^='blob:']), main b b, main i i, main script").count() == 0


# --- every control ------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("setting", "value", "chip"),
    [
        ("rule", "paper", "Rule: paper’s"),
        ("alpha", "0.01", "Alpha 0.01"),
        ("goal", "predict", "Goal: predict"),
        ("control", "fdr", "Errors to control: share of false factors"),
        ("response_scale", "ranks", "Response as: ranks"),
        ("leaks", "drop", "Columns that contain the target: drop"),
        ("groups", "patient", "Rows of the same patient belong together"),
        ("weight", "weight", "Weights: weight"),
    ],
)
def test_settings(setting, value, chip, tables, visit):
    app = visit().open_file(tables(mixed)).explain("y")
    before, control = app.key, app.page.locator(f"[data-setting={setting}]")
    control.focus()
    with app.ranked():
        if setting == "alpha":
            control.fill(value)
            control.press("Enter")
        else:
            control.select_option(value)
    assert app.chips() == [chip] and app.steps() == ["Explain y", chip]
    assert app.page.evaluate("document.activeElement.dataset.setting") == setting
    with app.ranked():
        app.page.click("#chips .chip")
    assert app.key == before and app.chips() == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_rows_columns_and_groups(tables, visit):
    path = tables(mixed)
    app = visit().open_file(path).explain("y")
    before = app.key

    app.page.select_option("#filter-column", "age")
    app.page.get_by_label("from").fill("40")
    with app.ranked():
        app.page.get_by_role("button", name="Show these rows").click()
    assert app.chips() == ["Only rows with age ≥ 40"]
    kept = pl.read_csv(path).filter(pl.col("age") >= 40)
    assert app.shown() == expected(kept, "y")

    app.page.select_option("#filter-column", "region")
    for level in ("north", "south"):
        app.page.get_by_role("checkbox", name=level, exact=True).check()
    with app.ranked():
        app.page.get_by_role("button", name="Show these rows").click()
    assert app.chips()[1].startswith("Only rows with region: ")
    with app.ranked():
        app.page.locator("#history button").first.click()
    assert app.key == before

    app.page.select_option("#filter-column", "start")
    app.page.get_by_label("to", exact=True).fill("2022-01-01")
    with app.ranked():
        app.page.get_by_role("button", name="Show these rows").click()
    assert app.chips() == ["Only rows with start ≤ 2022-01-01"]
    with app.ranked():
        app.page.click("#undo")

    app.page.get_by_label("Choose age").check()
    app.page.get_by_label("Choose income").check()
    with app.ranked():
        app.page.get_by_role("button", name="As one factor").click()
    (group,) = [name for name in app.shown() if "age" in name]
    assert "income" in group and app.page.locator("#dock > *").count() == 0
    app.act(group, "control for")
    assert app.row(group).get_by_text("always in").count()
    app.act(group, "ungroup")
    assert "age" in app.shown() and app.chips() == []

    app.act("age", "control for")
    app.act("age", "release")
    assert app.key == before

    app.page.click("#all-columns > summary")
    assert "true" not in app.page.inner_text("#result-columns")
    with app.ranked():
        app.page.get_by_role("button", name="as category age").click()
    assert app.chips() == ["age as category"]
    with app.ranked():
        app.page.locator("#all-columns").get_by_role("button", name="leave out noise").click()
    with app.ranked():
        app.page.get_by_role("button", name="put back noise").click()
    assert app.chips() == ["age as category"]
    with app.ranked():
        app.page.get_by_role("button", name="explain income").click()
    assert app.page.inner_text("#target-name") == "income"


@pytest.mark.slow
def test_the_file_of_the_command_line(tables, browser):
    with in_browser.serve(tables(classes)) as address:
        context = browser.new_context()
        app = in_browser.App(context, address)
        app.page.wait_for_selector("#choose:not([hidden])")
        assert app.page.inner_text("#table-name").startswith("classes.csv · 500 rows · 5 columns")
        app.page.get_by_role("button", name="Another table").click()
        app.page.get_by_role("button", name="Open classes.csv").click()
        app.page.wait_for_selector("#choose:not([hidden])")
        app.explain("grade")
        context.close()
        assert app.faults == []


@pytest.mark.slow
def test_a_remedy(tables, visit):
    app = visit().open_file(tables(leaky)).explain("y")
    assert app.page.locator("#findings .box", has_text="Leak").count() == 1
    with app.ranked():
        app.page.locator("#findings .box", has_text="Leak").get_by_role("button").click()
    assert "echo" not in app.shown() and {"a", "b"} <= set(app.shown())
    assert app.page.locator("#findings .box", has_text="Leak").count() == 0


@pytest.mark.slow
def test_a_closer_look(tables, visit):
    app = visit().open_file(tables(numbers)).explain("y")
    button = app.page.get_by_role("button", name="x2", exact=True)
    button.focus()
    app.page.keyboard.press("Enter")
    assert button.get_attribute("aria-expanded") == "true"
    panel = app.row("x2").locator(".panel")
    panel.locator("figure").first.wait_for()
    assert panel.locator("figcaption").all_inner_texts() == ["The others held fixed", "As it looks"]
    app.still()
    assert all(panel.locator("img").evaluate_all("all => all.map(image => image.naturalWidth)"))
    assert (
        panel.locator(".partners").get_by_role("button", name="x4").count() and panel.locator("table tbody tr").count()
    )
    panel.locator(".partners").get_by_role("button", name="x4").click()
    app.page.locator("#pair img").wait_for()
    app.page.keyboard.press("Escape")
    assert not app.page.locator("#pair").is_visible()
    for name in ("x2", "x4"):
        app.page.get_by_label(f"Choose {name}").check()
    app.page.get_by_role("button", name="Joint picture", exact=True).click()
    app.page.locator("#pair img").wait_for()
    app.page.get_by_role("button", name="Close").click()
    app.act("x4", "leave out")
    panel.locator("figure").first.wait_for()  # it stays open, and follows


@pytest.mark.slow
def test_factors_that_share_information(tables, visit):
    app = visit().open_file(tables(twins)).explain("y")
    (cluster,) = [name for name in app.shown() if "twin" in name]
    app.page.get_by_role("button", name=cluster, exact=True).click()
    members = app.page.locator(".members > li")
    assert members.count() == 3
    with app.ranked():
        members.first.get_by_role("button", name="leave out").click()
    assert any("twin" in name for name in app.shown())


@pytest.mark.slow
def test_many_columns(tables, visit):
    app = visit().open_file(tables(wide))
    page = app.page
    assert page.locator("#choose .columns > li").count() == 40
    page.get_by_label("Find a column").fill("c29")
    assert page.locator("#choose .columns > li").count() == 10
    page.get_by_label("Find a column").fill("no such name")
    assert page.get_by_text("No column has such a name.").is_visible()
    page.get_by_label("Find a column").fill("")
    app.explain("y")
    assert page.locator("#outs > li").count() == 40
    page.locator("#chart .more-rows button").click()
    assert page.locator("#outs > li").count() == 240
    page.get_by_label("Find a factor").fill("c29")
    assert page.locator("#ins > li, #outs > li").count() == 10
    page.get_by_label("Find a factor").fill("")
    page.get_by_role("button", name="factor", exact=True).click()
    names = page.locator("#ins .factor button").all_inner_texts()
    assert names == sorted(names, key=lambda name: int(name[1:]))


# --- files and calls ----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_take_it_away(tables, visit, tmp_path):
    app = visit(permissions=["clipboard-read", "clipboard-write"]).open_file(tables(numbers)).explain("y")
    app.act("x0", "control for")
    for kind, start in (("html", b"<!DOCTYPE html>"), ("json", b"{"), ("svg", b"<?xml"), ("png", b"\x89PNG")):
        with app.page.expect_download() as download:
            app.page.get_by_role("button", name=f"({kind.upper()})").click()
        assert download.value.suggested_filename.endswith(f".{kind}")
        download.value.save_as(tmp_path / kind)
        assert (tmp_path / kind).read_bytes().startswith(start)
    assert "x0" in json.loads((tmp_path / "json").read_text(encoding="utf-8"))["settings"]["forced"]
    app.page.get_by_role("button", name="Copy the Python call").click()
    copied = app.page.evaluate("navigator.clipboard.readText()")
    assert "from firstfactor import rank" in copied and "forced=['x0']" in copied


# --- two tabs, faults and cancelling ------------------------------------------------------------------------------


@pytest.mark.slow
def test_two_tabs_do_not_mix(tables, visit):
    one = visit().open_file(tables(numbers)).explain("y")
    other = in_browser.App(one.page.context, one.page.url)
    other.open_file(tables(classes)).explain("grade")
    first = one.shown()
    other.act("a", "leave out")
    assert one.shown() == first
    one.act("x0", "leave out")
    assert "x0" not in one.shown() and "a" not in other.shown()

    with one.page.context.expect_page() as opened:  # a copy of a tab has its storage
        one.page.evaluate("open(location.href)")
    copy = opened.value
    copy.wait_for_selector("#start:not([hidden]) #demos button")
    assert one.page.evaluate("sessionStorage.length") == 1
    assert other.faults == []


@pytest.mark.slow
def test_cancel_and_supersede(tables, visit):
    app = visit().open_file(tables(large))
    app.page.get_by_role("button", name="y", exact=True).first.click()
    app.page.locator("#cancel").click()
    assert app.page.locator("#choose").is_visible() and app.page.locator("#dock > *").count() == 0
    app.explain("y")
    first, key = app.shown(), app.key
    app.row("x0").get_by_role("button", name="leave out").click()
    app.page.locator("#cancel").click()
    assert app.shown() == first and app.steps() == ["Explain y"] and app.key == key
    with app.ranked():  # the second takes the place of the first, and has both changes
        app.row("x0").get_by_role("button", name="leave out").click()
        app.row("x1").get_by_role("button", name="leave out").click()
    assert app.chips() == ["Leave out x0", "Leave out x1"]
    assert not {"x0", "x1"} & set(app.shown())


@pytest.mark.slow
def test_errors_leave_what_is_shown_in_force(tables, visit):
    app = visit().open_file(tables(numbers)).explain("y")
    first = app.shown()
    app.page.select_option("#filter-column", "x0")
    app.page.get_by_label("from").fill("99")
    app.page.get_by_role("button", name="Show these rows").click()
    app.page.locator("#dock .error").wait_for()
    assert app.shown() == first and app.steps() == ["Explain y"] and app.chips() == []
    app.page.get_by_role("button", name="Close").click()
    app.act("x0", "leave out")


@pytest.mark.slow
def test_a_file_that_cannot_be_read(visit, tmp_path):
    path = tmp_path / "empty.csv"
    path.write_text("")
    app = visit()
    app.page.set_input_files("#file", path)
    app.page.locator("#dock .error").wait_for()
    app.faults.clear()  # the browser reports the status
    assert "empty" in app.page.inner_text("#dock .error")
    assert app.page.locator("#start").is_visible()


# --- for everybody ------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("make", [mixed, nasty])
@pytest.mark.parametrize("scheme", in_browser.SCHEMES)
@pytest.mark.parametrize("width", in_browser.WIDTHS)
def test_fits_and_can_be_used_by_everybody(width, scheme, make, tables, visit):
    app = visit(viewport={"width": width, "height": 844}, color_scheme=scheme, bypass_csp=True)
    target = "y" if make is mixed else f"{NASTY} target"
    for state in in_browser.states(app, tables(make), target):
        app.still()
        assert app.beyond() <= 0, state
        if AXE:
            app.page.evaluate(Path(AXE).read_text(encoding="utf-8"))
            found = app.page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
            assert [(each["id"], each["nodes"][0]["html"]) for each in found] == [], state


@pytest.mark.slow
@pytest.mark.skipif(AXE is None, reason="AXE does not name a copy of axe-core")
def test_axe_finds_what_is_wrong(visit):
    app = visit(bypass_csp=True)
    app.page.evaluate("document.querySelector('#file').labels[0].remove()")
    app.page.evaluate(Path(AXE).read_text(encoding="utf-8"))
    assert [each["id"] for each in app.page.evaluate("axe.run()")["violations"]] == ["label"]


@pytest.mark.slow
def test_by_keyboard_alone(tables, visit):
    app = visit().open_file(tables(numbers))
    assert app.page.evaluate("document.activeElement.id") == "choose-title"
    with app.ranked():
        app.page.keyboard.press("Tab")  # the suggested column
        app.page.keyboard.press("Enter")
    first = app.key
    assert app.page.evaluate("document.activeElement.id") == "headline"
    leave = app.page.locator("#ins .acts button", has_text="leave out").first
    leave.focus()
    with app.ranked():
        app.page.keyboard.press("Space")
    assert app.page.evaluate("document.activeElement.closest('main') !== null")
    assert app.page.inner_text("#live").startswith(app.page.inner_text("#headline"))
    with app.ranked():
        app.page.keyboard.press("Control+z")
    assert app.key == first
    with app.ranked():
        app.page.keyboard.press("Control+Shift+Z")
    assert app.key != first
