"""Real tables: what is said by the calibrated rule and its peers, and what models lose on the selected factors."""

from typing import Any

import numpy as np

from ..methods.ours import ALPHA
from ..paper.claims.ordinary import OURS, PREDICT
from ..paper.claims.ordinary_real import Explained, is_large, judge_classic, judge_cleaned, selectors
from ..runs.experiments import CLASSIC_TABLES, CLEANED_TABLES
from ..runs.ordinary_real import HOLM, MODELS, SETS
from ..scores.ordinary import loss
from .layout import NOTHING, Table
from .sections import Section

SHOWN = (*((OURS, model) for model in MODELS), (OURS, None), (PREDICT, None), ("LASSO-SET", None), (HOLM, None))
"""The losses that are shown: of which set of factors, and of which model; None is the better one."""

EXPLAINED: Explained = {
    (
        "wage1: wage",
        "exper",
    ): "a curve: pay rises and then falls with experience, so a line beside the others shows nothing",
    (
        "wage1: wage",
        "smsa",
    ): "weak: close to 0.1 by both tests, which is not enough where curves and products are tried too",
    ("gpa1: colGPA", "skipped"): "shows beside hsGPA; a model with all factors spends its 141 rows on the others",
    ("nodal: r", "xray"): "all three are close to 0.1 in 53 rows",
    ("mtcars: mpg", "disp"): "32 rows cannot tell ten overlapping factors apart; the best of them stands for all",
    ("swiss: Fertility", "Agriculture"): "a line: splines spend 20 of 47 rows on curves",
    ("swiss: Fertility", "Education"): "a line: splines spend 20 of 47 rows on curves",
    ("swiss: Fertility", "Catholic"): "a line, or two groups: splines spend 20 of 47 rows on curves",
    ("swiss: Fertility", "Infant.Mortality"): "a line: splines spend 20 of 47 rows on curves",
    ("stackloss: STACKLOSS", "AIRFLOW"): "a line: splines spend 12 of 21 rows on curves",
    ("stackloss: STACKLOSS", "WATERTEMP"): "21 rows with four outliers: robust errors are wide",
    ("fair: affairs > 0", "educ"): "weak in 6,366 rows; beside occupation, which overlaps with it, little is left",
}
"""Why answers differ, by title of the table and name of the factor: written by hand."""


def real_sections(stored: dict[str, dict[str, Any]]) -> list[Section]:
    """Return both sections from what is stored."""
    classic, cleaned = stored["classic"], stored["cleaned"]
    return [
        Section(CLASSIC_TABLES, [_said(*one) for one in classic.items()], [], judge_classic(classic, EXPLAINED)),
        Section(CLEANED_TABLES, [_losses(cleaned)] if cleaned else [], [], judge_cleaned(cleaned)),
    ]


def _said(title: str, table: dict[str, Any]) -> Table:
    """Return the factors of one table that any of three ways selects."""
    rows = []
    for name, factor in table["factors"].items():
        chosen = selectors(factor)
        if any(chosen):
            values = (factor["linear"], factor["splines"], factor["calibrated"])
            cells = [_cell(value, one) for value, one in zip(values, chosen, strict=True)]
            why = EXPLAINED.get((title, name), "" if len(set(chosen)) == 1 else "not explained yet")
            rows.append([name, *cells, why])
    size = f"{title} ({table['n_rows']:,} rows, {table['n_factors']} factors; p ≤ {ALPHA} is selected)"
    return Table(size, ("", f"{table['model']} + Holm", "splines + Holm", "calibrated", "why"), rows)


def _cell(p_value: float | None, selected: bool) -> str:
    text = NOTHING if p_value is None else "<0.001" if p_value < 0.0005 else f"{p_value:.3f}"
    return f"**{text}**" if selected else text


def _losses(tables: dict[str, Any]) -> Table:
    """Return what models lose with the selected factors, with those selected for prediction, and with the lasso's."""
    rows, all_losses = [], []
    for title, table in tables.items():
        losses = [loss(table, method, model) for method, model in SHOWN]
        all_losses.append([one.value for one in losses])
        sizes = [f"{np.mean(table['sizes'][method]):.1f}" for method in SETS]
        best = max(np.mean(table["scores"][model]["all"]) for model in MODELS)
        texts = [_signed(one.value) for one in losses]
        for at in (2, 3, 5):
            texts[at] = losses[at].text(3, sign=True) + (" !" if is_large(losses[at]) else "")
        shape = f"{table['n_rows']:,} × {table['n_factors']}"
        found = [sizes[0], *texts[:3], sizes[1], texts[3], sizes[2], texts[4], sizes[3], texts[5]]
        rows.append([title, shape, f"{best:.3f}".replace("-", "−"), *found])
    means = [_signed(float(value)) for value in np.mean(all_losses, axis=0)]
    rows.append([f"mean of {len(tables)}", "", "", "", *means[:3], "", means[3], "", means[4], "", means[5]])
    header = (
        "",
        "size",
        "best of all",
        "factors",
        *MODELS,
        "best",
        "to predict: factors",
        "best",
        "lasso: factors",
        "best",
        "linear model + Holm: factors",
        "best",
    )
    note = (
        "Loss: score with all factors minus score with the selected ones; below 0, fewer factors are better. Standard "
        "errors are over folds, which are not independent. !: more than 0.02, and more than two standard errors. The "
        "calibrated rule and the linear model limit false factors to the same level; the other two are for prediction."
    )
    title = 'Mean loss by the calibrated rule, with `goal="predict"`, by the lasso, and by a linear model + Holm'
    return Table(title, header, rows, note, strong=frozenset([len(rows) - 1]))


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("-", "−")
