"""Compiled kernels are kept in a private folder of their version, or not at all.

Most tests use a kernel of a few lines, which compiles in no time, in a file of its own; the others the one kernel that
``explained_variance`` needs for one factor.
"""

import ast
import importlib
import os
import pkgutil
import shutil
import subprocess
import sys
import sysconfig
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher

import firstfactor

PACKAGE = Path(firstfactor.__file__).parent
KERNELS = PACKAGE / "neighbors" / "kernels"
COMMAND = str(Path(sysconfig.get_path("scripts")) / "firstfactor")
ADVICE = "set NUMBA_CACHE_DIR to a writable folder"

KERNEL = """
from firstfactor.neighbors.kernels.compiling import jit

@jit
def scale(x):
    return FACTOR * x

FACTOR = 2
"""

# What it gives for an integer, and how often it was found and compiled.
USE = """
from kernels import scale
print(scale(21), sum(scale.stats.cache_hits.values()), sum(scale.stats.cache_misses.values()))
"""
COMPILED, FOUND = "42 0 1\n", "42 1 0\n"

FIT = """
import numpy as np
from firstfactor import explained_variance
x = np.linspace(0, 1, 40)
print(round(explained_variance(x[:, None], x, [0]), 3))
"""


# Takes from root what lets it write everywhere, and becomes another command. What remains is the owner of its files,
# like any user. Another user would not do: Python itself may be where only root can read.
LOCKED = """
import ctypes, os, resource, sys
disk, *command = sys.argv[1:]
if os.geteuid() == 0:
    PR_CAPBSET_DROP = 24
    for capability in range(64):
        ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
if disk == "full":
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
os.execv(command[0], command)
"""


def run(command, cwd, **environment):
    """Return what a command printed, and what it wrote to standard error."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "XDG_", "MPL"))}
    finished = subprocess.run(command, cwd=cwd, env=clean | environment, capture_output=True, text=True, timeout=300)
    assert finished.returncode == 0, finished.stderr
    return finished.stdout, finished.stderr


def python(code):
    return [sys.executable, "-W", "error", "-c", textwrap.dedent(code)]


def run_locked(command, machine, disk="empty", **environment):
    places = {"PYTHONPATH": "site", "HOME": "home", "TMPDIR": "tmp"}
    usual = {name: str(machine / place) for name, place in places.items()}
    return run([*python(LOCKED), disk, *command], machine / "work", **usual | environment)


def use_locked(machine, **options):
    return run_locked(python(USE), machine, **options)


def install(folder, change=lambda text: text):
    """Put the package in a folder as an installer does: what others have left there stays."""
    shutil.copytree(PACKAGE, folder / "firstfactor", dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    constants = folder / "firstfactor" / "neighbors" / "kernels" / "neighbor_list.py"
    constants.write_text(change(constants.read_text()))


def lock(folder):
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)


@pytest.fixture
def machine(tmp_path):
    """A machine on which nothing but the temporary folder and the current one can be written to."""
    if sys.platform != "linux" and os.geteuid() == 0:
        pytest.skip("root can write everywhere, and only Linux can take that from it")
    for name in ("site", "home", "tmp", "work"):
        (tmp_path / name).mkdir()
    (tmp_path / "site" / "kernels.py").write_text(KERNEL)
    install(tmp_path / "site")
    lock(tmp_path / "site")
    (tmp_path / "home").chmod(0o555)
    return tmp_path


@pytest.fixture
def folder(tmp_path):
    """A folder with a kernel, to run Python in."""
    (tmp_path / "kernels.py").write_text(KERNEL)
    return tmp_path


def settings(folder):
    """The variables for code that finds the package, modules and the home in a folder."""
    paths = os.pathsep.join([str(folder), str(PACKAGE.parent)])
    return {"PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1", "HOME": str(folder / "home")}


def run_in(folder, code=USE, **environment):
    """Return what is printed by code that needs to write no log."""
    out, log = run(python(code), folder, **settings(folder) | environment)
    assert log == ""
    return out


def kept(folder):
    """The files of the small kernel."""
    return sorted(folder.rglob("kernels.scale-*.nbc"))


def version_folder(folder):
    """The one folder of compiled code below a folder."""
    (found,) = folder.rglob("firstfactor-*")
    return found


def permissions(path):
    return path.stat().st_mode & 0o777


# --- up to date ---------------------------------------------------------------------------------------------------


def test_an_upgrade_and_a_downgrade_run_their_own_code(tmp_path):
    """What changes is no kernel: numba does not look at that file."""

    def everything_ties(text):
        assert "TIES = (1 + 1e-9) ** 2" in text
        return text.replace("TIES = (1 + 1e-9) ** 2", "TIES = 1e9")

    def fit():
        return float(run_in(tmp_path, FIT))

    def compiled():
        return set((tmp_path / "home").rglob("*.nbc"))

    install(tmp_path)
    before, old = fit(), compiled()
    install(tmp_path, everything_ties)
    assert fit() < before / 2
    new = compiled()
    assert len(new) == 2 * len(old) and old < new
    install(tmp_path)
    assert fit() == before and compiled() == new


def test_every_compiled_function_is_in_the_folder_of_kernels():
    """Compiled code belongs to the contents of that folder: a function elsewhere could change unseen."""
    modules = [importlib.import_module(name) for _, name, _ in pkgutil.walk_packages([str(PACKAGE)], "firstfactor.")]
    compiled = {
        Path(value.py_func.__code__.co_filename)
        for module in modules
        for value in vars(module).values()
        if isinstance(value, Dispatcher)
    }
    assert len(compiled) >= 7
    assert {file.parent for file in compiled} == {KERNELS}


# Threads are started by Python and no part of compiled code.
NOT_COMPILED = {("kd_tree.py", "_utils.threads")}


def test_kernels_import_nothing_of_the_package_but_other_kernels():
    imported = {(file.name, module) for file in KERNELS.glob("*.py") for module in imports_from_package(file)}
    outside = {(file, module) for file, module in imported if not module.startswith("neighbors.kernels.")}
    assert outside == NOT_COMPILED
    assert {module.rpartition(".")[2] for _, module in imported - outside} <= {
        file.stem for file in KERNELS.glob("*.py")
    }


def imports_from_package(file):
    """Names, within the package, of the modules that a file of kernels imports."""
    package = ["firstfactor", "neighbors", "kernels"]
    for node in ast.walk(ast.parse(file.read_text())):
        names = []
        if isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else []
            module = ".".join([*above, *filter(None, [node.module])])
            # `from . import name` imports the module `name`
            names = [module] if node.module else [f"{module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        yield from (name.removeprefix("firstfactor.") for name in names if name.split(".")[0] == "firstfactor")


def test_a_kernel_is_compiled_once_and_again_after_a_change_of_its_file(folder):
    assert [run_in(folder), run_in(folder)] == [COMPILED, FOUND]
    (folder / "kernels.py").write_text(KERNEL.replace("FACTOR = 2", "FACTOR = 3"))
    assert run_in(folder) == "63 0 1\n"


def test_code_that_is_compiled_otherwise_has_a_folder_of_its_own(folder):
    settings = [{"NUMBA_BOUNDSCHECK": "1"}, {"NUMBA_OPT": "0"}, {"NUMBA_CPU_NAME": "generic"}]
    assert [run_in(folder, **each) for each in ({}, *settings)] == 4 * [COMPILED]
    assert run_in(folder) == FOUND and len(kept(folder)) == 4


def test_numba_keeps_functions_of_others_where_it_would(folder):
    (folder / "others.py").write_text("import numba\n@numba.njit(cache=True)\ndef same(x):\n    return x")
    code = USE + "import others; print(others.same(1), others.same.stats.cache_path)"
    assert run_in(folder, code) == f"{COMPILED}1 {folder / '__pycache__'}\n"


def test_where_nothing_is_compiled_there_is_no_folder(folder):
    assert run_in(folder, "from kernels import scale; print(scale(21))", NUMBA_DISABLE_JIT="1") == "42\n"
    assert not (folder / "home").exists()


def test_processes_may_compile_the_same_kernel_at_once(folder):
    """They wait for each other, so that all make the folder, compile and save."""
    code = f"""
        import sys, pathlib, time
        pathlib.Path("ready-" + sys.argv[1]).touch()
        while len(list(pathlib.Path().glob("ready-*"))) < 3:
            time.sleep(0.001)
        {USE.strip().replace(chr(10), "; ")}
    """
    environment = os.environ | settings(folder)
    processes = [
        subprocess.Popen([*python(code), str(i)], cwd=folder, env=environment, stdout=subprocess.PIPE, text=True)
        for i in range(3)
    ]
    printed = [process.communicate(timeout=100)[0] for process in processes]
    assert COMPILED in printed and set(printed) <= {COMPILED, FOUND}
    assert run_in(folder) == FOUND and not list(folder.rglob("*.tmp*"))


def test_versions_that_nobody_has_used_for_a_month_are_removed(folder):
    """When another version begins, and nothing else that is there."""
    days = {"firstfactor-" + 16 * "a": 20, "firstfactor-" + 16 * "b": 40, "firstfactor-results": 40}
    for name, unused in days.items():
        (folder / "chosen" / name).mkdir(parents=True)
        (folder / "chosen" / name / "file").touch()
        used = time.time() - 24 * 3600 * unused
        os.utime(folder / "chosen" / name, (used, used))
    assert run_in(folder, NUMBA_CACHE_DIR="chosen") == COMPILED
    assert [(folder / "chosen" / name).exists() for name in days] == [True, False, True]


def test_a_version_that_is_used_counts_as_used(folder):
    assert run_in(folder) == COMPILED
    os.utime(version_folder(folder), (0, 0))
    assert run_in(folder) == FOUND
    assert version_folder(folder).stat().st_mtime > time.time() - 3600


# --- locked down --------------------------------------------------------------------------------------------------


def compiles_each_time(machine, **options):
    """Whether a kernel is compiled, and one line says so."""
    out, log = use_locked(machine, **options)
    return out == COMPILED and log.count("\n") == 1 and "in every process" in log and ADVICE in log


def test_without_a_writable_home_kernels_are_compiled_each_time_and_one_line_says_so(machine):
    """Also if the package is writable: what numba keeps next to it goes stale."""
    assert compiles_each_time(machine)
    (machine / "site").chmod(0o755)
    assert compiles_each_time(machine) and not list(machine.rglob("*.nb?"))


@pytest.mark.slow
def test_the_folder_of_the_user_is_private_whatever_the_mask(machine):
    (machine / "home").chmod(0o755)
    assert run_locked(python("import os; os.umask(0)" + USE), machine) == (COMPILED, "")
    private = version_folder(machine)
    assert [permissions(path) for path in (private, *private.parents[:2])] == [0o700] * 3
    assert use_locked(machine) == (FOUND, "")


@pytest.mark.slow
def test_compiled_code_that_others_could_have_written_is_not_run(machine):
    (machine / "home").chmod(0o755)
    use_locked(machine)
    private = version_folder(machine)
    for mode in (0o777, 0o720, 0o702):
        private.chmod(mode)
        assert compiles_each_time(machine)
    private.chmod(0o755)
    assert use_locked(machine) == (FOUND, "") and permissions(private) == 0o700
    private.rename(machine / "elsewhere")
    private.symlink_to(machine / "elsewhere")
    assert compiles_each_time(machine)


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give folders away")
def test_compiled_code_in_a_folder_of_another_user_is_not_run(folder):
    """Not even by root, who could take the folder."""
    assert run_in(folder) == COMPILED
    os.chown(version_folder(folder), 12345, -1)
    out, log = run(python(USE), folder, **settings(folder))
    assert out == COMPILED and ADVICE in log


@pytest.mark.slow
def test_a_folder_in_which_numba_cannot_write_is_not_replaced_by_another(machine):
    (machine / "home").chmod(0o755)
    (machine / "site").chmod(0o755)
    use_locked(machine)
    (inner,) = version_folder(machine).iterdir()
    inner.chmod(0o555)
    assert use_locked(machine) == (COMPILED, "")
    assert not list((machine / "site").rglob("*.nb?"))


@pytest.mark.slow
def test_a_folder_that_the_user_chose_is_used_or_named(machine):
    chosen = machine / "work" / "cache"
    assert use_locked(machine, NUMBA_CACHE_DIR=str(chosen)) == (COMPILED, "")
    assert kept(chosen) and use_locked(machine, NUMBA_CACHE_DIR="cache") == (FOUND, "")
    (machine / "home").chmod(0o755)
    out, log = use_locked(machine, NUMBA_CACHE_DIR=str(machine / "site" / "cache"))
    assert out == COMPILED and log.count("\n") == 1 and str(machine / "site" / "cache") in log
    assert not list((machine / "home").iterdir())


@pytest.mark.slow
def test_a_user_without_a_home_gets_no_folder_named_after_it(machine):
    forget = "import os, pwd\nos.environ.pop('HOME')\npwd.getpwuid = {}.__getitem__\n"
    out, log = run_locked(python(forget + USE), machine)
    assert out == COMPILED and log.count("\n") == 1
    assert not list((machine / "work").iterdir())


@pytest.mark.slow
def test_a_full_disk_does_not_end_a_run(machine):
    (machine / "home").chmod(0o755)
    assert compiles_each_time(machine, disk="full")
    assert not list(machine.rglob("*.nb?"))


@pytest.mark.slow
def test_the_job_runs_on_a_locked_machine_and_says_once_how_to_start_faster(machine):
    """All that can be written, from a file; nothing is said of the folder of matplotlib."""
    rng = np.random.default_rng(0)
    x = rng.uniform(size=(100, 3))
    table = np.column_stack([x, x[:, 0] + x[:, 1] ** 2])
    np.savetxt(machine / "work" / "data.csv", table, delimiter=",", header="a,b,c,y", comments="")
    outputs = {"--html": "report.html", "--json": "result.json", "--csv": "factors.csv", "--plot": "importance.svg"}
    written = [part for output in outputs.items() for part in output]
    out, log = run_locked([COMMAND, "rank", "data.csv", "--target", "y", *written], machine)
    assert "Wrote importance.svg" in out and log.count("\n") == 1 and ADVICE in log
    assert all((machine / "work" / name).stat().st_size > 100 for name in outputs.values())
