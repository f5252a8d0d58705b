"""An experiment as text for a terminal: tables, and the verdicts."""

from ..paper.claims.claim import Judged
from ..paper.verdicts import ON_REQUIREMENTS, ON_THE_PAPER, REQUIREMENT_RULE, STATEMENT_RULE
from ..runs.experiments import PAPER, Experiment
from ..scores.results import Results
from .layout import wrap
from .sections import NUMBER_RULES, Section, make_section


def show(experiment: Experiment, results: Results) -> str:
    """Return all there is to show of an experiment."""
    section = make_section(experiment.name, results)
    parts = [f"{experiment.name}: {experiment.title}\n{wrap(section.setup)}"]
    parts += [table.text() for table in section.tables]
    if section.statements:
        parts.append("\n".join([section.statements[0].claim.heading, *map(_statement, section.statements)]))
    if section.numbers or section.statements:
        parts.append("\n".join([*_counts(section), *_rules(section)]))
    return "\n\n".join(parts)


def _statement(judged: Judged) -> str:
    indent = " " * 13
    lines = [
        wrap(judged.claim.says, f"{judged.verdict:11}  ", indent),
        wrap(f"That is: {judged.claim.means}.", indent, indent),
    ]
    if judged.measured:
        lines.append(wrap(f"Measured: {judged.measured}.", indent, indent))
    if judged.verdict.falls_short and judged.claim.reason:
        lines.append(wrap(judged.claim.reason, indent, indent))
    return "\n".join(lines)


def _counts(section: Section) -> list[str]:
    ours = section.experiment not in PAPER
    lines, verdicts = [], ON_REQUIREMENTS if ours else ON_THE_PAPER
    statements = "Requirements" if ours else "Statements"
    for k, (name, things) in enumerate((("Printed numbers", section.numbers), (statements, section.statements))):
        if things:
            counts = ", ".join(f"{verdict} {section.count(verdict)[k]}" for verdict in verdicts)
            lines.append(f"{name}: {counts}.")
    return lines


def _rules(section: Section) -> list[str]:
    of_numbers = NUMBER_RULES.get(section.experiment.name, "")
    rule = STATEMENT_RULE if section.experiment in PAPER else REQUIREMENT_RULE
    of_statements = rule if section.statements else ""
    return [wrap(rule) for rule in (of_numbers, of_statements) if rule]
