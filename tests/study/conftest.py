"""What the tests of the study share; without the packages that only the study needs, they are skipped."""

from importlib.util import find_spec

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

NEEDED = ("matplotlib", "pandas", "polars", "pyarrow", "shap", "skmisc", "statsmodels", "typer")
MISSING = [name for name in NEEDED if find_spec(name) is None]


class Skipped(pytest.File):
    """A file that cannot even be imported."""

    def collect(self):
        pytest.skip(f"the study needs {', '.join(MISSING)}: pip install -e '.[study]'")


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path, parent):
    collectors = yield
    if not MISSING:
        return collectors
    return [Skipped.from_parent(parent, path=file_path)] if file_path.name.startswith("test_") else []


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    """Matrices of the study are small: threads wait for each other longer than they work, as many tests as run."""
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="session")
def made_up_folder(tmp_path_factory):
    """Rows of all experiments, ten repetitions each, and all subsets of the Abalone factors."""
    from study.runs.experiments import ALL, BY_NAME
    from tests.study.rows import made_up, store

    folder, rng = tmp_path_factory.mktemp("rows"), np.random.default_rng(0)
    ten = [task for experiment in ALL for task in experiment.tasks(10)]
    tasks = dict.fromkeys([*ten, *BY_NAME["abalone"].tasks()])
    store(folder, [made_up(task, rng) for task in tasks])
    return folder


@pytest.fixture(scope="session")
def everything(made_up_folder):
    """What comes of these rows."""
    from study.scores.results import Results

    return Results.load(made_up_folder)


@pytest.fixture(scope="session")
def nothing(tmp_path_factory):
    """What comes of no rows."""
    from study.scores.results import Results

    return Results.load(tmp_path_factory.mktemp("no-rows"))


@pytest.fixture(scope="session")
def made_up_page(made_up_folder, tmp_path_factory):
    """The page that is made of these rows, with all its figures beside it."""
    from study.pages.study_page import write_page

    page = tmp_path_factory.mktemp("page") / "study.md"
    write_page(page, made_up_folder)
    return page
