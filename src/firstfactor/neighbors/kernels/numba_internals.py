"""Everything private in numba that the package relies on.

Numba's public API has no way to keep compiled code elsewhere than in its own cache, nor to switch reference counting
off for one function. No other file of the package imports from numba what is not public. Where a new version of numba
changes something here, ``tests/test_kernels_numba.py`` says what, and only this file has to be adapted.
"""

import functools
import pickle
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numba
from llvmlite import binding, ir

try:
    import numba.core.runtime._nrt_python as memory
    from numba.core.caching import NullCache
    from numba.core.compiler import CompileResult
    from numba.core.serialize import dumps
    from numba.misc.appdirs import user_cache_dir
except ImportError as error:
    raise ImportError(
        f"firstfactor does not work with numba {numba.__version__} yet ({error}). Install an earlier version of numba."
    ) from error

# Options of ``njit`` for functions that neither make, keep nor return arrays. Such a function need not count the
# references to the arrays it is given, which would be an atomic operation, often longer than the work itself, on memory
# that all threads share.
WITHOUT_REFERENCE_COUNTING: dict[str, Any] = {"_nrt": False}

# What a dispatcher expects of the object it asks for compiled code: a cache that is always empty, to be derived from.
EmptyCache = NullCache


def set_cache(dispatcher: Any, cache: Any) -> None:
    """Let a compiled function ask this cache before it compiles, and hand over to it what it has compiled."""
    dispatcher._cache = cache


def to_bytes(compiled: Any) -> bytes:
    """A compiled function as bytes, for `from_bytes` in another process."""
    (name, kind, (machine_code, bitcode)), *others, environments = compiled._reduce()
    outline = _outline(function.name for function in compiled.library.get_defined_functions())
    module = binding.parse_bitcode(bitcode)
    parts = (*others, _keep_used(environments, module))
    return dumps((_list_imports(module), (name, kind, (machine_code, outline)), parts, bitcode))


def from_bytes(content: bytes, target_context: Any) -> Any:
    """The compiled function that `to_bytes` was given. Bytes are unpickled: they must come from a trusted place."""
    imports, library, parts, bitcode = pickle.loads(content)
    if not _provide(imports):
        target_context.refresh()  # registers everything that numba has, which takes longer than all of the rest
    compiled = CompileResult._rebuild(target_context, library, *parts)
    # Only a function that is compiled later, and calls this one, needs more than machine code.
    compiled.library._get_module_for_linking = functools.cache(lambda: binding.parse_bitcode(bitcode))
    return compiled


def _outline(names: Iterable[str]) -> bytes:
    """Bitcode of functions with these names that do nothing: numba reads there what is in the machine code."""
    module = ir.Module()
    for name in names:
        function = ir.Function(module, ir.FunctionType(ir.VoidType(), []), name)
        ir.IRBuilder(function.append_basic_block()).ret_void()
    return binding.parse_assembly(str(module)).as_bitcode()


def _keep_used(environments: Iterable[Any], module: Any) -> tuple[Any, ...]:
    """Those of the environments, which hold constants for a function, that compiled code uses.

    Of functions that were compiled into others only the definition is left. To restore all environments, numba would
    import the modules that these functions are from.
    """
    text = str(module)
    return tuple(each for each in environments if text.count(f"@{each.env_name}") != 1)


def _list_imports(module: Any) -> list[str]:
    """The names of functions and variables that compiled code uses and does not define."""
    named = [*module.functions, *module.global_variables]
    return [each.name for each in named if each.is_declaration and not each.name.startswith("llvm.")]


def _provide(names: Iterable[str]) -> bool:
    """Whether compiled code finds all these names: those of numba's memory management are registered for it.

    Where it does not, LLVM would end the process.
    """
    for name in names:
        if binding.address_of_symbol(name) is None:
            address = memory.c_helpers.get(name.removeprefix("NRT_"))
            if address is None:
                return False
            binding.add_symbol(name, address)
    return True


def is_movable(compiled: Any) -> bool:
    """Whether a compiled function makes sense in another process: it holds no addresses of this one."""
    return not compiled.library.has_dynamic_globals


def describe_target(codegen: Any) -> tuple[Any, ...]:
    """What machine code is generated for: platform, processor and its features."""
    return codegen.magic_tuple()


def user_cache_folder(application: str) -> Path:
    """The folder for caches of an application in the user's home, wherever the platform has it."""
    return Path(user_cache_dir(application, appauthor=False))
