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
alphabet; classes as columns of zeros and ones). Seeds are fixed.

- firstfactor: its headline; what is lost without a factor or a cluster, and in brackets what the first of it explains
  alone. "Or": any one of them will do. "And": several are needed.
- Permutation: the forest is fitted on one half of the rows; how much lower its R² on the other half is if a factor is
  shuffled ({REPEATS} times).
- SHAP: each factor's share of the mean absolute SHAP values of {MAX_EXPLAINED} rows of that half.
- Facts: R², out of bag, of forests that have some of the factors and all rows. Where rows of a table are not
  independent, also R² for mixtures that the forest has not seen (five folds), or for the last {1 - EARLIER:.0%} of the
  rows after those before them."""

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

RIGHT = {
    "diamonds": "firstfactor. Without the best measure of size a forest loses next to nothing, without all four "
    "nearly everything: the four are one thing, as the headline says. Permutation and SHAP split it between two of "
    "them, so that a second measure of size comes before colour. Their first three factors are worse than the "
    "compact set, which has a size, clarity and colour and does as well as all nine. Any size will do, but not "
    "equally well: the last of the cluster costs a forest a little.",
    "abalone": "Both, about different things. Shell weight is the best single factor: forest and firstfactor (alone) "
    "agree. It is hardly missed if the other weights are there, which is what lost without says. As sets of three, "
    "the compact one and the forest's are equally good. No cluster is found, and rightly: the weights tell the age "
    "together, and none can replace the others.",
    "concrete": "Of the headline, firstfactor: the ingredients together, and age. Without any one ingredient little "
    "is lost, without all seven a forest loses most, in mixtures that were seen and in new ones. Of the compact set, "
    "the forest: cement is in its first five factors and not in ours, which is clearly worse. The 1,030 rows are 427 "
    "mixtures, many of them tested at several ages, and the four ingredients of the compact set tell 415 of them "
    "apart: a mixture can be known by a few of its ingredients, whichever they are, and nearest rows take knowing it "
    "for explaining it. The result comes with a warning that neighbouring rows are alike. With each mixture as a "
    "group (`groups`), the compact set is age, water, both aggregates and fly ash, without cement still, and far "
    "better: 0.856, and 0.818 in new mixtures.",
    "boston_housing": "Both. The sets are equally good. firstfactor names a cluster first, five factors of the place "
    "(crime, air, tax, schools, distance), none of which is missed by itself; a forest loses 0.05 of R² without them "
    "and nothing without the first. The forest has rooms and status first, as alone has, where air is between them.",
    "tecator": "firstfactor. Neighbouring wavelengths are all but copies, and the forest's first three are three of "
    "the same. The compact set has three that differ, and any of their stand-ins will do. A forest is no good model "
    "of spectra: it reaches far less than the ceiling with any set.",
    "titanic": "Both, and they agree: nothing is shared here, and no cluster is found. SHAP gives fare and port some "
    "of what class tells; a forest does nearly as well without them.",
    "wine": "Both. The same first three; the fourth differs, and makes no difference that 178 rows could show.",
    "breast_cancer": "firstfactor, as a set of two: size and smoothness are better than size and concave points, "
    "which tell much the same. But its headline needs care. What is lost without the cluster is lost beside the two "
    "other selected factors. Beside all others it is little: some of the 24 together tell the size, though no single "
    "one stands in for it. And the last stand-in is clearly worse than the first.",
    "diabetes": "The forest, a little. Both have bmi and s5 first. All ten factors are somewhat better than these "
    "two: what blood pressure adds is too little for the evidence that 442 rows give, and it was left out.",
    "macrodata": "Neither. Prices, population, income and money all grow, so each of them tells the date, and the "
    "date tells the rate of unemployment: population alone has 98 %. That they tell it together, as the headline "
    "says, is true: a forest loses most without them. Of quarters between those seen, the compact set is right and "
    "the forest's first two are far from it. Of later quarters, it is the other way round: what tells the date is of "
    "no use, investment and the interest rate are of some. The ceiling, too, is about quarters between those seen. "
    "No warning is given here: look at changes instead of levels, or give blocks of years as `groups`.",
}
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
        f"- firstfactor: “{found['plain']['says']}” {_drivers(found['plain'])}",
        f"- `compact=True`: “{found['compact']['says']}” {_drivers(found['compact'])}",
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
    texts = [f"{_members(one)} {one['lost']:.2f} ({one['alone'][0]:.2f} alone)" for one in named]
    others = len(answer["drivers"]) - len(named)
    more = [f"{others} more with less"] if others else []
    return f"That is: {'; '.join([*texts, *more])}. Ceiling {answer['ceiling']:.2f}."


def _members(driver: dict[str, Any]) -> str:
    factors, word = driver["factors"], "or" if driver["any will do"] else "and"
    if len(factors) <= MANY + 1:
        return list_names(factors, word)
    return f"{', '.join(factors[:MANY])} {word} {len(factors) - MANY} others"


def _importances(values: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.2f}" for name, value in list(values.items())[:SHOWN])


def _set(found: dict[str, Any], which: str) -> str:
    return ", ".join(found["sets"].get(which, ()))
