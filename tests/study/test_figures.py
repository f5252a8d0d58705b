"""Figures are valid, small and the same each time."""

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from study.pages.figures.draw import FIGURES, draw_figure
from study.scores.results import Results

LARGEST_FIGURE = 150_000


class TestFigures:
    @pytest.mark.slow
    @pytest.mark.parametrize("name", FIGURES)
    def test_a_figure_is_valid_small_and_the_same_each_time(
        self, name: str, everything: Results, made_up_page: Path, tmp_path: Path
    ) -> None:
        first, second = made_up_page.with_suffix("") / f"{name}.svg", draw_figure(name, everything, tmp_path)
        assert second is not None
        assert first.read_bytes() == second.read_bytes()
        assert ET.fromstring(first.read_text()).tag.endswith("svg")
        assert len(first.read_bytes()) < LARGEST_FIGURE

    @pytest.mark.parametrize("name", FIGURES)
    def test_no_figure_without_rows(self, name: str, nothing: Results, tmp_path: Path) -> None:
        assert draw_figure(name, nothing, tmp_path) is None and not list(tmp_path.iterdir())
