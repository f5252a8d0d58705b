"""What is shown of an experiment in a terminal."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from study.__main__ import app
from study.pages.layout import NOTHING, WIDTH
from study.pages.sections import SETUPS
from study.pages.terminal import show
from study.paper.verdicts import Verdict
from study.runs.experiments import BY_NAME, CORRELATIONS
from study.scores.results import Results, at
from tests.study.rows import results_of, selections


class TestShow:
    def test_a_share_stands_with_its_standard_error_and_runs(self) -> None:
        rows = [one for rho in CORRELATIONS for one in selections("FIRST", at("friedman", rho), 15, 20)]
        text = show(BY_NAME["selection"], results_of(rows))
        assert re.search(r"^FIRST +0\.75 ± 0\.09 +0\.75 ± 0\.09 +0\.75 ± 0\.09 +20$", text, re.M)
        assert re.search(rf"^LASSO +{NOTHING} +{NOTHING} +{NOTHING} +0$", text, re.M)

    @pytest.mark.slow
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
        done = CliRunner().invoke(app, ["show", "abalone", "--results", str(made_up_folder)])
        assert done.exit_code == 0 and "Importances by FIRST, and what a forest loses" in done.output
        figure = made_up_folder / "abalone.svg"
        assert "Figure: " in done.output and figure.exists()
        figure.unlink()

    def test_the_command_knows_its_experiments(self) -> None:
        done = CliRunner().invoke(app, ["show", "everything"])
        assert done.exit_code == 2 and "there is no experiment 'everything'" in done.output.replace("\n", " ")
