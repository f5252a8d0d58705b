"""The study on the command line."""

import pytest
from typer.testing import CliRunner

from study.__main__ import app
from study.runs.experiments import ALL


def test_what_cannot_be_run_is_refused_with_what_can():
    for arguments, message in (
        (["run", "nothing"], "there is no experiment 'nothing'; there are estimators, importance,"),
        (["run", "estimators", "--methods", "NANNE,SVM"], "there is no method 'SVM'; there are FIRST, FIRST-FAST,"),
    ):
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 2
        assert message in " ".join(result.output.replace("│", " ").split())


def test_a_table_that_is_missing_is_told_in_one_line(tmp_path):
    nowhere = tmp_path / "nowhere"
    arguments = ["run", "regression-tables", "--reps", "1", "--jobs", "1", "--results", str(tmp_path)]
    result = CliRunner(env={"FIRSTFACTOR_DATA": None}).invoke(app, [*arguments, "--data", str(nowhere)])
    assert result.exit_code == 1
    assert result.output.startswith("regression-tables: error: folder must be a directory with the tables of the study")
    assert "Traceback" not in result.output


@pytest.mark.slow
def test_the_list_names_every_experiment(tmp_path):
    result = CliRunner().invoke(app, ["list", "--results", str(tmp_path)])
    assert [line.split()[0] for line in result.output.splitlines()] == [experiment.name for experiment in ALL]
