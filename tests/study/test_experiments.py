"""Which data and methods the experiments have."""

from study.runs.experiments import BY_NAME


def test_experiments_that_show_the_same_runs_share_them():
    ranking, selection = (set(BY_NAME[name].tasks(methods=["FIRST"])) for name in ("ranking", "selection"))
    assert ranking == selection
