"""Functions compiled without reference counting (`part`, `inlined`) make, keep and return no arrays.

They borrow the arrays of the kernel that calls them. An array that one of them returned could be freed while it is
used; one that it made would never be freed.
"""

import ast
import json
from pathlib import Path

from scripts import run_script

import firstfactor

KERNELS = Path(firstfactor.__file__).parent / "neighbors" / "kernels"

# What such functions may use of numpy: constants, conversions of numbers, and functions of one number.
HARMLESS = {"inf", "int64", "intp", "float32", "sqrt"}

# Compiles every kernel, anew in an empty cache, and prints the types that each function without counting returns.
COMPILE_ALL = """
import importlib, json, pkgutil, warnings
import numpy as np
from numba.core.dispatcher import Dispatcher
from firstfactor import FIRST, explained_variance, shapley_effects, total_indices
from firstfactor.neighbors import kernels, search
from firstfactor.neighbors.kernels.numba_internals import WITHOUT_REFERENCE_COUNTING

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = np.column_stack([rng.normal(size=(60, 3)), rng.integers(0, 3, size=(60, 2))])
y = X[:, 0] + X[:, 3] + 0.1 * rng.normal(size=60)
explained_variance(X, y, [0, 1])
FIRST(rule="calibrated").fit(X, y)
search.cost_alone = lambda points, *_: np.full_like(points, np.inf)  # always share a search
for few in (3000, 0):  # in a tree, and along a sorted column
    search.FEW_ROWS = few
    FIRST().fit(X, y)
    FIRST().fit(X, y, groups=np.arange(60) // 2)
total_indices(X, y)
shapley_effects(X, y)
total_indices(X, y, groups=np.arange(60) // 2, estimator="extrapolated")

def parts(kind):
    inner = getattr(kind, "types", [kind])
    return [str(kind)] if inner == [kind] else [name for one in inner for name in parts(one)]

found = {}
for _, name, _ in pkgutil.iter_modules(kernels.__path__, kernels.__name__ + "."):
    for value in vars(importlib.import_module(name)).values():
        if isinstance(value, Dispatcher) and WITHOUT_REFERENCE_COUNTING.items() <= value.targetoptions.items():
            returned = [parts(compiled.signature.return_type) for compiled in value.overloads.values()]
            found[f"{value.py_func.__module__.rpartition('.')[2]}.{value.__name__}"] = returned
print(json.dumps(found))
"""


# As above, but prints which kernels return a named tuple.
NAMED_TUPLES = (
    COMPILE_ALL.partition("found = {}")[0]
    + """
from numba.core.types import BaseNamedTuple
for _, name, _ in pkgutil.iter_modules(kernels.__path__, kernels.__name__ + "."):
    for value in vars(importlib.import_module(name)).values():
        if isinstance(value, Dispatcher) and WITHOUT_REFERENCE_COUNTING.items() <= value.targetoptions.items():
            continue
        for compiled in getattr(value, "overloads", {}).values():
            if isinstance(compiled.signature.return_type, BaseNamedTuple):
                print(value.__name__)
"""
)


def test_kernels_that_python_calls_return_no_named_tuples():
    """To return one, numba unpickles its class each time: Ctrl-C at that moment would crash, or be lost."""
    assert set(run_script(NAMED_TUPLES).split()) <= {"allocate_leaf_candidates"}  # which only kernels call


def uncounted_functions():
    """The syntax trees of functions decorated as `part` or `inlined`, by file and name."""
    return {
        f"{file.stem}.{node.name}": node
        for file in KERNELS.glob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.FunctionDef)
        and any(isinstance(mark, ast.Name) and mark.id in {"part", "inlined"} for mark in node.decorator_list)
    }


def test_they_return_numbers_and_vectors_only(tmp_path):
    returned = json.loads(run_script(COMPILE_ALL, NUMBA_CACHE_DIR=str(tmp_path), NUMBA_OPT="0"))
    assert set(returned) == set(uncounted_functions())
    assert [name for name, kinds in returned.items() if not kinds] == []  # all were compiled
    kinds = {kind for signatures in returned.values() for signature in signatures for kind in signature}
    assert kinds <= {
        "none",
        "bool",
        "int64",
        "float64",
        "Vector(8, float64)",
        "Vector(16, float64)",
        "Vector(16, float32)",
    }


def test_they_make_no_arrays():
    """Numba would refuse most of that; views, which it would not, could outlive the call."""
    for name, function in uncounted_functions().items():
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
    for name, function in uncounted_functions().items():
        for node in ast.walk(function):
            if isinstance(node, ast.Attribute):
                assert not isinstance(node.ctx, ast.Store), f"{name} assigns to {node.attr}"
