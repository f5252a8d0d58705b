"""The experiments of the paper, and those that show how sure and how good an answer is: data, methods, how often."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..data import evidence, importances, ordinary_settings, originals, sharing
from ..data.everyday import AT_RANDOM, BY_VALUE
from ..data.setting import Setting
from .store import Task

MOST, MANY, HALF, QUARTER, SOME, FEW = 200, 100, 50, 25, 20, 10
# Repetitions that tell a share of 0.95 from one of 0.92.
ENOUGH = 500
CORRELATIONS = (0.0, 0.5, 0.9)
DIMENSIONS = (50, 100, 200, 500, 1000)
SLOW = frozenset({"RF-VS", "VIMP-R2", "VIMP-ACC", "RF-SHAP"})
"""Methods that take so long that fewer repetitions must do."""

RANKING = ("LASSO", "FILTER", "RF", "RF-SHAP", "RF-VS", "COSSO", "VIMP-R2")
SELECTING = ("LASSO", "RF-VS", "COSSO", "VIMP-R2", "KFOCI")
OURS = ("FIRST", "FIRST-FAST", "NANNE-BE", "NANNE")
FACTORS = {"ishigami": 6, "heavy-tailed": 8, "friedman": 10}

REGRESSION_TABLES = {"auto_mpg": (392, 7), "boston_housing": (506, 13), "concrete": (1030, 8), "tecator": (215, 100)}
CLASS_TABLES = {
    "letter_a_vs_s": (1537, 16),
    "australian_credit": (690, 14),
    "breast_cancer_wisconsin": (683, 9),
    "pima_diabetes": (392, 8),
    "titanic": (714, 7),
}


@dataclass(frozen=True)
class Plan:
    """Every setting with every method, so many times."""

    settings: tuple[Setting, ...]
    methods: tuple[str, ...]
    repetitions: range

    def tasks(self, n_repetitions: int | None, methods: Iterable[str] | None) -> Iterator[Task]:
        """Yield what is to be done, repetition by repetition, so that all settings progress alike."""
        wanted = [name for name in self.methods if methods is None or name in methods]
        repetitions = self.repetitions if n_repetitions is None else self.repetitions[:n_repetitions]
        return (Task(at, name, k) for k in repetitions for at in self.settings for name in wanted)


@dataclass(frozen=True)
class Experiment:
    """What a table or figure rests on."""

    name: str
    title: str
    plans: tuple[Plan, ...]
    script: str = ""
    """Module that stores what is shown, where that is not rows."""

    @property
    def methods(self) -> tuple[str, ...]:
        """All methods that take part, in order."""
        return tuple(dict.fromkeys(name for plan in self.plans for name in plan.methods))

    def tasks(self, n_repetitions: int | None = None, methods: Iterable[str] | None = None) -> list[Task]:
        """Return all that is to be done, once each, though plans may overlap."""
        return list(dict.fromkeys(task for plan in self.plans for task in plan.tasks(n_repetitions, methods)))


def simulated(source: str, n_factors: int, correlations: Iterable[float], classes: bool = False) -> tuple[Setting, ...]:
    """Return the paper's set-up of 1,000 rows at several correlations."""
    return tuple(Setting(source, 1000, n_factors, correlation, classes) for correlation in correlations)


def against(
    settings: tuple[Setting, ...], competitors: Iterable[str], ours: tuple[str, ...] = OURS
) -> tuple[Plan, ...]:
    """Return plans that compare ours with others, the slow ones less often."""
    slow = tuple(name for name in competitors if name in SLOW)
    quick = tuple(name for name in competitors if name not in SLOW)
    return (
        Plan(settings, ours, range(MANY)),
        Plan(settings, quick, range(SOME)),
        Plan(settings, slow, range(FEW)),
    )


def _all_problems(correlations: Iterable[float]) -> tuple[Setting, ...]:
    return tuple(at for source, p in FACTORS.items() for at in simulated(source, p, correlations))


def _dimensions(*sources: str) -> tuple[Setting, ...]:
    return tuple(at for source in sources for p in DIMENSIONS for at in simulated(source, p, CORRELATIONS))


def _tables(sizes: dict[str, tuple[int, int]], classes: bool) -> tuple[Plan, ...]:
    settings = tuple(Setting(name, *size, classes=classes, part="train") for name, size in sizes.items())
    return (Plan(settings, ("FIRST", "FIRST-INTEGERS"), range(MANY)),)


GRID = tuple(tenth / 10 for tenth in range(10))
_HUNDRED = tuple(at for source in ("friedman", "ishigami") for at in simulated(source, 100, CORRELATIONS))
_CLASSES = tuple(
    at for source in ("ishigami", "friedman") for at in simulated(source, FACTORS[source], CORRELATIONS, True)
)
_ABALONE = Setting("abalone", 4177, 8, part="whole")

PAPER = (
    Experiment(
        "estimators",
        "Accuracy of the estimators on the Ishigami function",
        (Plan((Setting("ishigami", 10_000, 3),), ("NANNE", "NANNE-3", "NN"), range(MANY)),),
    ),
    Experiment(
        "importance",
        "Importances on the Friedman function, ρ = 0.8",
        against(simulated("friedman", 10, (0.8,)), (*RANKING, "KFOCI"), (*OURS, "NN")),
    ),
    Experiment(
        "ranking",
        "Rank agreement against correlation",
        (Plan(_all_problems(GRID), ("FIRST",), range(MANY)), *against(_all_problems(CORRELATIONS), RANKING)),
    ),
    Experiment(
        "selection",
        "Exact selection against correlation",
        (Plan(_all_problems(GRID), ("FIRST",), range(MANY)), *against(_all_problems(CORRELATIONS), SELECTING)),
    ),
    Experiment(
        "hundred",
        "A hundred factors: ranking, selection and time",
        against(_HUNDRED, ("LASSO", "FILTER", "RF", "RF-SHAP", "RF-VS", "COSSO", "KFOCI")),
    ),
    Experiment(
        "dimension",
        "FIRST with up to 1,000 factors",
        (Plan(_dimensions("ishigami", "friedman"), ("FIRST",), range(MANY)),),
    ),
    Experiment("fast", "FIRST and FIRST-FAST", (Plan(_dimensions("friedman"), ("FIRST", "FIRST-FAST"), range(MANY)),)),
    Experiment(
        "abalone",
        "Abalone: importances, and random forests on all subsets of the factors",
        (
            Plan((_ABALONE,), ("FIRST",), range(1)),
            Plan((Setting("abalone", 4177, 8, part="subset"),), ("RF",), range(1, 256)),
        ),
    ),
    Experiment("regression-tables", "Four real regression tables", _tables(REGRESSION_TABLES, classes=False)),
    Experiment(
        "classes",
        "Two classes: selection against correlation",
        against(
            _CLASSES, ("LASSO", "RF-VS", "COSSO", "VIMP-ACC", "KFOCI"), ("FIRST", "FIRST-2", "FIRST-FAST", "NANNE-BE")
        ),
    ),
    Experiment(
        "originals",
        "The competitors next to their originals in R",
        (
            Plan(
                tuple(Setting(name, 1000, p, 0.8, part="original") for name, p in originals.TABLES),
                (*RANKING, "KFOCI"),
                range(1),
            ),
        ),
    ),
    Experiment("class-tables", "Five real tables with two classes", _tables(CLASS_TABLES, classes=True)),
)


def _model(
    source: str, n_factors: int, *correlations: float, n_rows: int = 1000, classes: bool = False
) -> tuple[Setting, ...]:
    """Return settings with the factors of the model, and others up to so many."""
    return tuple(Setting(source, n_rows, n_factors, rho, classes, "model") for rho in correlations)


PURE_NOISE = (
    Setting("noise", 200, 10),
    Setting("noise", 1000, 10),
    Setting("noise", 1000, 100),
    Setting("noise-mixed", 500, 20),
    Setting("noise-cauchy", 1000, 10),
    Setting("noise", 1000, 10, classes=True),
)
CALIBRATED = (
    *simulated("friedman", 10, CORRELATIONS),
    *simulated("friedman", 100, (0.9,)),
    *simulated("heavy-tailed", 8, CORRELATIONS),
    *simulated("ishigami", 6, (0.0,)),
    *simulated("ishigami", 100, (0.0,)),
    *_CLASSES,
)
COVERAGE = (*_model("ishigami", 3, 0.0), *_model("friedman", 5, 0.0, 0.8))
COVERAGE_LARGE = (*_model("ishigami", 3, 0.0, n_rows=10_000), *_model("friedman", 5, 0.0, 0.8, n_rows=10_000))
NULL_FACTORS = (
    *_model("ishigami", 5, 0.0),
    *_model("friedman", 7, 0.0, 0.8),
    Setting("noise", 1000, 4),
    Setting("mixed", 1000, 6),
    *_model("ishigami", 5, 0.0, classes=True),
)
CHOSEN = (*(Setting("friedman", n, 100, 0.8) for n in (300, 1000)), *(Setting("noise", 1000, p) for p in (10, 100)))
NOT_CHOSEN = tuple(at for n in (150, 300, 500, 1000) for at in _model("friedman", 5, 0.8, n_rows=n))
TOO_FEW_ROWS = tuple(
    at for n in (200, 1000, 10_000) for p in (5, 6, 8, 10) for at in _model("friedman", p, 0.0, n_rows=n)
)
EVERYDAY_NOISE = (
    Setting("noise-3-classes", 1000, 10),
    Setting("noise-10-classes", 1000, 10),
    Setting("noise-3-outputs", 1000, 10),
    Setting("noise", 1000, 10, part="20 % missing at random"),
    Setting("noise", 1000, 10, part="weighted"),
    Setting("noise-panel", 600, 10),
    Setting("noise-panel", 1000, 10),
)
NOISE_PANELS = EVERYDAY_NOISE[-2:]
PANEL = Setting("panel", 1000, 4)
MISSING = tuple(Setting("friedman", 1000, 10, part=removal.name) for removal in (*AT_RANDOM, *BY_VALUE))
WAYS = ("", "-COMPLETE", "-IMPUTED")
"""What is done about missing values, as the end of a method's name: a level of its own, dropped rows, the mean."""
ESTIMATORS = ("NEAREST", "EXTRAPOLATED")
CHOOSING = ("FIRST", "FIRST-SPLIT", "CALIBRATED", "CALIBRATED-SPLIT")

CERTAINTY = (
    Experiment(
        "noise",
        "Nothing to find: how often something is selected",
        (Plan(PURE_NOISE, ("CALIBRATED",), range(MOST)), Plan(PURE_NOISE, ("FIRST",), range(SOME))),
    ),
    Experiment(
        "calibrated",
        "Exact selection by the calibrated rule",
        (Plan(CALIBRATED, ("FIRST", "CALIBRATED"), range(MANY)),),
    ),
    Experiment(
        "coverage",
        "Bias, standard errors and intervals of both estimators",
        (
            Plan(COVERAGE, ESTIMATORS, range(MOST)),
            Plan(COVERAGE_LARGE, ESTIMATORS, range(MANY)),
            Plan(COVERAGE, tuple(f"{name}-SUBSAMPLE" for name in ESTIMATORS), range(SOME)),
        ),
    ),
    Experiment(
        "null-p-values",
        "p-values of factors that add nothing",
        (Plan(NULL_FACTORS, ESTIMATORS, range(MOST)),),
    ),
    Experiment(
        "after-selection",
        "Importances estimated from the rows that chose the factors",
        (
            Plan(CHOSEN, CHOOSING, range(MANY)),
            Plan(NOT_CHOSEN, ESTIMATORS, range(MANY)),
        ),
    ),
    Experiment(
        "too-few-rows",
        "Too few rows for so many factors",
        (Plan(TOO_FEW_ROWS, ESTIMATORS, range(SOME)),),
    ),
    Experiment(
        "everyday-noise",
        "Nothing to find in everyday data",
        (
            Plan(EVERYDAY_NOISE, ("CALIBRATED",), range(MOST)),
            Plan(NOISE_PANELS, ("CALIBRATED-UNGROUPED",), range(MOST)),
            Plan(EVERYDAY_NOISE, ("FIRST",), range(SOME)),
        ),
    ),
    Experiment(
        "panel-ceiling",
        "Several rows of one person: the R² ceiling",
        (Plan((PANEL,), tuple(name + end for name in ESTIMATORS for end in ("", "-UNGROUPED")), range(MANY)),),
    ),
    Experiment(
        "missing-values",
        "Missing values: a level of their own, dropped rows or the mean",
        (
            Plan(MISSING, tuple(f"FIRST{way}" for way in WAYS), range(MANY)),
            Plan(MISSING, tuple(f"CALIBRATED{way}" for way in WAYS), range(HALF)),
            Plan(simulated("friedman", 10, (0.0,)), ("FIRST", "CALIBRATED"), range(MANY)),
        ),
    ),
)

BOTH_RULES = ("CALIBRATED", "FIRST")
OFTEN = ((1000, HALF), (5000, SOME), (20_000, FEW), (100_000, 3))
"""How many rows a table has at most, and how often it is drawn."""


def _both_rules(settings: Iterable[Setting]) -> tuple[Plan, ...]:
    """Return plans that compare both rules, the fewer times the larger a table is; the paper's only a few times."""
    times = {setting: next(often for rows, often in OFTEN if setting.n_rows <= rows) for setting in settings}
    ours = tuple(Plan((setting,), ("CALIBRATED",), range(often)) for setting, often in times.items())
    return (*ours, *(Plan((setting,), ("FIRST",), range(min(often, FEW))) for setting, often in times.items()))


EVIDENCE = (
    Experiment(
        "hard-noise",
        "Nothing to find in difficult data",
        (
            Plan(evidence.HARD_NOISE, ("CALIBRATED",), range(MOST)),
            Plan(evidence.HARD_NOISE, ("FIRST",), range(SOME)),
        ),
    ),
    Experiment(
        "false-factors",
        "False factors beside true ones",
        tuple(
            Plan((setting,), ("CALIBRATED",), range(QUARTER if setting.n_rows == 5000 else HALF))
            for setting in evidence.FALSE_FACTORS
        ),
    ),
    Experiment(
        "next-step",
        "The next step beyond all true factors",
        (Plan(evidence.NEXT_STEP, ("CALIBRATED-NEXT",), range(MOST)),),
    ),
    Experiment("small-effects", "Small effects in large tables", _both_rules(evidence.SMALL_EFFECTS)),
    Experiment("other-functions", "Functions of other studies", _both_rules(evidence.OTHER_FUNCTIONS)),
    Experiment("interactions", "Factors that matter only together", _both_rules(evidence.INTERACTIONS)),
    Experiment(
        "rare",
        "Two classes, a rare class, and amounts that are often zero",
        (
            Plan((evidence.CLASSES,), BOTH_RULES, range(MANY)),
            *_both_rules((evidence.RARE_CLASS, evidence.AMOUNTS)),
        ),
    ),
    Experiment(
        "intervals",
        "Intervals of indices and of the R² ceiling",
        (Plan(evidence.INTERVALS, ("EXTRAPOLATED",), range(ENOUGH)),),
    ),
    Experiment(
        "time-order",
        "Rows in time order",
        (Plan((evidence.IN_TIME,), ("CALIBRATED", "CALIBRATED-UNGROUPED"), range(MANY)),),
    ),
    Experiment(
        "ten-tables",
        "Ten real tables: shuffled targets, and forests on the selected factors",
        (Plan((*evidence.SHUFFLED, *evidence.FOLDS), ("CALIBRATED",), range(SOME)),),
    ),
)

LINEAR, LINEAR_LARGE = (
    tuple(
        Setting(source, n_rows, len(sharing.MODELS[source].coefficients))
        for source in ("stand-in", "equal-correlations", "random-correlations")
    )
    for n_rows in (1000, 10_000)
)
SHARING_ISHIGAMI = Setting("ishigami", 1000, 3, part="model")
IN_ORDER = tuple(Setting(source, 1000, 3) for source in ("three-two-one", "three-two-one-noisy"))
SHARING = (
    Experiment(
        "sharing",
        "Alone, total, joint, pair and fair share where they are known",
        (
            Plan((*LINEAR, SHARING_ISHIGAMI), ("SHARING",), range(ENOUGH)),
            Plan(LINEAR_LARGE, ("SHARING",), range(MOST)),
        ),
    ),
    Experiment(
        "cumulative",
        "All factors in order of what each adds",
        (Plan(IN_ORDER, ("CUMULATIVE", "PYFIRST-RANK"), range(HALF)),),
    ),
)

CHOICE = "CALIBRATED-CHOICE"
PEERS = ("OLS-HOLM", "SPLINE-HOLM", "LASSO-SET")
GENERALISED = (
    (ordinary_settings.CLASSES, "LOGISTIC-HOLM"),
    (ordinary_settings.COUNTS, "POISSON-HOLM"),
    (ordinary_settings.ORDINAL, "ORDERED-HOLM"),
)
IN_EACH_CELL = 80
"""Tables of lines with the same numbers of rows and factors and the same correlation."""
ORDINARY = (
    Experiment("lines", "Weak lines", (Plan(ordinary_settings.LINES, (CHOICE, *PEERS), range(IN_EACH_CELL)),)),
    Experiment("curves", "Weak curves", (Plan(ordinary_settings.CURVES, (CHOICE, *PEERS), range(IN_EACH_CELL // 2)),)),
    Experiment(
        "look-alikes",
        "Correlated, nested and nearly copied factors",
        (
            Plan(ordinary_settings.LOOK_ALIKES, (CHOICE, "OLS-HOLM", "SPLINE-HOLM"), range(MOST)),
            Plan(ordinary_settings.NEAR_COPIES, ("BEST-THREE",), range(MOST)),
        ),
    ),
    Experiment(
        "responses",
        "Classes, counts and ordered levels",
        tuple(Plan(settings, (CHOICE, "OLS-HOLM", model, "LASSO-SET"), range(MOST)) for settings, model in GENERALISED),
    ),
    Experiment(
        "together",
        "Weak effects of factors that matter only together",
        (Plan(ordinary_settings.TOGETHER, (CHOICE, "PRODUCTS-HOLM", "TRIPLES-HOLM", "LASSO-SET"), range(MOST)),),
    ),
    Experiment(
        "many-columns",
        "More columns than rows",
        (
            Plan(ordinary_settings.MANY_COLUMNS[:3], (CHOICE, "CALIBRATED-FDR", "LASSO-SET", "KNOCKOFFS"), range(HALF)),
            Plan(ordinary_settings.MANY_COLUMNS[3:4], (CHOICE, "CALIBRATED-FDR", "LASSO-SET"), range(SOME)),
            Plan(ordinary_settings.MANY_COLUMNS[4:], (CHOICE, "CALIBRATED-FDR", "LASSO-SET"), range(FEW)),
        ),
    ),
)
CLASSIC_TABLES, CLEANED_TABLES = (
    Experiment(name, title, (), "study.runs.ordinary_real")
    for name, title in (
        ("classic-tables", "Tables that every statistician knows"),
        ("cleaned-tables", "Real tables: models on the selected factors"),
    )
)
"""What is stored of these is no rows, so that they are not run with the others."""

DROPPING = ("SPLINE-DROP", "PRODUCTS-DROP")
_LARGE = tuple(setting for setting in importances.ADDITIVE if setting.n_rows == max(importances.SIZES))
_NOT_LARGE = tuple(setting for setting in importances.ADDITIVE if setting not in _LARGE)
IMPORTANCES = (
    Experiment(
        "additive",
        "Lines and curves, beside the efficiency bound",
        (
            Plan(_NOT_LARGE, ("ADAPTIVE",), range(FEW, FEW + HALF)),
            Plan(_LARGE, ("ADAPTIVE",), range(FEW, FEW + SOME)),
            Plan(_NOT_LARGE, ("SPLINE-DROP",), range(FEW, FEW + SOME)),
            Plan(_LARGE, ("SPLINE-DROP",), range(FEW, FEW + FEW)),
            Plan(_NOT_LARGE, ("EXTRAPOLATED", "NEAREST"), range(FEW, FEW + FEW)),
        ),
    ),
    Experiment(
        "harder-importances",
        "Interactions, heavy tails, categories, classes and missing values",
        (
            Plan(importances.HARDER, ("ADAPTIVE", *reversed(ESTIMATORS), *DROPPING), range(MANY, MANY + HALF)),
            Plan(importances.SMOOTH, ("GP-DROP",), range(MANY, MANY + SOME)),
        ),
    ),
    Experiment(
        "alone-and-joint",
        "Alone and joint, by the adaptive estimator",
        (Plan(LINEAR, ("SHARING-ADAPTIVE",), range(MOST)),),
    ),
)
REAL_IMPORTANCES = Experiment(
    "real-importances", "Real tables: intervals and the spread of half-sample fits", (), "study.runs.importances_real"
)
ALL = (*PAPER, *CERTAINTY, *EVIDENCE, *SHARING, *ORDINARY, *IMPORTANCES)
BY_NAME = {experiment.name: experiment for experiment in ALL}
