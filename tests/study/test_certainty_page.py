"""docs/results/certainty.md is what the stored rows give."""

import re
from pathlib import Path

import numpy as np
import pytest

from study.pages.certainty_page import CERTAINTY_PAGE, make_certainty_page, write_certainty_page
from study.pages.sections import make_section
from study.runs.experiments import CERTAINTY, PURE_NOISE
from study.runs.store import RESULTS
from study.scores.results import Results
from tests.study.rows import selection, store


class TestPage:
    def test_the_page_lists_what_is_not_reached_with_what_was_measured(self, tmp_path: Path) -> None:
        rows = [selection(PURE_NOISE[1], "CALIBRATED", k, np.eye(10)[0], 0.1) for k in range(200)]
        store(tmp_path, rows)
        write_certainty_page(tmp_path / "certainty.md", tmp_path)
        text = (tmp_path / "certainty.md").read_text()
        assert re.search(r"^- Noise, N = 1,000, p = 10: .* Measured: 1.000 ± 0.007\.$", text, re.M)
        assert re.search(r"^\| \*\*all\*\* \| \*\*0\*\* \| \*\*1\*\* \|", text, re.M)
        assert "**not reached**" in text and "The paper says" not in text

    @pytest.mark.slow
    @pytest.mark.skipif(not CERTAINTY_PAGE.exists() or not RESULTS.exists(), reason="the page or its rows are not here")
    def test_the_page_in_the_repository_is_what_the_stored_rows_give(self) -> None:
        results = Results.load()
        assert CERTAINTY_PAGE.read_text() == make_certainty_page([make_section(one.name, results) for one in CERTAINTY])
