"""Settings for all tests, and which of them need Unix."""

import os
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import Phase, settings

# The first call of a kernel compiles it, so there are no deadlines.
settings.register_profile("firstfactor", deadline=None, max_examples=40)
settings.register_profile("long", deadline=None, max_examples=2000, print_blob=True)  # by hand
# The same examples each time, and no smaller one looked for when one fails: for tools that change the source.
settings.register_profile(
    "mutate", deadline=None, derandomize=True, phases=(Phase.explicit, Phase.generate), database=None
)
settings.load_profile("firstfactor")

# Coverage is that of the processes of pytest. Those which tests start end in all kinds of ways, and some look at what
# measures them: only `scripts.run_script` has some measured.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ["UNCOMPILED_COVERAGE"] = os.environ.pop("COVERAGE_PROCESS_START", "")

FOLDER = Path(__file__).parent
# Terminals, limits of a process, owners of files, and processes that are killed.
NEEDS_UNIX = [
    FOLDER / "_utils" / "test_atomic_write.py",
    FOLDER / "app" / "test_attacks.py",
    FOLDER / "app" / "test_server.py",
    FOLDER / "cli" / "test_main.py",
    FOLDER / "cli" / "test_warm_up.py",
    FOLDER / "cluster" / "test_cluster.py",
    FOLDER / "tables" / "test_any_file.py",
    FOLDER / "tables" / "test_hostile_files.py",
    FOLDER / "neighbors" / "kernels" / "test_kernel_cache.py",
    FOLDER / "selection" / "test_checkpoint.py",
    FOLDER / "test_fuzz.py",
]
IS_UNIX = find_spec("fcntl") is not None


class Skipped(pytest.File):
    """A file that cannot even be imported."""

    def collect(self):
        pytest.skip("needs Unix")


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path, parent):
    collectors = yield
    if IS_UNIX or not any(file_path.is_relative_to(path) for path in NEEDS_UNIX):
        return collectors
    return [Skipped.from_parent(parent, path=file_path)] if file_path.suffix == ".py" else []
