"""The examples in docs/sharing.md and what they print; `python -m tests.study.examples` writes all of it anew."""

import contextlib
import io
import re
import warnings
from collections.abc import Iterator
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "sharing.md"
EXAMPLE = re.compile(r"```python\n(?P<code>.*?)```(?:\n\n```text\n(?P<shown>.*?)```)?", re.DOTALL)


def printed(text: str) -> Iterator[tuple[re.Match[str], str]]:
    """Each example of a page with what it prints; later ones know what earlier ones have made."""
    known: dict[str, object] = {"__name__": "__main__"}
    for found in EXAMPLE.finditer(text):
        out = io.StringIO()
        with contextlib.redirect_stdout(out), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(found["code"], known)
        yield found, out.getvalue()


def write_anew() -> None:
    """Put what the examples print now in place of what the page shows."""
    text = PAGE.read_text(encoding="utf-8")
    for found, now in [*printed(text)]:
        if found["shown"] is not None:
            shown = found[0].replace(f"```text\n{found['shown']}```", f"```text\n{now}```")
            text = text.replace(found[0], shown)
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_anew()
