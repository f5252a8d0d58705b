"""Real tables whose factors share information: what firstfactor says, what a forest says, and who is right."""

from typing import Any

from firstfactor._utils.text import list_names

from ..data.shared_tables import SHARED_TABLES
from ..runs.shared_tables import EARLIER, LEAF, MAX_EXPLAINED, MAX_ROWS, REPEATS, TREES
from .layout import Table

SHOWN = 5
"""Factors that are named, of each answer."""
LEAST = 0.005
"""What is lost without a driver that is named."""
MANY = 4
"""Members of a cluster that are named, if it has more than one beyond these."""

TITLE = "Ten real tables: firstfactor, a random forest, and who is right"
SETUP = f"""\
`python -m study.runs.shared_tables` – `rank(table, target)` beside a random forest of scikit-learn ({TREES} trees,
leaves of at least {LEAF} rows; of larger tables {MAX_ROWS:,} rows drawn at random; categories by their place in the
alphabet; classes as columns of zeros and ones). The forest is fitted on one half of the rows. Permutation: how much
lower its R² on the other half is if a factor is shuffled ({REPEATS} times). SHAP: each factor's share of the mean
absolute SHAP values of {MAX_EXPLAINED} rows of that half. firstfactor: what is lost without a factor or a cluster, and
in brackets what it explains alone. Facts: R², out of bag, of forests that have some of the factors and all rows;
where rows of a table are not independent, also for mixtures that the forest has not seen (five folds), or for the last
{1 - EARLIER:.0%} of the rows after those before them. Seeds are fixed."""

WORDS = {
    "all": "all factors",
    "compact": "the compact set",
    "permutation": "as many, the first by permutation",
    "shap": "as many, the first by SHAP",
    "compact, swapped": "the compact set, each cluster by its last member",
    "without the best of the cluster": "all but the first of the largest cluster",
    "without the cluster": "all but the largest cluster",
    "without the first": "all but the first factor",
}

RIGHT: dict[str, str] = {}
"""Who is right, by table, as the facts above it show."""


def describe_tables(tables: dict[str, dict[str, Any]]) -> str:
    """Return the section in Markdown."""
    parts = [f"## {TITLE}", SETUP]
    for name, table in SHARED_TABLES.items():
        if name in tables:
            parts += [f"### {table.title}: {table.response}", *_describe(tables[name], table.new_rows)]
            parts += [f"**Who is right.** {RIGHT[name]}"] if name in RIGHT else []
    return "\n\n".join(parts) + "\n"


def _describe(found: dict[str, Any], new_rows: str) -> list[str]:
    size = f"{found['n_rows']:,} rows, {found['n_factors']} factors."
    says = [
        f"- firstfactor: {_drivers(found['plain'])}",
        f"- `compact=True`: {_drivers(found['compact'])}",
        f"- Permutation: {_importances(found['permutation'])}",
        f"- SHAP: {_importances(found['shap'])}",
    ]
    rows = [[WORDS[which], _set(found, which), f"{score:.3f}"] for which, score in found["scores"].items()]
    header = ["a forest with", "that is", "R²"]
    if new_rows:
        header.append(f"R² in {new_rows}")
        rows = [
            [*row, f"{score:.3f}".replace("-", "−")] for row, score in zip(rows, found["new"].values(), strict=True)
        ]
    facts = Table("", tuple(header), rows)
    return [size, "\n".join(says), facts.markdown().strip()]


def _drivers(answer: dict[str, Any]) -> str:
    named = [one for one in answer["drivers"] if one["lost"] >= LEAST][:SHOWN]
    texts = [f"{_any_of(one['factors'])} {one['lost']:.2f} ({one['alone'][0]:.2f} alone)" for one in named]
    others = len(answer["drivers"]) - len(named)
    more = f"; {others} more with less" if others else ""
    return f"{', '.join(texts)}{more}. Ceiling {answer['ceiling']:.2f}."


def _any_of(factors: list[str]) -> str:
    if len(factors) <= MANY + 1:
        return list_names(factors, "or")
    return f"{', '.join(factors[:MANY])} or {len(factors) - MANY} others"


def _importances(values: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.2f}" for name, value in list(values.items())[:SHOWN])


def _set(found: dict[str, Any], which: str) -> str:
    return ", ".join(found["sets"].get(which, ()))
