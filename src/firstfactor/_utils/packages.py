"""Other packages: optional ones, their versions, and a private part of scikit-learn."""

import importlib
import importlib.metadata
import platform
from typing import Any


def require(module: str, purpose: str, extra: str = "cli") -> Any:
    """Import an optional package, or raise an error that names its extra."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(f"{purpose} needs {package}: pip install 'firstfactor[{extra}]'") from error


def versions(*more: str) -> dict[str, str]:
    """Return the versions of Python and of the packages that results depend on, and of ``more``."""
    packages = ("firstfactor", "numpy", "scipy", "scikit-learn", "numba", *more)
    return {"python": platform.python_version()} | {name: importlib.metadata.version(name) for name in packages}


def transform_output(estimator: Any) -> str:
    """Return the kind of table that `transform` of an estimator returns: "default", "pandas" or "polars"."""
    from sklearn.utils._set_output import _get_output_config

    return str(_get_output_config("transform", estimator=estimator)["dense"])
