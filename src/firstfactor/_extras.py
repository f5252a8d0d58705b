"""Packages that only some jobs need."""

import importlib
from typing import Any


def require(module: str, purpose: str, extra: str = "cli") -> Any:
    """Import a package that an extra brings, or say which extra that is."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(f"{purpose} needs {package}: pip install 'firstfactor[{extra}]'") from error
