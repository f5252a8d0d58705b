"""The private parts of numba that kernels rely on still do what ``numba_internals`` expects of them.

A failure here means that a new version of numba has changed something private. Nothing is wrong with the searches:
adapt ``src/firstfactor/neighbors/kernels/numba_internals.py``, and no other file, or exclude that version of numba in
``pyproject.toml`` until that is done.
"""

import ast
from pathlib import Path

import numba
import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError

import firstfactor
from firstfactor.neighbors.kernels import numba_internals as internals

KERNELS = Path(firstfactor.__file__).parent / "neighbors" / "kernels"

# What numba documents for extensions: modules that may be imported from anywhere.
PUBLIC = {"numba", "numba.extending"}


def changed(what, remedy):
    return f"numba {numba.__version__} has changed {what}. In numba_internals.py: {remedy}"


class Recorder(internals.EmptyCache):
    """A cache that is empty, and knows what it was asked for and given."""

    def __init__(self):
        self.asked, self.given = [], []

    def load_overload(self, _, target_context):
        self.asked.append(target_context)

    def save_overload(self, _, data):
        self.given.append(data)


@pytest.fixture
def recorder():
    """The cache of a function that was called once."""
    cache = Recorder()

    @njit
    def scale(x):
        return 2 * x

    internals.set_cache(scale, cache)
    assert scale(21) == 42
    return cache


def test_no_other_file_imports_what_is_private_in_numba():
    for file in KERNELS.parents[1].rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            modules = [node.module] if isinstance(node, ast.ImportFrom) and not node.level else []
            modules += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            private = {name for name in modules if name.split(".")[0] == "numba"} - PUBLIC
            assert not private or file.name == "numba_internals.py", f"{file.name} imports {private}"


def test_a_dispatcher_asks_its_cache_and_hands_over_what_it_compiled(recorder):
    remedy = "`set_cache` must put the cache where dispatchers call its load_overload and save_overload."
    assert len(recorder.asked) == len(recorder.given) == 1, changed("Dispatcher._cache", remedy)


def test_compiled_code_survives_the_way_to_disk_and_back(recorder):
    (context,), (compiled,) = recorder.asked, recorder.given
    assert internals.is_movable(compiled), changed("CodeLibrary.has_dynamic_globals", "adapt `is_movable`.")
    again = internals.from_bytes(internals.to_bytes(compiled), context)
    remedy = "adapt `to_bytes` and `from_bytes`; numba.core.caching shows how numba itself does it."
    assert again.signature == compiled.signature, changed("CompileResult._reduce or ._rebuild", remedy)
    assert again.entry_point(4) == 8, changed("CompileResult._reduce or ._rebuild", remedy)


def test_numba_registers_everything_only_where_compiled_code_needs_more_than_memory(recorder, monkeypatch):
    (context,), (compiled,) = recorder.asked, recorder.given
    content, refreshed = internals.to_bytes(compiled), []
    monkeypatch.setattr(context, "refresh", lambda: refreshed.append(True))
    assert internals.from_bytes(content, context).entry_point(4) == 8 and not refreshed
    monkeypatch.setattr(internals, "_provide", lambda _: False)
    assert internals.from_bytes(content, context).entry_point(4) == 8 and refreshed


def test_names_that_compiled_code_would_miss_are_seen():
    """LLVM ends the process that looks for one of them."""
    assert internals._provide(["PyErr_SetString", "NRT_MemInfo_call_dtor"])
    assert not internals._provide(["PyErr_SetString", "NRT_nothing", "nothing_of_that_name"])


def test_the_description_of_the_target_names_the_processor(recorder):
    described = internals.describe_target(recorder.given[0].codegen)
    remedy = "`describe_target` must return all that decides whether machine code runs on a processor."
    assert len(described) >= 3 and all(isinstance(part, str) for part in described), changed(
        "JITCodeLibrary.magic_tuple", remedy
    )


def test_reference_counting_can_be_switched_off():
    def add_up(x):
        total = 0.0
        for i in range(x.size):
            same = x  # a second reference
            total += same[i]
        return total

    remedy = "`WITHOUT_REFERENCE_COUNTING` must be the option of njit that switches NRT off."
    for options, counts in (({}, True), (internals.WITHOUT_REFERENCE_COUNTING, False)):
        function = njit(**options)(add_up)
        assert function(np.arange(3.0)) == 3.0
        (code,) = function.inspect_llvm().values()
        assert ("NRT_decref" in code) == counts, changed("the option _nrt", remedy)


def test_functions_without_reference_counting_cannot_allocate():
    """Numba refuses it. Else such an array would never be freed."""

    @njit(**internals.WITHOUT_REFERENCE_COUNTING)
    def allocate(n):
        return np.empty(n).size

    with pytest.raises(TypingError):
        allocate(3)


def test_the_folder_for_caches_is_one_of_this_application():
    folder = internals.user_cache_folder("firstfactor")
    remedy = "adapt `user_cache_folder`."
    assert isinstance(folder, Path) and "firstfactor" in folder.parts, changed("numba.misc.appdirs", remedy)
