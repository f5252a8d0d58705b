"""docs/results/study.md is what the stored rows give."""

import re
from pathlib import Path

import pytest

from study.pages.certainty_page import make_certainty_page
from study.pages.evidence_page import make_evidence_page
from study.pages.figures.draw import FIGURES
from study.pages.sections import make_section
from study.pages.study_page import PAGE, make_page
from study.runs.experiments import CERTAINTY, EVIDENCE, PAPER
from study.runs.store import RESULTS
from study.scores.results import Results


class TestPage:
    @pytest.mark.slow
    def test_the_page_is_the_same_each_time_and_has_all_its_figures(
        self, made_up_page: Path, everything: Results
    ) -> None:
        text = made_up_page.read_text()
        sections = [make_section(one.name, everything) for one in PAPER]
        assert text == make_page(sections, set(FIGURES), everything, "study")
        linked = re.findall(r"!\[[^]]+\]\(([^)]+)\)", text)
        assert len(linked) == len(FIGURES) and all((made_up_page.parent / path).exists() for path in linked)
        assert "nan" not in text

    def test_the_summary_counts_all_verdicts(self, everything: Results) -> None:
        sections = [make_section(one.name, everything) for one in PAPER]
        text = make_page(sections, set(), everything, "study")
        (totals,) = re.findall(r"^\| \*\*all\*\* \|(.*)\|$", text, re.M)
        counted = sum(int(number) for number in re.findall(r"\d+", totals))
        assert counted == sum(len(section.numbers) + len(section.statements) for section in sections)

    def test_links_lead_to_headings(self, nothing: Results) -> None:
        of_paper, of_certainty, of_evidence = (
            [make_section(one.name, nothing) for one in part] for part in (PAPER, CERTAINTY, EVIDENCE)
        )
        pages = (make_certainty_page(of_certainty), make_evidence_page(of_evidence))
        for text in (make_page(of_paper, set(), nothing, "study"), *pages):
            self.assert_links_lead_to_headings(text)

    def assert_links_lead_to_headings(self, text: str) -> None:
        headings = re.findall(r"^## (.*)$", text, re.M)
        anchors = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
        assert set(re.findall(r"\]\(#([^)]+)\)", text)) <= anchors

    @pytest.mark.slow
    @pytest.mark.skipif(not PAGE.exists() or not RESULTS.exists(), reason="the page or its rows are not here")
    def test_the_page_in_the_repository_is_what_the_stored_rows_give(self) -> None:
        results = Results.load()
        sections = [make_section(experiment.name, results) for experiment in PAPER]
        drawn = {name for name in FIGURES if (PAGE.parent / PAGE.stem / f"{name}.svg").exists()}
        assert PAGE.read_text() == make_page(sections, drawn, results, PAGE.stem)
