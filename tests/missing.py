"""As if some packages were not installed, in a process of its own."""

import sys
from importlib.machinery import PathFinder


def hide(*packages):
    """Let nobody find these packages from now on.

    ``sys.modules[package] = None`` would not do: older versions of scikit-learn take it for an imported package.
    """

    class Others(PathFinder):
        @classmethod
        def find_spec(cls, fullname, path=None, target=None):
            return None if fullname in packages else super().find_spec(fullname, path, target)

    sys.meta_path[sys.meta_path.index(PathFinder)] = Others
