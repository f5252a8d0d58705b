"""An experiment as text for a terminal: tables next to the paper's, and the verdicts."""

from .claims.claim import Judged
from .experiments import Experiment
from .layout import wrap
from .results import Results
from .sections import NUMBER_RULES, Section, make_section
from .verdicts import STATEMENT_RULE, Verdict


def show(experiment: Experiment, results: Results) -> str:
    """Return all there is to show of an experiment."""
    section = make_section(experiment.name, results)
    parts = [f"{experiment.name}: {experiment.title}\n{wrap(section.setup)}"]
    parts += [table.text() for table in section.tables]
    if section.statements:
        parts.append("\n".join(["What the paper says", *map(_statement, section.statements)]))
    if section.numbers or section.statements:
        parts.append("\n".join([*_counts(section), *_rules(section)]))
    return "\n\n".join(parts)


def _statement(judged: Judged) -> str:
    indent = " " * 10
    lines = [
        wrap(judged.claim.says, f"{judged.verdict:8}  ", indent),
        wrap(f"That is: {judged.claim.means}.", indent, indent),
    ]
    if judged.measured:
        lines.append(wrap(f"Measured: {judged.measured}.", indent, indent))
    if judged.verdict == Verdict.DIFFERS and judged.claim.reason:
        lines.append(wrap(judged.claim.reason, indent, indent))
    return "\n".join(lines)


def _counts(section: Section) -> list[str]:
    lines = []
    for k, (name, things) in enumerate((("Printed numbers", section.numbers), ("Statements", section.statements))):
        if things:
            counts = ", ".join(f"{verdict} {section.count(verdict)[k]}" for verdict in Verdict)
            lines.append(f"{name}: {counts}.")
    return lines


def _rules(section: Section) -> list[str]:
    of_numbers = NUMBER_RULES.get(section.experiment.name, "")
    of_statements = STATEMENT_RULE if section.statements else ""
    return [wrap(rule) for rule in (of_numbers, of_statements) if rule]
