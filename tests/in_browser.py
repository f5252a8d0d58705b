"""The app in a browser: a server in a process of its own, and its page with the steps that a person takes.

`python -m tests.in_browser` draws the pictures of docs/guide/app.md; `python -m tests.in_browser FILE TARGET FOLDER`
those of every main state with a table, at two widths and in both colour schemes.
"""

import io
import itertools
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.command import CLEAN, COMMAND

CHROMIUM = shutil.which("chromium")
FLAGS = ("no-sandbox", "disable-gpu", "no-first-run", "disable-background-networking", "disable-component-update")
FLAGS += ("disable-sync", "font-render-hinting=none")
WIDTHS, SCHEMES = (1280, 390), ("light", "dark")
WHOLE = ("closer", "unfolded")
DOCS = Path(__file__).parents[1] / "docs"


@contextmanager
def serve(*arguments: object) -> Iterator[str]:
    """The address of the app, which runs until the end."""
    command = [COMMAND, "app", *map(str, arguments), "--no-browser"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=CLEAN | {"PYTHONUNBUFFERED": "1"}, text=True)
    assert process.stdout is not None
    try:
        line = next((line for line in process.stdout if "http://" in line), "")
        yield re.search(r"http://\S+", line)[0]  # type: ignore[index]
    finally:
        process.terminate()
        process.wait(timeout=30)
        process.stdout.close()


@contextmanager
def open_browser() -> Iterator[Any]:
    """The browser of this machine."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[f"--{flag}" for flag in FLAGS])
        yield browser
        browser.close()


class App:
    """The page of the app in one tab."""

    def __init__(self, context: Any, address: str) -> None:
        self.page = context.new_page()
        self.faults: list[str] = []
        self.foreign: list[str] = []
        origin = address.partition("/?")[0]
        self.page.on("console", lambda message: self.faults.append(message.text))
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.faults.append(dialog.message), dialog.dismiss()))
        self.page.on("request", lambda one: one.url.startswith((origin, "blob:")) or self.foreign.append(one.url))
        self.page.set_default_timeout(120_000)  # the first ranking on a machine compiles
        self.page.goto(address)
        self.page.wait_for_selector("#start:not([hidden]) #demos button, #choose:not([hidden]), #result:not([hidden])")

    def open_file(self, path: Path) -> "App":
        """Choose a file."""
        self.page.set_input_files("#file", path)
        self.page.wait_for_selector("#choose:not([hidden])")
        return self

    def open_demo(self, name: str) -> "App":
        """Choose a demo table."""
        self.page.click(f"#demos button[data-key='{name}']")
        self.page.wait_for_selector("#choose:not([hidden])")
        return self

    def explain(self, target: str) -> "App":
        """Choose the target among the columns, where the button has its name."""
        if self.page.get_by_label("Find a column").first.is_visible():
            self.page.get_by_label("Find a column").first.fill(target)
        with self.ranked():
            self.page.get_by_role("button", name=target, exact=True).first.click()
        return self

    @property
    def key(self) -> str:
        """The key of the ranking that is shown; empty if there is none."""
        return self.page.get_attribute("#chart", "data-result") or ""

    @contextmanager
    def ranked(self) -> Iterator[None]:
        """What is done within leads to another ranking, which is waited for."""
        before = self.key
        yield
        self.page.wait_for_function(
            "before => (document.getElementById('chart').dataset.result || '') !== before "
            "|| document.querySelector('#dock .error')",
            arg=before,
        )
        if self.page.locator("#dock .error").count():
            raise AssertionError(self.page.inner_text("#dock .error"))
        # Rows have no text for a reader before they are painted.
        self.page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def row(self, name: str) -> Any:
        """The row of a factor."""
        quoted = json.dumps(name, ensure_ascii=False)
        return self.page.locator(f"#ins > [data-name={quoted}], #outs > [data-name={quoted}]")

    def act(self, name: str, what: str) -> None:
        """Use a button in the row of a factor."""
        with self.ranked():
            self.row(name).locator(".acts button", has_text=what).first.click()

    def shown(self) -> dict[str, str]:
        """The selected factors and what is lost without each, in the order of the page."""
        names = self.page.locator("#ins > li > .row .factor button").all_text_contents()
        return dict(
            zip(names, self.page.locator("#ins > li > .row .lost > span:last-child").all_text_contents(), strict=True)
        )

    def steps(self) -> list[str]:
        """What was done, up to the step in force."""
        every = self.page.locator("#history button")
        texts = every.all_text_contents()
        return texts[: 1 + every.evaluate_all("all => all.findIndex(one => one.ariaCurrent === 'step')")]

    def chips(self) -> list[str]:
        """The settings in force, as they are written."""
        return self.page.locator("#chips .chip").all_text_contents()

    def unfold(self) -> None:
        """Open everything that is folded."""
        self.page.evaluate("document.querySelectorAll('main details').forEach(one => { one.open = true; })")

    def beyond(self) -> int:
        """How many pixels the page is wider than the screen."""
        return int(self.page.evaluate("document.documentElement.scrollWidth - window.innerWidth"))

    def still(self) -> "App":
        """Wait for movements to end and pictures to be drawn."""
        self.page.wait_for_load_state("networkidle")
        self.page.evaluate(
            "() => Promise.all([...document.getAnimations().filter(one => one.effect.getComputedTiming().endTime < 1e9)"
            ".map(one => one.finished.catch(() => 0)),"
            " ...[...document.images].map(image => image.decode().catch(() => 0))])"
        )
        return self


def states(app: App, path: Path, target: str) -> Iterator[str]:
    """The main states of the page, each by name as soon as it is shown."""
    page = app.page
    yield "start"
    app.open_file(path)
    yield "columns"
    app.explain(target)
    yield "ranking"
    first, *_ = app.shown()
    app.act(first, "leave out")
    yield "change"
    first, second, *_ = [*app.shown(), *page.locator("#outs .factor button").all_inner_texts()]
    app.act(first, "control for")
    page.get_by_role("button", name=first, exact=True).click()
    for name in (first, second):
        page.get_by_label(f"Choose {name}", exact=True).check()
    page.locator(".panel figure").first.wait_for()
    yield "closer"
    app.unfold()
    yield "unfolded"
    page.get_by_role("button", name="Joint picture", exact=True).click()
    page.locator("#pair figure").wait_for()
    yield "pair"


def draw_states(path: Path, target: str, folder: Path) -> None:
    """Draw every main state, as a person sees it and as a whole."""
    folder.mkdir(parents=True, exist_ok=True)
    with serve() as address, open_browser() as browser:
        for width, scheme in itertools.product(WIDTHS, SCHEMES):
            context = browser.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme)
            app = App(context, address)
            for number, state in enumerate(states(app, path, target)):
                app.still()
                app.page.set_viewport_size({"width": width, "height": 3000 if state in WHOLE else 844})
                app.page.screenshot(path=folder / f"{width}-{scheme}-{number}-{state}.png")
                app.page.set_viewport_size({"width": width, "height": 844})
            context.close()


def draw_docs() -> None:
    """Draw the pictures of the guide."""
    import polars as pl
    from sklearn.datasets import load_diabetes

    people = load_diabetes(scaled=False)
    table = pl.DataFrame(people.data, schema=people.feature_names).rename({"s5": "triglycerides"})
    with tempfile.TemporaryDirectory() as folder, serve() as address, open_browser() as browser:
        path = Path(folder) / "diabetes.csv"
        table.with_columns(progression=people.target).write_csv(path)
        app = App(browser.new_context(viewport={"width": 1240, "height": 700}, reduced_motion="reduce"), address)
        app.open_file(path)
        _draw(app, "columns")
        app.explain("progression")
        _draw(app, "ranking")
        app.act("triglycerides", "leave out")
        _draw(app, "change")
        app.page.get_by_role("button", name="bmi", exact=True).click()
        app.page.locator(".panel figure").first.wait_for()
        app.row("bmi").scroll_into_view_if_needed()
        app.page.evaluate("document.querySelector('#chart').scrollIntoView()")
        _draw(app, "closer")


def _draw(app: App, name: str) -> None:
    from PIL import Image

    app.page.mouse.move(0, 0)
    picture = Image.open(io.BytesIO(app.still().page.screenshot()))
    picture.quantize(64).save(DOCS / "_static" / f"app-{name}.png", optimize=True)


if __name__ == "__main__":
    if len(sys.argv) == 1:
        draw_docs()
    else:
        draw_states(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]))
