"""Each experiment as a section: what was set up, tables, and statements judged."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from firstfactor.inference.constants import MAX_DISTANCE_SHARE

from ..data.difficult import BLOCK, MEMORY, SCALE, STEEPNESS
from ..data.everyday import OUTPUT_CORRELATION, WEIGHT_SHAPE
from ..data.evidence import AMOUNTS, CLASSES, INTERACTIONS, OTHER_FUNCTIONS, RARE_CLASS, SMALL_EFFECTS
from ..data.ordinary import COPY_CORRELATION, COUNTRY_SHARE, MEAN_COUNT, N_CONTINENTS, N_COUNTRIES
from ..data.ordinary_settings import CURVES, LINES, LOOK_ALIKES, RESPONSES, TOGETHER
from ..data.sharing import EQUAL_CORRELATION, PAPER_CORRELATION
from ..methods.ours import ALPHA
from ..methods.sharing import ESTIMATOR
from ..paper import claims
from ..paper.claims.claim import Judged
from ..paper.verdicts import NUMBER_RULE, QUANTILE_RULE, Compared, Verdict
from ..runs.experiments import BY_NAME, CLASS_TABLES, REGRESSION_TABLES, SOME, Experiment
from ..runs.ordinary_real import MAX_ROWS, N_DIVISIONS, N_FOLDS
from ..scores.importances import N_DRAWN
from ..scores.results import Results
from ..scores.truths import N_OUTER
from .layout import Table
from .tables.abalone import compare_abalone
from .tables.after_selection import tabulate_after_selection
from .tables.calibrated import tabulate_calibrated
from .tables.classes import tabulate_classes
from .tables.coverage import tabulate_coverage
from .tables.cumulative import tabulate_cumulative
from .tables.dimension import compare_dimension
from .tables.estimators import tabulate_estimators
from .tables.everyday_noise import tabulate_everyday_noise
from .tables.false_factors import tabulate_false_factors
from .tables.fast import compare_fast
from .tables.found import found_in
from .tables.hard_noise import tabulate_hard_noise
from .tables.hundred import tabulate_hundred
from .tables.importance import tabulate_importance
from .tables.importances import tabulate_additive, tabulate_alone_and_joint, tabulate_harder
from .tables.intervals import tabulate_intervals
from .tables.missing_values import tabulate_missing_values
from .tables.next_step import tabulate_next_step
from .tables.noise import tabulate_noise
from .tables.null_p_values import tabulate_p_values
from .tables.ordinary import by_setting, by_size, response_label, tabulate_many_columns
from .tables.originals import tabulate_originals
from .tables.panel_ceiling import tabulate_panel_ceiling
from .tables.ranking import tabulate_ranking
from .tables.real_tables import compare_tables
from .tables.selection import tabulate_selection
from .tables.sharing import tabulate_sharing
from .tables.ten_tables import tabulate_ten_tables
from .tables.time_order import tabulate_time_order
from .tables.too_few_rows import tabulate_too_few_rows

SIMULATED = (
    "1,000 rows; uniform factors under a Gaussian copula with Σᵢⱼ = ρ^|i−j|; normal noise of variance 1. Ishigami has "
    "3 factors, heavy-tailed 4, Friedman 5; all others do nothing."
)
TABLES = (
    "100 splits into 80 % of the rows to train on and 20 % to test on: FIRST selects factors, and a random forest with "
    "these is compared with one that has all."
)
VARIANT = (
    "The authors' first release leaves columns of integer type unscaled; the variant does so with all columns of whole "
    "numbers, which are not always of that type in R."
)
FUNCTIONS = (
    "Friedman, Ishigami and heavy-tailed as in the paper, with noise of variance 1 and factors under a Gaussian copula "
    "with Σᵢⱼ = ρ^|i−j|."
)
SINES = "Sines: Σ sin 2πxⱼ of five factors; a tenth of Var(y) is noise where factors are independent."
ORDINARY_TABLES = (
    "Three to six factors, drawn anew for each table, have a line of random sign that by itself is 2 to 10 % of "
    "Var(y). Factors are normal, all with the correlation ρ or with Σᵢⱼ = ρ^|i−j|; in a third of the tables each is a "
    "number, binary, ordinal with five values or a category of four levels. Noise is normal, t₃, lognormal, or normal "
    "with a scale that depends on a true factor. 5, 10 or 30 factors, ρ = 0, 0.5 or 0.8."
)
PEERS = (
    "Splines: cubic splines of all factors with a cross-validated ridge penalty, fitted again without each factor; the "
    "share of a factor is what squared errors on rows not seen grow without it, in five folds, over what all factors "
    "explain of them. At least 0, as ours."
)
SETUPS = {
    "estimators": "The Ishigami function of three independent factors with 10,000 rows and normal noise of variance 1. "
    "NANNE uses two neighbours, NANNE-3 and NN use three. The truth is the closed form.",
    "importance": f"{SIMULATED} Here 10 factors, of which Friedman has X1, X7, X8, X9 and X10. The truth is relative "
    f"to those, by Double Monte Carlo with {N_OUTER:,} outer samples.",
    "ranking": f"{SIMULATED} In all, 6, 8 and 10 factors. Kendall's τ is τ-b, with the truth as above.",
    "selection": f"{SIMULATED} In all, 6, 8 and 10 factors. A selection is exact if it has the factors of the function "
    "and no other.",
    "hundred": f"{SIMULATED} In all, 100 factors.",
    "dimension": f"{SIMULATED} In all, 50 to 1,000 factors.",
    "fast": f"{SIMULATED} FIRST-FAST forgets a factor at the first step in which it does not help.",
    "abalone": "The age of 4,177 abalones by eight factors: FIRST on all rows, and the out-of-bag error of a random "
    "forest on each of the 255 subsets of the factors.",
    "regression-tables": f"{TABLES} {VARIANT}",
    "classes": f"{SIMULATED} In all, 6 and 10 factors. The response is whether the function with its noise is above 0, "
    "which is true with probability Φ(f(x)).",
    "class-tables": f"{TABLES} {VARIANT}",
    "noise": "The response is independent of all factors: normal, Cauchy, or two classes at random. Factors are "
    "uniform numbers; mixed factors are one half of these, a quarter whole numbers from 0 to 9 and a quarter "
    f"categories of 2 to 6 levels. alpha = {ALPHA}.",
    "calibrated": f"{SIMULATED} alpha = {ALPHA}, and all else by default. The rows of the paper's rule are those of "
    "its own study.",
    "coverage": "`total_indices(..., uncertainty=True)` on the factors of the model alone, with 1,000 and 10,000 rows. "
    f"Noise is normal with variance 1. The truth is from Monte Carlo with {N_OUTER:,} samples.",
    "null-p-values": "`total_indices(..., uncertainty=True)` on 1,000 rows of the factors of the model and some that "
    "add nothing to them: two others of the problem; all four of pure noise; and of mixed factors, two numbers and a "
    "category beside a number, a whole number and a category that matter.",
    "after-selection": "FIRST by both rules, which choose and estimate on the same rows, or on two halves of them "
    "(SPLIT): on Friedman with 100 factors at ρ = 0.8, and on pure noise. What is off has two causes, the choice and "
    "the distance of neighbours. The second one alone is there, too, where the factors of the model are given; a half "
    "has 150 or 500 rows.",
    "too-few-rows": "`total_indices` on the five factors of Friedman, ρ = 0, and some others. Distance share is "
    "`sample_size.distance_share`, the mean squared distance of the nearest neighbour over that of any two rows; above "
    f"{MAX_DISTANCE_SHARE} there is a warning.",
    "everyday-noise": "The response is independent of all factors, which are uniform numbers: 3 or 10 equally likely "
    f"classes; three normal outputs, two of them with a correlation of {OUTPUT_CORRELATION}; a normal one where a "
    "fifth of the values of every factor is missing, which are a level of their own, or where rows have weights of a "
    f"gamma distribution of shape {WEIGHT_SHAPE:.0f}; and panels, where the response is an effect of the person and "
    "noise of the same variance, and half of the factors are the same in all rows of a person, which `groups` tells. "
    f"alpha = {ALPHA}.",
    "panel-ceiling": "`total_indices(..., uncertainty=True)` on 50 persons with 20 rows each. The response is "
    "sin 2πx₁ + √6 x₂ + √6 x₃, an effect of the person that no factor explains, and noise; these five parts have the "
    "same variance, so that the best R² is 0.6. X1 and X2 differ from row to row; X3, and X4, which does nothing, are "
    "the same in all rows of a person. Nearest: the paper's estimator. No groups: as if rows were independent.",
    "missing-values": "Friedman with 1,000 rows and 10 factors, ρ = 0, where values of every factor are missing: each "
    "with the same probability (at random), or larger values more often (by value: the probability is proportional to "
    'the value). Level: `missing="level"`, all rows, and what is missing is a value of its own. Dropped: '
    '`missing="drop"`, only complete rows; with fewer than 2 of them nothing is found. Mean: the mean of each factor '
    "is put in first, by scikit-learn. A value that is not known explains nothing, so that the ceiling and importances "
    "change whatever is done.",
    "hard-noise": "The mean of the response depends on no factor: a class of 3 % of the rows; exp(normal) in 5 % of "
    "the rows and 0 in the others; Poisson counts of mean 1; normal noise beside factors with ρ = 0.95, beside as many "
    "categories of 100 levels as numbers, in 60 rows, and in 300 rows of 300 factors; and skewed noise, "
    f"(e − 1) exp({SCALE} x₁) with e exponential of mean 1, whose scale depends on a factor. alpha = {ALPHA}.",
    "false-factors": f"{FUNCTIONS} {SINES} 50 tables of 500 rows and 25 of 5,000. A factor is false if the function "
    f"does not have it. alpha = {ALPHA}.",
    "next-step": f"{FUNCTIONS} {SINES} 1,000 rows and 20 factors. The true factors are given (`forced`), and p is that "
    "of the first forward step, for the best of all others.",
    "small-effects": "Friedman with 20 factors, ρ = 0, and a line of x₃, which Friedman does not have. It is worth "
    "0.3 % of Var(y), where noise has variance 1; or 1 %, where half of Var(y) is noise. Found is x₃. The larger the "
    "table, the fewer runs.",
    "other-functions": "Ten terms: ten factors of 30, of which four have a line, three a parabola and three a sine, "
    f"all of the same variance; 20 % of Var(y) is noise. {SINES} Noisy sines: the same with noise of variance 1. The "
    "g-function of Sobol' with a = 0, 1, 4.5 and 9, 7 % noise. Borehole: the usual function of eight factors, 1 % "
    "noise; three of them have less than 1e-4 of the variance, so that five are sought, and none of the eight is "
    "false. Noisy borehole: the same with 5 % noise. Morris' function of ten factors, without random coefficients, 1 % "
    "noise.",
    "interactions": "XOR is the sign of (x₁ − ½)(x₂ − ½), and parity that of three such terms; products are of centred "
    "factors. None of these factors does anything alone. Two mains and XOR: two lines, and XOR of two other factors, "
    "all three of the same variance. 20 % of Var(y) is noise.",
    "rare": "Friedman with two classes, 10 factors, ρ = 0.9. A class of 3 % of the rows, its logit a sum of two lines "
    f"that rise by {STEEPNESS} each. Amounts that are 0 in 70 % of the rows, and else exp(1.5 x₁) times lognormal "
    "noise of σ = ½: what is 0 depends on nothing.",
    "intervals": '`total_indices(..., uncertainty=True, variance_estimator="extrapolated")` on the factors of the '
    "model alone. The g-function as above; Friedman and Ishigami with noise of variance 1.",
    "time-order": f"1,000 rows of ten factors and a response, all independent of each other; each is a series in which "
    f"consecutive rows have a correlation of {MEMORY}. Groups: blocks of {BLOCK} consecutive rows.",
    "ten-tables": "The paper's ten real tables. Targets shuffled 20 times. And four divisions into five folds: the "
    "calibrated rule selects factors on four folds, and random forests on these and on all factors predict the fifth.",
    "sharing": "Linear models, y = Xβ + noise, of normal factors of variance 1. The paper's example: three factors, "
    f"β = (1, 1, 0), the last two with a correlation of {PAPER_CORRELATION}, noise of standard deviation 0.5. Equal "
    f"correlations: four factors, β = (2, 1, 1, 0), all correlations {EQUAL_CORRELATION}, noise of 1. Random "
    "correlations: five factors, β = (1, −1, 0.5, 0.5, 0), a correlation matrix drawn once, noise of 1. A set u of "
    "factors explains Cov(y, X_u) Σ_uu⁻¹ Cov(X_u, y), from which all truths follow. Ishigami: its three factors, noise "
    f"of variance 1, the closed form. All from one look at the neighbours, by the {ESTIMATOR} estimator. Alone: closed "
    "index. Total: total index, what is lost without. Joint: total index of a pair. Pair: that minus both totals. Fair "
    "share: Shapley effect.",
    "cumulative": "y = 3x₁ + 2x₂ + x₃ + noise, independent normal factors of variance 1, 1,000 rows. Noise has "
    "variance 1, or 14, which is half of Var(y). x₁ explains 9/14 of what all explain, x₁ and x₂ 13/14. Beside it "
    "pyfirst 1.0.2, the authors' package, with noise=True.",
    "lines": ORDINARY_TABLES,
    "curves": "As for lines, but a factor that is a number acts by its square, its absolute value, sin 2x, a step at ½ "
    "or exp x.",
    "look-alikes": f"Lines as above, N = 200, p = 30, ρ = 0.8. Continent of country: a country of {N_COUNTRIES} levels "
    f"is {100 * COUNTRY_SHARE:.0f} % of Var(y); one of {N_CONTINENTS} continents is a function of it; eight numbers do "
    "nothing. Near-copies: 0.5 x₁ + 0.4 x₂ + 0.3 x₃ + noise of variance 1, with copies of x₁ and x₂ at a correlation "
    f"of {COPY_CORRELATION} among eight factors. Suppressors: 0.45 x₁ − 0.45 x₂ + 0.4 x₃ + noise of variance 1, all "
    "correlations 0.75. Copies, the continent and factors that only correlate are false. Best three: least squares of "
    "the three factors with the least residual sum of squares, told that three are true.",
    "responses": "The same sums of lines, p = 10, ρ = 0.5. Two classes and five ordered levels are cut from the sum "
    f"with logistic noise, so that odds are proportional; counts are Poisson of mean {MEAN_COUNT} with the sum as "
    "logarithm. GLM: logistic, Poisson and proportional-odds regression with likelihood-ratio tests; a p-value is 1 "
    "where a fit does not converge. OLS and lasso take classes as 0 and 1.",
    "together": "Eight independent normal factors; the product of two of them is 10 % of Var(y) in 200 rows, that of "
    "three 25 % in 200 rows, the sign of that of two 6 % in 500 rows. Pairs, triples: all lines and all products of "
    "two, or of three, in one linear model; a factor is selected with any term that has it.",
    "many-columns": "Independent normal factors; 5 or 20 lines of equal size and random sign are 70 % or 95 % of "
    'Var(y). FDR: `FIRST(rule="calibrated", control="fdr")`. Lasso: least cross-validated error. '
    "Knockoffs: Gaussian, with the lasso's coefficients (hidimstat 0.4), FDR 0.1; only with 300 columns.",
    "additive": "y = Σ βⱼhⱼ(xⱼ) + noise with β = (1, 0.7, −0.5, 0, 0.35, 0, −0.25, 0, 0.15, 0), of which 3, 6 or 10 "
    "are there. Factors are normal with Σᵢⱼ = ρ^|i−j|. Lines: hⱼ(x) = x. Curves: sin 1.5x, x², exp 0.7x, cos 2x, x + "
    "x²/2 and x exp(−x²/4), of mean 0 and variance 1. The noise is normal, so large that R² is 0.2, 0.5 or 0.9. "
    "Truths are by quadrature. Bound: the standard deviation of the influence function of a share over √N, by Monte "
    f"Carlo with {N_DRAWN:,} rows; of several factors, the root mean square, to which nulls add nothing. {PEERS}",
    "harder-importances": "Friedman with 10 factors, Ishigami with 6, heavy-tailed with 8, the g-function with 6, XOR "
    "and x₁x₂ with 4, as on the page on evidence; 10 or 50 % of Var(y) is noise. Levels: a sine of x₁, a line of x₂, a "
    "mean and a slope of x₂ for each level of x₃, and a category x₄ that does nothing. Two classes: Friedman and "
    "Ishigami above 0, with noise of variance 1; the truth is of the probability. Missing: a fifth of the values of "
    "every factor of Friedman with noise of variance 1; the truth is of the mean given what is known. Factors are "
    f"independent. {PEERS} Products: the same with products of two. GP: Gaussian processes with a length scale for "
    f"each factor, of most likelihood; only with N = 300 and numbers, {SOME} runs.",
    "alone-and-joint": "The linear models of the page on sharing, N = 1,000, by the adaptive estimator.",
    "originals": "Fifteen tables of 1,000 rows at ρ = 0.8, five of each problem, on which the original R packages ran "
    "once; our versions see the same tables.",
}
REAL_SETUPS = {
    "real-importances": "The factors that the calibrated rule selects, and what is lost without each. Fits to random "
    "halves of the rows differ from the fit to all of them by about as much as that differs from the truth.",
    "classic-tables": "p-values adjusted by Holm's procedure: of one linear model of all factors (OLS, or logistic "
    "regression of two classes) and of splines of all factors; and those at which factors enter by the calibrated "
    "rule. Shown are factors that any of the three selects, in bold where it does. Why answers differ is written by "
    "hand.",
    "cleaned-tables": f"{N_DIVISIONS} divisions into {N_FOLDS} folds. Factors are selected on four folds, by the "
    "calibrated rule, to explain or to predict, or by the lasso's least cross-validated error; gradient boosting "
    "(scikit-learn, 100 trees) and a linear or logistic model predict the fifth, with these factors and with all. R², "
    "or AUC of two classes. Best: of both models, the one with the better mean, for each set of factors. Of larger "
    f"tables {MAX_ROWS:,} rows. `study/data/ordinary_tables.py` lists what is left out of each table.",
}
"""Of experiments that store no rows."""
NUMBER_RULES = {
    "dimension": NUMBER_RULE,
    "fast": NUMBER_RULE,
    "regression-tables": QUANTILE_RULE,
    "class-tables": QUANTILE_RULE,
}


@dataclass(frozen=True)
class Section:
    """All there is to show of an experiment."""

    experiment: Experiment
    tables: list[Table]
    numbers: list[Compared]
    statements: list[Judged]

    @property
    def setup(self) -> str:
        """What was set up, in a sentence or two."""
        name = self.experiment.name
        return REAL_SETUPS[name] if name in REAL_SETUPS else SETUPS[name]

    def count(self, verdict: Verdict) -> tuple[int, int]:
        """Return how many numbers, and how many statements, came to a verdict."""
        numbers, statements = (Counter(one.verdict for one in ones) for ones in (self.numbers, self.statements))
        return numbers[verdict], statements[verdict]


Build = Callable[[Results], tuple[list[Table], list[Compared]]]


def _without_numbers(tabulate: Callable[[Results], list[Table]]) -> Build:
    return lambda results: (tabulate(results), [])


BUILD: dict[str, Build] = {
    "estimators": _without_numbers(tabulate_estimators),
    "importance": _without_numbers(tabulate_importance),
    "ranking": _without_numbers(tabulate_ranking),
    "selection": _without_numbers(tabulate_selection),
    "hundred": _without_numbers(tabulate_hundred),
    "dimension": compare_dimension,
    "fast": compare_fast,
    "abalone": compare_abalone,
    "regression-tables": lambda results: compare_tables(results, REGRESSION_TABLES, classes=False),
    "classes": _without_numbers(tabulate_classes),
    "class-tables": lambda results: compare_tables(results, CLASS_TABLES, classes=True),
    "originals": _without_numbers(tabulate_originals),
    "noise": _without_numbers(tabulate_noise),
    "calibrated": _without_numbers(tabulate_calibrated),
    "coverage": _without_numbers(tabulate_coverage),
    "null-p-values": _without_numbers(tabulate_p_values),
    "after-selection": _without_numbers(tabulate_after_selection),
    "too-few-rows": _without_numbers(tabulate_too_few_rows),
    "everyday-noise": _without_numbers(tabulate_everyday_noise),
    "panel-ceiling": _without_numbers(tabulate_panel_ceiling),
    "missing-values": _without_numbers(tabulate_missing_values),
    "hard-noise": _without_numbers(tabulate_hard_noise),
    "false-factors": _without_numbers(tabulate_false_factors),
    "next-step": _without_numbers(tabulate_next_step),
    "small-effects": _without_numbers(found_in("small-effects", SMALL_EFFECTS)),
    "other-functions": _without_numbers(found_in("other-functions", OTHER_FUNCTIONS)),
    "interactions": _without_numbers(found_in("interactions", INTERACTIONS)),
    "rare": _without_numbers(found_in("rare", (CLASSES, RARE_CLASS, AMOUNTS))),
    "intervals": _without_numbers(tabulate_intervals),
    "time-order": _without_numbers(tabulate_time_order),
    "ten-tables": _without_numbers(tabulate_ten_tables),
    "sharing": _without_numbers(tabulate_sharing),
    "cumulative": _without_numbers(tabulate_cumulative),
    "lines": _without_numbers(by_size("lines", LINES)),
    "curves": _without_numbers(by_size("curves", CURVES)),
    "look-alikes": _without_numbers(by_setting("look-alikes", LOOK_ALIKES)),
    "responses": _without_numbers(by_setting("responses", RESPONSES, response_label)),
    "together": _without_numbers(by_setting("together", TOGETHER)),
    "many-columns": _without_numbers(tabulate_many_columns),
    "additive": _without_numbers(tabulate_additive),
    "harder-importances": _without_numbers(tabulate_harder),
    "alone-and-joint": _without_numbers(tabulate_alone_and_joint),
}


def make_section(name: str, results: Results) -> Section:
    """Return the section of an experiment from what is stored."""
    tables, numbers = BUILD[name](results)
    return Section(BY_NAME[name], tables, numbers, claims.judge_all(name, results))
