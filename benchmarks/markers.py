"""Tables in Markdown, written into pages between markers: ``<!-- name -->`` before, ``<!-- /name -->`` after."""


def table(head, rows):
    """A table in Markdown."""
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows])


def fill(text, parts):
    """The text of a page with new contents between the markers that have their names."""
    for name, content in parts.items():
        before, begin, rest = text.partition(f"<!-- {name} -->\n")
        _, end, after = rest.partition(f"<!-- /{name} -->")
        if not (begin and end):
            raise ValueError(f"the page has no pair of markers <!-- {name} --> and <!-- /{name} -->")
        text = before + begin + content + "\n" + end + after
    return text


def write(page, parts):
    """Write new contents into a page."""
    page.write_text(fill(page.read_text(encoding="utf-8"), parts), encoding="utf-8")
