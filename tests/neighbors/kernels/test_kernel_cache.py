"""Compiled kernels are kept where that is possible, and never used when they are out of date or not to be trusted.

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
from pathlib import Path

import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher

import firstfactor
from firstfactor.neighbors.kernels.cache_folders import Folder
from firstfactor.neighbors.kernels.compiling import jit

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


def run_in(folder, code=USE, **environment):
    """Return what is printed by code that finds the package and modules in a folder."""
    paths = os.pathsep.join([str(folder), str(PACKAGE.parent)])
    out, log = run(python(code), folder, PYTHONPATH=paths, PYTHONDONTWRITEBYTECODE="1", **environment)
    assert log == ""
    return out


def kept(folder):
    return sorted(folder.rglob("kernels.scale-*.kernel"))


# --- up to date ---------------------------------------------------------------------------------------------------


def test_an_upgrade_and_a_downgrade_run_their_own_code(tmp_path):
    def everything_ties(text):
        assert "TIES = (1 + 1e-9) ** 2" in text
        return text.replace("TIES = (1 + 1e-9) ** 2", "TIES = 1e9")

    def fit():
        return float(run_in(tmp_path, FIT))

    install(tmp_path)
    before = fit()
    compiled = set(tmp_path.rglob("*.kernel"))
    install(tmp_path, everything_ties)
    assert fit() < before / 2
    assert len(compiled) == len(list(tmp_path.rglob("*.kernel"))) and not compiled & set(tmp_path.rglob("*.kernel"))
    install(tmp_path)
    assert fit() == before


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
    # Fails if numba no longer asks what `jit` puts in the place of its own cache.
    assert [run_in(folder), run_in(folder)] == [COMPILED, FOUND]
    (folder / "kernels.py").write_text(KERNEL.replace("FACTOR = 2", "FACTOR = 3"))
    assert run_in(folder) == "63 0 1\n"
    assert len(kept(folder)) == 1


def test_what_numba_compiles_with_is_not_loaded_for_a_kernel_that_is_kept(folder):
    """It takes longer than to load all kernels."""
    code = USE + "import sys; print('numba.np.linalg' in sys.modules)"
    assert [run_in(folder, code), run_in(folder, code)] == [COMPILED + "True\n", FOUND + "False\n"]


def test_a_function_that_is_compiled_later_can_call_a_kernel_that_is_kept(folder):
    """What is compiled into others is more than machine code."""
    add_one = "import numba\n@numba.njit\ndef add_one(x):\n    return scale(x) + 1\nprint(add_one(21))"
    assert run_in(folder) == COMPILED
    assert run_in(folder, USE + add_one) == FOUND + "43\n"
    assert run_in(folder, "from kernels import scale\n" + add_one) == "43\n"


def test_a_kernel_that_is_kept_raises_what_it_raised_when_it_was_compiled(folder):
    """Also what comes from functions of numba, whose modules are not imported."""
    (folder / "kernels.py").write_text(
        KERNEL + "@jit\ndef count(n):\n    if n == 3:\n        raise KeyError('three')\n"
        "    total = 0\n    for _ in range(0, 8, n):\n        total += 1\n    return total\n"
    )
    code = """
        import sys
        from kernels import count
        for n in (2, 3, 0):
            try:
                print(count(n))
            except Exception as error:
                print(repr(error))
        print(sum(count.stats.cache_hits.values()), 'numba.np.arrayobj' in sys.modules)
    """
    answers = "4\nKeyError('three')\nValueError('range() arg 3 must not be zero')\n"
    assert [run_in(folder, code), run_in(folder, code)] == [answers + "0 True\n", answers + "1 False\n"]


def test_code_compiled_from_a_file_that_was_edited_meanwhile_is_not_kept(folder):
    edit = "import pathlib; pathlib.Path('kernels.py').write_text('FACTOR = 3')"
    assert run_in(folder, f"import kernels\n{edit}\n{USE}") == COMPILED
    assert not kept(folder)


def test_a_kernel_that_depends_on_more_than_files_is_refused():
    factor = 2

    def scale(x):
        return factor * x

    with pytest.raises(TypeError, match="scale must not use variables of a function around it"):
        jit(scale)


def test_bounds_are_checked_where_that_is_asked_for_though_code_without_is_there(folder):
    assert run_in(folder) == COMPILED
    assert run_in(folder, NUMBA_BOUNDSCHECK="1") == COMPILED
    assert run_in(folder) == FOUND


def test_a_damaged_file_is_compiled_again(folder):
    assert run_in(folder) == COMPILED
    (file,) = kept(folder)
    content = file.read_bytes()
    for damaged in (content[:-1], content[:5000] + bytes(100) + content[5100:]):
        file.write_bytes(damaged)
        assert run_in(folder) == COMPILED


def test_processes_that_compile_side_by_side_do_not_mix_up_types(folder):
    """They wait for each other, so that all compile."""
    code = """
        import sys, pathlib, time
        from kernels import scale
        number = int(sys.argv[1])
        pathlib.Path(f"ready-{number}").touch()
        while len(list(pathlib.Path().glob("ready-*"))) < 3:
            time.sleep(0.001)
        for x in [21, 21.0, 21j][number:] + [21, 21.0, 21j][:number]:
            assert scale(x) == 2 * x and type(scale(x)) is type(x)
        print(sum(scale.stats.cache_misses.values()))
    """
    command = python(code)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(folder), str(PACKAGE.parent)])}
    processes = [
        subprocess.Popen([*command, str(i)], cwd=folder, env=environment, stdout=subprocess.PIPE) for i in range(3)
    ]
    misses = [int(process.communicate(timeout=100)[0]) for process in processes]
    assert sum(misses) >= 3 and [process.returncode for process in processes] == [0] * 3
    assert len(kept(folder)) == 3 and not list(folder.rglob("*.tmp*"))
    assert subprocess.run([*command, "0"], cwd=folder, env=environment, capture_output=True).stdout == b"0\n"


# --- locked down --------------------------------------------------------------------------------------------------


def test_without_a_writable_home_and_package_kernels_are_kept_in_a_private_temporary_folder(machine):
    out, log = use_locked(machine)
    assert out == COMPILED and log.count("\n") == 1 and ADVICE in log and str(machine / "tmp") in log
    (private,) = (machine / "tmp").iterdir()
    assert private.stat().st_mode & 0o777 == 0o700
    assert use_locked(machine) == (FOUND, "")


def test_compiled_code_that_others_could_have_written_is_not_run(machine):
    use_locked(machine)
    (private,) = (machine / "tmp").iterdir()
    private.chmod(0o777)
    out, log = use_locked(machine)
    assert out == COMPILED and log.count("\n") == 1 and "in every process" in log
    private.chmod(0o700)
    private.rename(machine / "elsewhere")
    private.symlink_to(machine / "elsewhere")
    assert use_locked(machine)[0] == COMPILED


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give folders away")
def test_compiled_code_in_a_folder_of_another_user_is_not_run(machine):
    use_locked(machine)
    (private,) = (machine / "tmp").iterdir()
    private.chmod(0o755)
    os.chown(private, 12345, -1)
    assert use_locked(machine)[0] == COMPILED


# --- no wider than the source -----------------------------------------------------------------------------------


def permissions(path):
    return path.stat().st_mode & 0o777


@pytest.mark.parametrize(("of_source", "of_kernel"), [(0o666, 0o644), (0o644, 0o644), (0o640, 0o640), (0o600, 0o600)])
def test_a_kernel_is_no_wider_than_its_source_whatever_the_mask(folder, of_source, of_kernel):
    (folder / "kernels.py").chmod(of_source)
    places = {"": {}, "chosen": {"NUMBA_CACHE_DIR": str(folder / "chosen" / "below")}}
    for place, environment in places.items():
        assert run_in(folder, "import os; os.umask(0)" + USE, **environment) == COMPILED
        (file,) = kept(folder / (place or "__pycache__"))
        assert permissions(file) == of_kernel
        while file != folder:
            file = file.parent
            assert permissions(file) & 0o022 == 0
        assert run_in(folder, **environment) == FOUND


def test_a_kernel_is_as_narrow_as_the_mask(folder):
    assert run_in(folder, "import os; os.umask(0o077)" + USE) == COMPILED
    (file,) = kept(folder)
    assert permissions(file) == 0o600 and permissions(file.parent) == 0o700


@pytest.mark.parametrize("mode", [0o666, 0o664, 0o646])
def test_a_kernel_that_others_could_write_is_not_run(folder, mode):
    assert run_in(folder) == COMPILED
    (file,) = kept(folder)
    file.chmod(mode)
    assert run_in(folder) == COMPILED
    assert permissions(file) == 0o644 and run_in(folder) == FOUND


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_kernel_of_another_user_is_not_run(folder):
    assert run_in(folder) == COMPILED
    (file,) = kept(folder)
    os.chown(file, 12345, -1)
    assert run_in(folder) == COMPILED
    os.chown(file, 12345, -1)
    os.chown(folder / "kernels.py", 12345, -1)  # who could change the source anyway
    assert run_in(folder) == FOUND


def test_what_is_no_file_is_neither_waited_for_nor_run(folder):
    assert run_in(folder) == COMPILED
    (file,) = kept(folder)
    file.rename(folder / "elsewhere")
    file.symlink_to(folder / "elsewhere")
    assert run_in(folder) == COMPILED
    file.unlink()
    os.mkfifo(file)
    assert run_in(folder) == COMPILED
    assert run_in(folder) == FOUND


def test_a_folder_that_is_exchanged_after_it_was_looked_at_is_not_read(tmp_path, monkeypatch):
    source, mine, other = tmp_path / "source.py", tmp_path / "mine", tmp_path / "other"
    source.touch()
    folder = Folder(mine / "below", source, mine)
    folder.write("kernel", b"mine")
    (other / "below").mkdir(parents=True)
    (other / "below" / "kernel").write_bytes(b"planted")
    look = os.fstat

    def exchange(number):
        status = look(number)
        if other.exists():
            mine.rename(tmp_path / "before")
            other.rename(mine)
        return status

    monkeypatch.setattr(os, "fstat", exchange)
    assert folder.read("kernel") == b"mine"
    assert (mine / "below" / "kernel").read_bytes() == b"planted"  # it was exchanged


def test_compiled_code_of_the_package_serves_those_who_cannot_write_to_it(machine):
    (machine / "site" / "__pycache__").mkdir(mode=0o755)
    assert use_locked(machine) == (COMPILED, "")
    lock(machine / "site")
    assert use_locked(machine) == (FOUND, "")
    assert not list((machine / "tmp").iterdir())


def test_the_folder_of_the_user_is_used_where_there_is_one(machine):
    (machine / "home").chmod(0o755)
    assert use_locked(machine) == (COMPILED, "")
    assert kept(machine / "home")


def test_a_folder_that_the_user_chose_is_used_or_named(machine):
    assert use_locked(machine, NUMBA_CACHE_DIR=str(machine / "work" / "cache")) == (COMPILED, "")
    assert kept(machine / "work")
    out, log = use_locked(machine, NUMBA_CACHE_DIR=str(machine / "site" / "cache"))
    assert out == COMPILED and log.count("\n") == 1 and str(machine / "site" / "cache") in log


def test_a_user_without_a_home_gets_no_folder_named_after_it(machine):
    forget = "import os, pwd\nos.environ.pop('HOME')\npwd.getpwuid = {}.__getitem__\n"
    out, log = run_locked(python(forget + USE), machine)
    assert out == COMPILED and log.count("\n") == 1
    assert not list((machine / "work").iterdir())


def test_a_full_disk_does_not_end_a_run(machine):
    (machine / "home").chmod(0o755)
    out, log = use_locked(machine, disk="full")
    assert out == COMPILED and log.count("\n") == 1 and "in every process" in log and ADVICE in log
    assert not [path for path in machine.rglob("*.kernel*") if path.is_file()]


def test_the_job_runs_on_a_locked_machine_and_says_once_how_to_start_faster(machine):
    """All of it: a fit, the demo, a file, and everything that can be written; one compilation serves all."""
    rng = np.random.default_rng(0)
    x = rng.uniform(size=(100, 3))
    table = np.column_stack([x, x[:, 0] + x[:, 1] ** 2])
    np.savetxt(machine / "work" / "data.csv", table, delimiter=",", header="a,b,c,y", comments="")

    out, log = run_locked([COMMAND, "demo", "--plot", "demo.png"], machine)
    assert "all found, and no others" in out and "Wrote demo.png" in out
    assert log.count("\n") == 1 and ADVICE in log  # and nothing about the folder of matplotlib
    (missing,) = (machine / "tmp").rglob("single_column._fill_columns-*.kernel")
    missing.unlink()
    outputs = {"--html": "report.html", "--json": "result.json", "--csv": "factors.csv", "--plot": "importance.svg"}
    written = [part for output in outputs.items() for part in output]
    assert run_locked([COMMAND, "rank", "data.csv", "--target", "y", "--quiet", *written], machine) == ("", "")
    assert all((machine / "work" / name).stat().st_size > 100 for name in outputs.values())
    assert missing.exists()
    fit = "import numpy as np\nfrom firstfactor import FIRST\nx = np.random.default_rng(0).uniform(size=(100, 3))\n"
    out, log = run_locked(python(fit + "print(FIRST().fit(x, x[:, 0]).get_support().tolist())"), machine)
    assert out == "[True, False, False]\n" and log.count("\n") <= 1
