"""Other packages: those that only some jobs need, and which versions were at work."""

import importlib
import importlib.metadata
import platform
from typing import Any


def require(module: str, purpose: str, extra: str = "cli") -> Any:
    """Import a package that an extra brings, or say which extra that is."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(f"{purpose} needs {package}: pip install 'firstfactor[{extra}]'") from error


def versions(*more: str) -> dict[str, str]:
    """The versions of Python and of the packages that results depend on, and of some more."""
    packages = ("firstfactor", "numpy", "scipy", "scikit-learn", "numba", *more)
    return {"python": platform.python_version()} | {name: importlib.metadata.version(name) for name in packages}
