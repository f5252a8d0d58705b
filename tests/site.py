"""A look at every page of the built documentation in a browser: `python -m tests.site docs/_build/html [PICTURES]`.

It tells what a reader would stumble over: errors in the console, pictures that do not show, links within the site that
lead nowhere, pages that are wider than the screen, and a search that finds nothing. Screenshots go to PICTURES.
"""

import functools
import http.server
import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# Widths of a desk and of a telephone, and both colour schemes.
SCREENS = {"light": (1300, 900, "light"), "dark": (1300, 900, "dark"), "narrow": (390, 844, "light")}

PICTURES_MISSING = "[...document.images].filter(i => !(i.complete && i.naturalWidth)).map(i => i.src)"
TOO_WIDE = "document.documentElement.scrollWidth - window.innerWidth"
LINKS = "[...document.querySelectorAll('a[href]')].map(a => a.href)"


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def serve(folder: Path) -> Iterator[str]:
    """The address at which a folder is served, on this machine only."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()


def look_at(page: Any, address: str, picture: Path | None) -> list[str]:
    """What is wrong with one page."""
    found: list[str] = []
    page.on("console", lambda message: found.append(f"console: {message.text}") if message.type == "error" else None)
    page.on("pageerror", lambda error: found.append(f"error: {error}"))
    page.goto(address, wait_until="load")
    page.wait_for_timeout(200)
    if page.evaluate("[...document.querySelectorAll('img[loading=lazy]')].map(i => i.loading = 'eager').length"):
        page.wait_for_load_state("networkidle")
    found += [f"picture does not show: {source}" for source in page.evaluate(PICTURES_MISSING)]
    if (beyond := page.evaluate(TOO_WIDE)) > 1:
        found.append(f"{beyond} px wider than the screen")
    if picture is not None:
        page.screenshot(path=picture, full_page=True)
    return found


def dead_links(page: Any, root: str, folder: Path) -> list[str]:
    """The links of a page to files that are not there, or to places that the file does not have."""
    dead = []
    for link in sorted(set(page.evaluate(LINKS))):
        target, _, place = link.partition("#")
        if not target.startswith(root):
            continue
        file = folder / (target.removeprefix(root).partition("?")[0] or "index.html")
        if not file.is_file() or (place and file.suffix == ".html" and f'id="{place}"' not in file.read_text("utf-8")):
            dead.append(f"leads nowhere: {link}")
    return dead


def search(page: Any, root: str, word: str) -> list[str]:
    """What is wrong with the search for a word."""
    page.goto(f"{root}search.html?q={word}", wait_until="load")
    try:
        page.wait_for_selector("ul.search li", timeout=10_000)
    except Exception:
        return [f"the search for {word!r} finds nothing"]
    return []


def check(folder: Path, pictures: Path | None = None) -> dict[str, list[str]]:
    """What is wrong with each page of a site."""
    from playwright.sync_api import sync_playwright

    files = [file.relative_to(folder) for file in sorted(folder.rglob("*.html"))]
    pages = [file.as_posix() for file in files if "_static" not in file.parts]
    wrong: dict[str, list[str]] = {}
    with serve(folder) as root, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for screen, (width, height, scheme) in SCREENS.items():
            context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
            for name in pages:
                page = context.new_page()
                picture = None if pictures is None else pictures / screen / f"{name.replace('/', '_')}.png"
                found = look_at(page, root + name, picture)
                if screen == "light":
                    found += dead_links(page, root, folder)
                if found:
                    wrong[f"{name} ({screen})"] = found
                page.close()
        page = browser.new_context().new_page()
        if found := search(page, root, "shapley"):
            wrong["search"] = found
    return wrong


if __name__ == "__main__":
    problems = check(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None)
    for name, found in problems.items():
        print(name, *found, sep="\n  ")
    sys.exit(f"{len(problems)} pages with something wrong" if problems else None)
