"""What the study shows of its rows: metrics, verdicts, tables, figures and the page."""

import dataclasses
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import kendalltau
from typer.testing import CliRunner

from study.__main__ import app
from study.data import originals
from study.data.arrays import Floats
from study.data.setting import Setting
from study.methods.outcome import Certainty
from study.pages.certainty_page import make_certainty_page
from study.pages.figures.draw import FIGURES, draw_figure
from study.pages.layout import NOTHING, WIDTH, Table
from study.pages.sections import SETUPS, make_section
from study.pages.study_page import PAGE, make_page, write_page
from study.pages.tables.originals import tabulate_originals
from study.pages.tables.real_tables import compare_tables
from study.pages.terminal import show
from study.paper import claims
from study.paper.printed_numbers import ABALONE, DIMENSION, FAST, ISHIGAMI, REAL_TABLES
from study.paper.verdicts import Printed, Verdict, agrees, beats, quantiles_agree
from study.runs.experiments import ALL, BY_NAME, CERTAINTY, CORRELATIONS, PAPER
from study.runs.store import RESULTS, Row, Store, Task
from study.scores import truths
from study.scores.estimates import Estimate, Quantiles, estimate
from study.scores.metrics import kendall_tau
from study.scores.results import NotRunError, Results, at

LARGEST_FIGURE = 150_000
ONLY_SHOWN = {"after-selection", "too-few-rows"}


def row(task: Task, importances: Floats, error: float | None = None, seconds: float = 0.1, selects: bool = True) -> Row:
    factors = np.flatnonzero(importances).tolist()
    of_all = 1.0 if task.setting.part == "train" and not task.setting.classes else 0.1
    values = importances[factors].tolist()
    return Row(task, factors, values, factors if selects else None, error, of_all, seconds)


def store(folder: Path, rows: list[Row]) -> Results:
    by_method: dict[str, list[Row]] = {}
    for one in rows:
        by_method.setdefault(one.task.method, []).append(one)
    for method, of_method in by_method.items():
        with Store(method, folder).appending() as file:
            for one in of_method:
                file.append(one)
    return Results.load(folder)


def selections(method: str, setting: Setting, n_exact: int, n: int) -> list[Row]:
    """Rows of which some are exact, while the others miss a factor."""
    exact = truths.truth(setting)
    missing = exact.copy()
    missing[setting.true_factors[-1]] = 0
    return [row(Task(setting, method, k), exact if k < n_exact else missing) for k in range(n)]


def made_up(task: Task, rng: np.random.Generator) -> Row:
    """Some result that a method might give, worse if it is not ours."""
    setting, spread = task.setting, 0.02 if task.method.startswith(("FIRST", "NANNE")) else 0.2
    error = None
    if setting.part in ("drawn", "model"):
        exact = np.ones(6) if setting.source == "mixed" else truths.truth(setting)
        importances = np.maximum(exact + spread * rng.normal(size=exact.shape) * (exact > 0), 0.001 * (exact > 0))
        importances[-1] += spread * (rng.uniform() < spread)
    elif setting.part == "whole":
        importances = np.array([printed.value for printed, _ in ABALONE.values()])
    else:
        importances = rng.uniform(size=setting.n_factors) * (rng.uniform(size=setting.n_factors) < 0.5)
    if setting.part == "train":
        error = 0.1 * rng.uniform(0.9, 1.1) if setting.classes else rng.uniform(0.9, 1.1)
    elif setting.part == "subset":
        error = 4 + 1 / task.repetition.bit_count()
    certain = task.method.startswith(("NEAREST", "EXTRAPOLATED"))
    ranks_only = task.method in ("FILTER", "RF", "RF-SHAP") or certain
    one = row(task, importances, error, rng.uniform(1, 2) / spread, not ranks_only)
    sure = some_certainty(setting.n_factors, rng) if certain else None
    return dataclasses.replace(one, ceiling=rng.uniform(0.8, 0.9), certainty=sure)


def some_certainty(n_factors: int, rng: np.random.Generator) -> Certainty:
    return Certainty([0.02] * n_factors, rng.uniform(size=n_factors).tolist(), 0.01, 0.05)


@pytest.fixture(scope="module")
def made_up_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rows of all experiments, ten repetitions each, and all subsets of the Abalone factors."""
    folder, rng = tmp_path_factory.mktemp("rows"), np.random.default_rng(0)
    ten = [task for experiment in ALL for task in experiment.tasks(10)]
    tasks = dict.fromkeys([*ten, *BY_NAME["abalone"].tasks()])
    store(folder, [made_up(task, rng) for task in tasks])
    return folder


@pytest.fixture(scope="module")
def everything(made_up_folder: Path) -> Results:
    return Results.load(made_up_folder)


@pytest.fixture(scope="module")
def nothing(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return Results.load(tmp_path_factory.mktemp("no-rows"))


class TestMetrics:
    def test_tau_is_that_of_scipy_with_ties_on_both_sides(self) -> None:
        rng = np.random.default_rng(1)
        true = np.array([0.5, 0.0, 0.3, 0.0, 0.3, 0.0, 0.1])
        estimates = rng.integers(0, 4, size=(50, 7)).astype(float)
        ref = [kendalltau(true, one).statistic for one in estimates]
        np.testing.assert_allclose(kendall_tau(true, estimates), ref, atol=1e-12)

    def test_a_row_that_ranks_nothing_has_a_tau_of_zero(self) -> None:
        assert kendall_tau(np.array([1.0, 2.0, 0.0]), np.zeros((1, 3))).tolist() == [0.0]

    def test_a_cell_measures_each_row(self, tmp_path: Path) -> None:
        setting = at("ishigami", 0.0)
        x1, x1_to_x3, x1_and_x6 = np.eye(6)[0], truths.truth(setting), np.eye(6)[0] + np.eye(6)[5]
        found = [x1_to_x3, x1, x1_and_x6]
        cell = store(tmp_path, [row(Task(setting, "FIRST", k), one) for k, one in enumerate(found)]).find(
            "FIRST", setting
        )
        assert cell.values("exact").tolist() == [1, 0, 0]
        np.testing.assert_allclose(cell.values("true positives"), [1, 1 / 3, 1 / 3])
        np.testing.assert_allclose(cell.values("false positives"), [0, 0, 1 / 3])
        np.testing.assert_allclose(cell.values("tau"), [kendalltau(x1_to_x3, one).statistic for one in found])
        share = x1_to_x3[0] / x1_to_x3.sum()
        np.testing.assert_allclose(cell.values("distance"), [0, 1 - share, 1 - min(share, 0.5)], atol=1e-6)

    def test_a_row_stored_twice_counts_once(self, tmp_path: Path) -> None:
        setting = at("ishigami", 0.0)
        assert store(tmp_path, selections("FIRST", setting, 2, 2) * 2).find("FIRST", setting).n == 2

    def test_true_indices_in_the_file_are_those_that_are_computed(self) -> None:
        stored = truths.truth(at("heavy-tailed", 0.9))[[0, 1, 2, 5]]
        again = truths.compute("heavy-tailed", 0.9, n_outer=500_000)
        np.testing.assert_allclose(stored, again["indices"], rtol=0.02)
        variance = again["variance"]
        assert truths.true_ceiling(at("heavy-tailed", 0.9)) == pytest.approx(variance / (variance + 1), abs=0.001)

    def test_the_ceiling_of_ishigami_is_near_the_closed_form(self) -> None:
        variance = 7**2 / 8 + 0.1 * np.pi**4 / 5 + 0.1**2 * np.pi**8 / 18 + 1 / 2
        assert truths.true_ceiling(Setting("ishigami", 10, 3)) == pytest.approx(variance / (variance + 1), abs=1e-4)

    def test_true_indices_of_ishigami_are_near_the_closed_form(self) -> None:
        np.testing.assert_allclose(truths.truth(Setting("ishigami", 10, 3)), ISHIGAMI, atol=0.003)


class TestVerdicts:
    @pytest.mark.parametrize(
        ("share", "printed", "expected"),
        [(1.0, "1.00", True), (1.0, "0.99", True), (0.0, "0.01", True), (1.0, "0.90", False), (0.2, "0.85", False)],
    )
    def test_shares_of_a_hundred_runs(self, share: float, printed: str, expected: bool) -> None:
        assert (
            agrees(
                estimate(np.repeat([1.0, 0.0], [round(100 * share), round(100 - 100 * share)]), True), Printed(printed)
            )
            == expected
        )

    @pytest.mark.parametrize(("beyond", "expected"), [(-1e-6, True), (1e-6, False)])
    @pytest.mark.parametrize("sign", [-1, 1])
    def test_a_mean_may_be_two_standard_errors_and_half_a_digit_off(
        self, beyond: float, expected: bool, sign: int
    ) -> None:
        deviation, n = 0.05, 25
        allowed = 2 * deviation * np.sqrt(1 / n + 1 / 100) + 0.005
        assert agrees(Estimate(0.5 + sign * (allowed + beyond), deviation, n), Printed("0.50")) == expected

    def test_a_mean_without_spread_is_not_taken_for_certain(self) -> None:
        assert agrees(estimate(np.ones(100)), Printed("0.99"))
        assert not agrees(estimate(np.ones(100)), Printed("0.90"))

    @pytest.mark.parametrize(("text", "half"), [("0.99", 0.005), ("0.016", 0.0005), ("6", 0.5)])
    def test_half_a_unit_of_the_last_digit(self, text: str, half: float) -> None:
        assert Printed(text).half_unit == pytest.approx(half)

    def test_better_means_by_more_than_two_standard_errors(self) -> None:
        worse = Estimate(0.5, 0.3, 100)
        assert beats(Estimate(0.5 + 0.0849, 0.3, 100), worse)
        assert not beats(Estimate(0.5 + 0.0848, 0.3, 100), worse)

    @pytest.mark.parametrize(
        ("measured", "expected"),
        [
            (Quantiles(4, 4, 4), True),
            (Quantiles(5, 4, 6), True),
            (Quantiles(6, 6, 6), False),
            (Quantiles(5, 5, 6), False),
        ],
    )
    def test_medians_must_lie_between_the_others_quantiles(self, measured: Quantiles, expected: bool) -> None:
        assert quantiles_agree(measured, Quantiles(4, 4, 5), 0.49) == expected

    def test_fewer_than_ten_rows_are_not_judged(self, tmp_path: Path) -> None:
        setting = at("ishigami", 0.0)
        results = store(tmp_path, selections("FIRST", setting, 9, 9))
        with pytest.raises(NotRunError):
            results.mean("FIRST", setting, "exact")


class TestPaper:
    def test_both_tables_have_the_same_numbers_of_first(self) -> None:
        for (method, p, rho), cell in FAST.items():
            if method == "FIRST":
                tau, _, seconds = DIMENSION["friedman", p, rho]
                assert (cell[0], cell[-1]) == (tau, seconds)

    def test_the_tables_are_complete(self) -> None:
        assert len(DIMENSION) == len(FAST) == 30 and len(REAL_TABLES) == 9 and len(ABALONE) == 8

    def test_the_closed_form_of_ishigami(self) -> None:
        np.testing.assert_allclose(ISHIGAMI, (0.558, 0.442, 0.244), atol=5e-4)


class TestClaims:
    def judged(self, results: Results, says: str) -> claims.Judged:
        (claim,) = [one for one in claims.ALL if says in one.says]
        return claims.judge(claim, results)

    @pytest.mark.parametrize(("n_exact", "verdict"), [(30, Verdict.DIFFERS), (90, Verdict.AGREES)])
    def test_heavy_tailed_at_least_85_percent(self, tmp_path: Path, n_exact: int, verdict: Verdict) -> None:
        settings = [at("heavy-tailed", tenth / 10) for tenth in range(10)]
        results = store(tmp_path, [one for setting in settings for one in selections("FIRST", setting, n_exact, 100)])
        judged = self.judged(results, "at least 85 %")
        assert judged.verdict == verdict
        assert f"{n_exact / 100:.2f}" in judged.measured

    @pytest.mark.parametrize(("n_exact", "verdict"), [(55, Verdict.AGREES), (95, Verdict.DIFFERS)])
    def test_friedman_in_about_half_of_the_runs(self, tmp_path: Path, n_exact: int, verdict: Verdict) -> None:
        results = store(tmp_path, selections("FIRST", at("friedman", 0.9), n_exact, 100))
        assert self.judged(results, "about half of the runs").verdict == verdict

    def test_without_rows_nothing_is_judged(self, nothing: Results) -> None:
        assert {claims.judge(claim, nothing).verdict for claim in claims.ALL} == {Verdict.NOT_RUN}

    def test_with_all_rows_everything_is_judged(self, everything: Results) -> None:
        assert Verdict.NOT_RUN not in {claims.judge(claim, everything).verdict for claim in claims.ALL}

    def test_every_claim_is_about_an_experiment(self) -> None:
        assert {claim.experiment for claim in claims.ALL} <= set(BY_NAME)

    def test_every_experiment_has_a_claim_but_those_that_only_show(self) -> None:
        assert {claim.experiment for claim in claims.ALL} == set(BY_NAME) - {"originals", *ONLY_SHOWN}


class TestTables:
    table = Table("Title", ("", "a"), [("x", "1.00"), ("long", "2")], "Note.", frozenset([0]))

    def test_text_is_aligned(self) -> None:
        assert self.table.text() == "Title\n         a\nx     1.00\nlong     2\nNote."

    def test_markdown_has_the_same_cells(self) -> None:
        assert self.table.markdown() == (
            "Title\n\n|  | a |\n| --- | ---: |\n| **x** | **1.00** |\n| long | 2 |\n\nNote."
        )

    def test_integers_unscaled_get_a_row_but_no_say(self, tmp_path: Path) -> None:
        setting = Setting("concrete", 1030, 8, part="train")
        four, six = (np.arange(8) < n for n in (4, 6))
        rows = [row(Task(setting, "FIRST", k), four.astype(float), 0.93) for k in range(10)]
        rows += [row(Task(setting, "FIRST-INTEGERS", k), six.astype(float), 0.93) for k in range(10)]
        (table,), numbers = compare_tables(store(tmp_path, rows), {"concrete": (1030, 8)}, classes=False)
        assert [list(cells[:4]) for cells in table.rows] == [
            ["Concrete", "4 (4–4)", "6 (6–7)", "differs"],
            ["unscaled integers", "6 (6–6)", "6 (6–7)", "agrees"],
        ]
        assert [number.verdict for number in numbers] == [Verdict.DIFFERS, Verdict.AGREES]
        assert "unscaled" in numbers[0].reason


class TestLikeness:
    def rows(self, method: str, factor: float) -> list[Row]:
        """What the original says, its importances multiplied."""
        known = {one["table"]: one for one in originals.answers().iter_rows(named=True) if one["method"] == method}
        return [
            row(
                Task(Setting(name, 1000, p, 0.8, part="original"), method, 0),
                factor * np.array(known[name]["importances"]),
            )
            for name, p in originals.TABLES
        ]

    def test_the_original_is_like_itself(self, tmp_path: Path) -> None:
        results = store(tmp_path, [*self.rows("KFOCI", 1.0), *self.rows("FILTER", 1.1)])
        for table in tabulate_originals(results):
            cells = {name: rest for name, *rest in table.rows}
            assert cells["KFOCI"][:3] == ["1.00", "5 of 5", ""]
            assert cells["FILTER"][:3] == ["1.00", "", "1.10–1.10"]
            assert cells["LASSO"] == [NOTHING] * 5

    def test_another_selection_is_not_the_same(self, tmp_path: Path) -> None:
        rows = self.rows("KFOCI", 1.0)
        rows[0] = dataclasses.replace(rows[0], selected=[0])
        (friedman, *_) = tabulate_originals(store(tmp_path, rows))
        assert {name: rest for name, *rest in friedman.rows}["KFOCI"][1] == "4 of 5"


class TestShow:
    def test_a_share_stands_with_its_standard_error_and_runs(self, tmp_path: Path) -> None:
        rows = [one for rho in CORRELATIONS for one in selections("FIRST", at("friedman", rho), 15, 20)]
        text = show(BY_NAME["selection"], store(tmp_path, rows))
        assert re.search(r"^FIRST +0\.75 ± 0\.09 +0\.75 ± 0\.09 +0\.75 ± 0\.09 +20$", text, re.M)
        assert re.search(rf"^LASSO +{NOTHING} +{NOTHING} +{NOTHING} +0$", text, re.M)

    @pytest.mark.parametrize("name", BY_NAME)
    def test_text_fits_a_terminal(self, name: str, everything: Results) -> None:
        text = show(BY_NAME[name], everything)
        assert max(map(len, text.splitlines())) <= WIDTH
        assert "nan" not in text

    @pytest.mark.parametrize("name", BY_NAME)
    def test_nothing_stored_is_shown_as_such(self, name: str, nothing: Results) -> None:
        text = show(BY_NAME[name], nothing)
        words = {verdict for verdict in Verdict if re.search(rf"^{verdict} ", text, re.M)}
        assert NOTHING in text and words <= {Verdict.NOT_RUN}

    def test_every_experiment_says_what_was_set_up(self) -> None:
        assert set(SETUPS) == set(BY_NAME)

    def test_the_command_reads_the_folder_given(self, made_up_folder: Path) -> None:
        done = CliRunner().invoke(app, ["show", "selection", "--results", str(made_up_folder)])
        assert done.exit_code == 0 and "Share of exact selections" in done.output
        figure = made_up_folder / "selection.svg"
        assert "Figure: " in done.output and figure.exists()
        figure.unlink()

    def test_the_command_knows_its_experiments(self) -> None:
        done = CliRunner().invoke(app, ["show", "everything"])
        assert done.exit_code == 2 and "there is no experiment 'everything'" in done.output.replace("\n", " ")


class TestFigures:
    @pytest.mark.parametrize("name", FIGURES)
    def test_a_figure_is_valid_small_and_the_same_each_time(
        self, name: str, everything: Results, tmp_path: Path
    ) -> None:
        first, second = (draw_figure(name, everything, tmp_path / sub) for sub in "ab")
        assert first is not None and second is not None
        assert first.read_bytes() == second.read_bytes()
        assert ET.fromstring(first.read_text()).tag.endswith("svg")
        assert len(first.read_bytes()) < LARGEST_FIGURE

    @pytest.mark.parametrize("name", FIGURES)
    def test_no_figure_without_rows(self, name: str, nothing: Results, tmp_path: Path) -> None:
        assert draw_figure(name, nothing, tmp_path) is None and not list(tmp_path.iterdir())


class TestPage:
    def test_the_page_is_the_same_each_time_and_has_all_its_figures(
        self, made_up_folder: Path, everything: Results, tmp_path: Path
    ) -> None:
        write_page(tmp_path / "study.md", made_up_folder)
        text = (tmp_path / "study.md").read_text()
        sections = [make_section(one.name, everything) for one in PAPER]
        assert text == make_page(sections, set(FIGURES), everything, "study")
        linked = re.findall(r"!\[[^]]+\]\(([^)]+)\)", text)
        assert len(linked) == len(FIGURES) and all((tmp_path / path).exists() for path in linked)
        assert "nan" not in text

    def test_the_summary_counts_all_verdicts(self, everything: Results) -> None:
        sections = [make_section(one.name, everything) for one in PAPER]
        text = make_page(sections, set(), everything, "study")
        (totals,) = re.findall(r"^\| \*\*all\*\* \|(.*)\|$", text, re.M)
        counted = sum(int(number) for number in re.findall(r"\d+", totals))
        assert counted == sum(len(section.numbers) + len(section.statements) for section in sections)

    def test_links_lead_to_headings(self, nothing: Results) -> None:
        of_paper, of_certainty = ([make_section(one.name, nothing) for one in part] for part in (PAPER, CERTAINTY))
        for text in (make_page(of_paper, set(), nothing, "study"), make_certainty_page(of_certainty)):
            self.assert_links_lead_to_headings(text)

    def assert_links_lead_to_headings(self, text: str) -> None:
        headings = re.findall(r"^## (.*)$", text, re.M)
        anchors = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
        assert set(re.findall(r"\]\(#([^)]+)\)", text)) <= anchors

    @pytest.mark.skipif(not PAGE.exists() or not RESULTS.exists(), reason="the page has not been made yet")
    def test_the_page_in_the_repository_is_what_the_stored_rows_give(self) -> None:
        results = Results.load()
        sections = [make_section(experiment.name, results) for experiment in PAPER]
        drawn = {name for name in FIGURES if (PAGE.parent / PAGE.stem / f"{name}.svg").exists()}
        assert PAGE.read_text() == make_page(sections, drawn, results, PAGE.stem)
