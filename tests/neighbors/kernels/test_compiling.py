"""``firstfactor warm-up`` compiles everything, and what is compiled keeps to rules that numba does not check.

Kernels and the functions that they call make, keep and return no arrays: they are compiled without reference counting,
and borrow the arrays that Python gives them. An array that one of them returned could be freed while it is used; one
that it made would never be freed.
"""

import ast
import json
import re
from pathlib import Path

import numba
import numpy as np
import pytest
from command import run
from numba import njit
from numba.core.errors import TypingError
from scripts import run_script

import firstfactor
from firstfactor.neighbors.kernels.compiling import WITHOUT_REFERENCE_COUNTING

KERNELS = Path(firstfactor.__file__).parent / "neighbors" / "kernels"

# What such functions may use of numpy: constants, conversions of numbers, and functions of one number.
HARMLESS = {"inf", "int64", "intp", "uintp", "float32", "sqrt"}

# Kernels that are compiled once more, for None in place of an array.
AGAIN = ["ball_variance._fill_variances_between_groups", "forward_tree._add_variances_between_groups"]

# Compiles every kernel with `firstfactor warm-up`. Prints for how many types each was compiled, and the types that each
# function returns; those that numba copies into their callers have none.
COMPILE_ALL = """
import importlib, json, pkgutil
from numba.core.dispatcher import Dispatcher
from firstfactor.cli.warm_up import warm_up
from firstfactor.neighbors import kernels
from firstfactor.neighbors.kernels.compiling import KERNELS, WITHOUT_REFERENCE_COUNTING

warm_up()

def parts(kind):
    inner = getattr(kind, "types", [kind])
    return [str(kind)] if inner == [kind] else [name for one in inner for name in parts(one)]

compiled, returned = {}, {}
for _, name, _ in pkgutil.iter_modules(kernels.__path__, kernels.__name__ + "."):
    for value in vars(importlib.import_module(name)).values():
        if not isinstance(value, Dispatcher):
            continue
        full_name = f"{value.py_func.__module__.rpartition('.')[2]}.{value.__name__}"
        kinds = [overload.signature.return_type for overload in value.overloads.values()]
        assert WITHOUT_REFERENCE_COUNTING.items() <= value.targetoptions.items()
        returned[full_name] = [parts(kind) for kind in kinds]
        if value in KERNELS:
            compiled[full_name] = len(kinds)
print(json.dumps([compiled, returned]))
"""


class Warm:
    """A folder in which everything is compiled, what the command said, and what was compiled."""

    def __init__(self, folder):
        self.folder = folder
        *lines, facts = run_script(COMPILE_ALL, NUMBA_CACHE_DIR=str(folder), COLUMNS="1000").splitlines()
        self.said = "\n".join(lines)
        self.compiled, self.returned = json.loads(facts)

    @property
    def files(self):
        return {path: path.stat().st_mtime_ns for path in self.folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def warm(tmp_path_factory):
    return Warm(tmp_path_factory.mktemp("kernels"))


@pytest.mark.slow
def test_warm_up_compiles_every_kernel_and_says_so(warm):
    """For one signature each: numba could mix up what two processes save at the same time."""
    assert set(warm.compiled) == set(marked("jit")) | set(AGAIN)
    assert set(warm.compiled.values()) == {1}
    (folder,) = warm.folder.iterdir()
    n_compiled = len(warm.compiled)
    assert re.fullmatch(
        rf"Compiled {n_compiled} functions for the processor \S+ in \d+\.\d s\. They are in {re.escape(str(folder))}",
        warm.said,
    )
    assert len([path for path in warm.files if path.suffix == ".nbc"]) == n_compiled


@pytest.mark.slow
def test_after_a_warm_up_there_is_nothing_to_do(warm):
    before = warm.files
    again = run("warm-up", NUMBA_CACHE_DIR=str(warm.folder), COLUMNS="1000")
    (folder,) = warm.folder.iterdir()
    assert (again.returncode, again.stderr) == (0, b"")
    said = again.stdout.decode()
    assert said.startswith("Nothing to do: all functions for the processor ") and said.endswith(f" are in {folder}\n")
    assert warm.files == before


# Calls that are unlike those of the warm-up: other kinds of tables, memory and options.
OTHER_CALLS = """
import tempfile, warnings
import numpy as np
import pandas as pd
import polars as pl
from firstfactor import *
from firstfactor.neighbors.kernels.compiling import KERNELS

warnings.simplefilter("ignore")
rng = np.random.default_rng(1)

def locked(array):
    array = array.copy(order="K")
    array.flags.writeable = False
    return array

X = rng.normal(size=(500, 20))
y, weights, groups = X[:, 0] * X[:, 1] + X[:, 2], rng.uniform(size=500), np.arange(500) // 5
few = rng.integers(0, 3, size=(500, 6))
frame = pd.DataFrame(X[:, :5], columns=list("abcde")).assign(kind=pd.Categorical(few[:, 0]), constant=1)
frame.loc[::7, ["b", "kind"]] = np.nan
classes, outputs = np.where(y > 0, "high", "low"), np.column_stack([y, X[:, 3]])
large = rng.normal(size=(70_000, 9))

for rule in ("paper", "calibrated"):
    FIRST(rule=rule).fit(locked(np.asfortranarray(X)), locked(y), sample_weight=locked(weights))
    FIRST(rule=rule, scale=False, n_neighbors=np.int32(5)).fit(X.astype(np.float32), outputs, groups=locked(groups))
    FIRST(rule=rule, n_jobs=2, n_outer=100).fit(frame, classes, sample_weight=weights)
    FIRST(rule=rule, factor_groups={"ab": ["a", "b"]}, missing="drop").fit(frame, y, groups=groups)
    FIRST(rule=rule).fit(few, few[:, 0] + few[:, 1])
    FIRST(rule=rule, n_outer=50).fit(large, large[:, 0])
    FIRST(rule=rule, n_outer=50).fit(large[:5000, :3], large[:5000, 0])
for estimator in ("nearest", "extrapolated"):
    for rows in (None, groups):
        total_indices(frame, classes, groups=rows, variance_estimator=estimator, uncertainty=True)
        total_indices(X, y, groups=rows, variance_estimator=estimator, sample_weight=weights)
        total_indices(few, outputs, groups=rows, variance_estimator=estimator)
for rows in (None, groups):
    shapley_effects(frame, y, groups=rows, sample_weight=weights)
    interactions(frame, classes, groups=rows)
    closed_indices(few, y, groups=rows)
cumulative_ranking(X, y)
backward_elimination(X, y)
stability(frame, y, n_pairs=2)
with tempfile.TemporaryDirectory() as folder:
    table = pl.DataFrame(X, schema=[f"x{j}" for j in range(20)]).with_columns(y=y)
    table.write_parquet(f"{folder}/table.parquet")
    rank(f"{folder}/table.parquet", "y", memory="2GB")
misses, hits = ([sum(stats.values()) for stats in some] for some in zip(*(
    (kernel.stats.cache_misses, kernel.stats.cache_hits) for kernel in KERNELS
)))
print(max(misses), max(hits), sum(hits) > 10)
"""


@pytest.mark.slow
def test_after_a_warm_up_no_call_compiles_anything(warm):
    before = warm.files
    assert run_script(OTHER_CALLS, NUMBA_CACHE_DIR=str(warm.folder)) == "0 1 True\n"
    assert warm.files == before


def marked(*marks):
    """The syntax trees of functions with one of these decorators, by file and name."""
    return {
        f"{file.stem}.{node.name}": node
        for file in KERNELS.glob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.FunctionDef)
        and any(isinstance(mark, ast.Name) and mark.id in marks for mark in node.decorator_list)
    }


def compiled_functions():
    """All kernels and the functions that they call."""
    return marked("jit", "part", "inlined", "merged")


@pytest.mark.slow
def test_they_return_numbers_only(warm):
    assert set(warm.returned) == set(compiled_functions()) | set(AGAIN)
    assert {name for name, kinds in warm.returned.items() if not kinds} == set(marked("inlined"))
    kinds = {kind for signatures in warm.returned.values() for signature in signatures for kind in signature}
    assert kinds <= {"none", "bool", "int64", "float64"}


def test_they_make_no_arrays():
    """Numba would refuse most of that; views, which it would not, could outlive the call."""
    for name, function in compiled_functions().items():
        for node in ast.walk(function):
            if is_of_numpy(node):
                assert node.attr in HARMLESS, f"{name} uses np.{node.attr}"
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                assert is_of_numpy(node.func), f"{name} calls the method {node.func.attr}"
            assert not isinstance(node, ast.List | ast.Dict | ast.Set), f"{name} makes a container"


def is_of_numpy(node):
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "np"


def test_they_store_numbers_in_arrays_only():
    """Assigning to an attribute could keep an array; kernels have no other place for one."""
    for name, function in compiled_functions().items():
        for node in ast.walk(function):
            if isinstance(node, ast.Attribute):
                assert not isinstance(node.ctx, ast.Store), f"{name} assigns to {node.attr}"


def test_reference_counting_can_be_switched_off():
    """The one private part of numba that the package relies on."""

    def add_up(x):
        total = 0.0
        for i in range(x.size):
            same = x  # a second reference
            total += same[i]
        return total

    for options, counts in (({}, True), (WITHOUT_REFERENCE_COUNTING, False)):
        function = njit(**options)(add_up)
        assert function(np.arange(3.0)) == 3.0
        (code,) = function.inspect_llvm().values()
        assert ("NRT_decref" in code) == counts, (
            f"numba {numba.__version__} has changed the option _nrt: adapt WITHOUT_REFERENCE_COUNTING in compiling.py, "
            "or exclude that version in pyproject.toml"
        )


def test_functions_without_reference_counting_cannot_allocate():
    """Numba refuses it. Else such an array would never be freed."""

    @njit(**WITHOUT_REFERENCE_COUNTING)
    def allocate(n):
        return np.empty(n).size

    with pytest.raises(TypingError):
        allocate(3)


def test_nothing_that_is_private_in_numba_is_imported():
    for file in KERNELS.parents[1].rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            modules = [node.module] if isinstance(node, ast.ImportFrom) and not node.level else []
            modules += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            assert {name for name in modules if name.split(".")[0] == "numba"} <= {"numba", "numba.extending"}, file
