"""A section in Markdown, for all pages."""

from ..paper.claims.claim import Judged
from .figures.draw import CAPTIONS, FIGURES
from .sections import Section


def link_to(section: Section) -> str:
    """Return the title of a section as a link to it: what GitHub makes of the heading."""
    title = section.experiment.title
    kept = "".join(letter for letter in title.lower() if letter.isalnum() or letter in " -")
    return f"[{title}](#{kept.replace(' ', '-')})"


def short_of(sections: list[Section]) -> list[str]:
    """Return what does not hold as lines of a list."""
    judged = [one for section in sections for one in section.statements if one.verdict.falls_short]
    return [f"- {one.claim.says} Measured: {one.measured}. {one.claim.reason}".rstrip() for one in judged]


def section_parts(section: Section, figure: str = "") -> list[str]:
    """Return the paragraphs of a section: what was set up, its figure, tables and statements."""
    experiment = section.experiment
    command = experiment.script or f"study show {experiment.name}"
    parts = [f"## {experiment.title}", f"`python -m {command}` – {section.setup}"]
    if figure:
        parts.append(f"![{FIGURES[experiment.name][1]}]({figure})")
        parts += [CAPTIONS[experiment.name]] if experiment.name in CAPTIONS else []
    parts += [table.markdown() for table in section.tables]
    if section.statements:
        parts.append(_statements(section.statements))
    return parts


def _statements(statements: list[Judged]) -> str:
    rows = []
    for judged in statements:
        reason = f". {judged.claim.reason}" if judged.verdict.falls_short and judged.claim.reason else ""
        verdict = f"**{judged.verdict}**" if judged.verdict.falls_short else str(judged.verdict)
        rows.append((judged.claim.says, judged.claim.means, f"{judged.measured}{reason}", verdict))
    header = (statements[0].claim.heading, "that is", "measured", "")
    lines = [" | ".join(cells) for cells in (header, ("---",) * 4, *rows)]
    return "\n".join(f"| {line} |" for line in lines)
