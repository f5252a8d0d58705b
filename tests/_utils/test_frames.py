"""Results as data frames."""

import sys

import pytest

from firstfactor._utils.frames import make_frame


def test_a_library_that_is_not_installed_is_named_with_a_way_out(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ModuleNotFoundError, match=r"needs pandas: pip install pandas, or use backend='polars' or"):
        make_frame({"factor": ["a"]}, "pandas")
