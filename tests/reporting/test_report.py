import base64
import hashlib
import os
import re
import shutil
import stat
import sys
import types
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser

import matplotlib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sample_tables import friedman, mixed
from scripts import run_script
from sklearn.pipeline import make_pipeline

from firstfactor import FIRST, Stability, backward_elimination, problems, rank, stability, total_indices
from firstfactor.data import observations
from firstfactor.findings.finding import Finding
from firstfactor.plots.original_data import OriginalColumn
from firstfactor.ranking import make_ranking
from firstfactor.reporting.data_summary import summarise
from firstfactor.reporting.notebook import compact_table
from firstfactor.reporting.report import (
    describe_file,
    describe_stability,
    describe_table,
    say_size,
    write_report,
)
from firstfactor.results.drivers import say_drivers
from firstfactor.results.estimates import Estimates
from firstfactor.results.formats import format_number, percent
from firstfactor.results.indices import ranking_lines
from firstfactor.results.sharing import Cluster, Node, Sharing
from firstfactor.results.sharing import Tree as FactorTree
from firstfactor.results.wording import say_ceiling

NASTY = "<script>alert(1)</script>"
VOID = {"meta", "link", "col", "br", "wbr"}


class Tree(HTMLParser):
    """A page as a tree of elements; fails on tags that do not match."""

    def __init__(self, text):
        super().__init__()
        self.root = ET.Element("root")
        self.open = [self.root]
        self.feed(text)
        assert self.open == [self.root], f"<{self.open[-1].tag}> is never closed"

    def handle_starttag(self, tag, attributes):
        element = ET.SubElement(self.open[-1], tag, {name: value or "" for name, value in attributes})
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag, attributes):
        ET.SubElement(self.open[-1], tag, {name: value or "" for name, value in attributes})

    def handle_endtag(self, tag):
        assert self.open.pop().tag == tag

    def handle_data(self, data):
        parent = self.open[-1]
        if len(parent):
            parent[-1].tail = (parent[-1].tail or "") + data
        else:
            parent.text = (parent.text or "") + data


def text_of(element):
    return " ".join("".join(element.itertext()).split())


def page_of(path):
    return Tree(path.read_text(encoding="utf-8")).root


def pictures(page):
    """The figures, without the lines beside rows of the chart and the histograms."""
    return [svg for svg in page.iter("svg") if svg.get("class") not in ("twig", "histogram")]


def section(page, name):
    return page.find(f".//section[@id='{name}']")


def chart_rows(page):
    """The rows of the chart, those of clusters and of their members apart: name, kind, marks and numbers of each."""
    return [read_row(row) for row in page.findall(".//ol[@class='rows']/li")]


def read_row(item):
    """What a row shows; ``members`` are those of a cluster."""
    row = next(element for element in item.iter() if element.get("class") == "row")
    found = {"members": [read_row(member) for member in item.findall(".//ol[@class='members']/li")], "marks": []}
    for cell in row.iter("span"):
        name = cell.get("class", "").split(" ")[0]
        if name == "mark":
            found["marks"].append(text_of(cell))
        elif name in ("name", "kind", "lost-number", "interval", "alone-number", "p", "halves"):
            label = cell.find("span[@class='label']")
            found[name] = text_of(cell).removeprefix("" if label is None else text_of(label)).strip()
    return found


def others_of(page, fold="others"):
    """What is said about each factor in no row."""
    return [text_of(item) for item in page.findall(f".//details[@id='{fold}']//li")]


def rows_of(table):
    return [[text_of(cell) for cell in row] for row in table.findall("tbody/tr")]


def nasty_table():
    """Numbers, categories, a constant, stand-ins for selected factors, and names that try to be markup."""
    X, y = mixed(300)
    rng = np.random.default_rng(1)
    X = X.rename(columns={"load": NASTY, "make": '"><img src=x onerror=alert(2)>'})
    X["twin of size"] = -(X["size"] ** 3) + 0.05 * rng.normal(size=300)
    X["region"] = np.where(X[NASTY] > 500, "north & <b>west</b>", "south")
    X["{{ 7 * 7 }}"] = rng.normal(size=300)
    X["fixed"] = 1.0
    return X, pd.Series(y, name="</title><script>alert(3)</script>")


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    X, y = nasty_table()
    selector = FIRST().fit(X, y)
    path = tmp_path_factory.mktemp("report") / "full.html"
    selector.report(path, X, y, notes=["3 rows with missing values were <dropped>."])
    return selector, X, y, path


@pytest.fixture(scope="module")
def alike(tmp_path_factory):
    """Three factors of which any will do, three others that matter, and one that does not."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 7)), columns=list("abcdefg"))
    indices = FIRST().fit(X, X["a"] + X["d"] + 0.5 * X["e"]).indices_
    values = np.array([0.02, 0.0, 0.01, 0.3, 0.1, 0.005, 0.0])
    alone = np.array([0.5, 0.45, 0.48, 0.3, 0.05, 0.2, 0.0])
    known = np.full(7, 0.01)
    cluster = Cluster(("a", "b", "c"), 0.6, 0.02, 0.01, (1.0, 0.96, 0.94), 0.9, (0, 1, 2))
    nodes = (Node((0, 1), (0, 1), 0.97, 0.5, 0.02), Node((7, 2), (2, 0, 1), 0.9, 0.6, 0.02))
    tree = FactorTree(tuple("abcdefg"), tuple(range(7)), nodes, np.eye(7))
    sure = replace(indices.uncertainty, standard_errors=known, bias=known, p_values=np.full(7, 0.001))
    sharing = Sharing(Estimates(alone, known, known, known), (cluster,), tree, {})
    indices = replace(
        indices, values=values, kept=(0, 2, 3, 4, 5), uncertainty=sure, sharing=sharing, path=None, procedure=None
    )
    path = tmp_path_factory.mktemp("report") / "alike.html"
    write_report(indices, path)
    return indices, path


def test_factors_of_which_any_will_do_are_one_row(alike):
    page = page_of(alike[1])
    answer = "y depends most on a (or b, c: any of them will do) and d, then e; one more adds little."
    assert text_of(page.find(".//p[@id='answer']")) == answer
    rows = chart_rows(page)
    assert [row["name"] for row in rows] == ["a, b or c", "d", "e", "f"]
    assert (rows[0]["lost-number"], rows[0]["interval"], rows[0]["alone-number"]) == ("0.600", "(0.556–0.644)", "0.500")
    assert [(row["name"], row["lost-number"], row["marks"]) for row in rows[0]["members"]] == [
        ("c", "0.010", ["keeps 94 %"]),
        ("a", "0.020", ["keeps 100 %"]),
        ("b", "–", ["keeps 96 %"]),
    ]
    assert [sentence.split(" ")[0] for sentence in others_of(page)] == ["g"]
    widths = [bar.get("style") for bar in page.find(".//ol[@class='rows']/li").iter("span") if bar.get("style")]
    assert widths[:3] == ["width: 50.00%", "width: 60.00%", "left: 55.62%; width: 8.77%"]
    assert "Factors in one row" in text_of(section(page, "reading"))


def test_a_result_that_does_not_know_what_factors_share_makes_a_page(alike, tmp_path):
    write_report(replace(alike[0], sharing=None), tmp_path / "page.html")
    page = page_of(tmp_path / "page.html")
    assert [row["name"] for row in chart_rows(page)] == ["d", "e", "a", "c", "f"]
    assert not [row for row in chart_rows(page) if "alone-number" in row]
    assert "explained by it alone" not in text_of(page) and "Alone" not in text_of(section(page, "reading"))


def test_the_answer_the_ceiling_and_the_chart(full):
    selector, X, y, path = full
    page, indices = page_of(path), selector.indices_
    assert text_of(page.find(".//title")) == text_of(page.find(".//h1")) == f"What does {y.name} depend on?"
    answer = text_of(page.find(".//p[@id='answer']"))
    assert answer == say_drivers(indices, y.name) and answer.endswith(" is weak." if indices.weak.any() else ".")
    ceiling = say_ceiling(indices, y.name)
    assert text_of(section(page, "ceiling")).count(ceiling) == 1
    rows = chart_rows(page)
    assert [row["name"] for row in rows] == [row.name for row in indices.drivers]
    shown = {member["name"]: member for row in rows for member in row["members"] or [row]}
    for i in selector.selected_:
        row = shown[X.columns[i]]
        assert (row["kind"], row["lost-number"]) == (indices.kinds[i], f"{indices.shares[i]:.3f}")
        assert row["interval"] == "({:.3f}–{:.3f})".format(*selector.interval()[i])
        assert row["alone-number"] == f"{min(indices.sharing.alone.values[i], 1):.3f}"
    lines = ranking_lines(indices)
    assert sorted(i for line in lines for i in line.factors) == [*range(X.shape[1])]
    others = [line for line in lines if line.rank is None and not line.is_substitute]
    said = others_of(page)
    assert len(said) == len(others) and said[-1].startswith("fixed is constant: it has the same value in every row.")


def test_every_section_is_there(full):
    page = page_of(full[3])
    names = [one.get("id") for one in page.iter("section")]
    assert names == ["ceiling", "importance", "effects", "path", "data", "repeat", "reading", "cite"]
    captions = [text_of(caption) for caption in section(page, "effects").iter("figcaption")]
    assert captions == [full[1].columns[i] for i in full[0].selected_]
    assert len(pictures(page)) == len(full[0].selected_) + 1
    assert page.find(".//p[@id='no-data']") is None
    repeat = text_of(section(page, "repeat"))
    assert "FIRST().fit(X, y)" in repeat and "Nothing is random" in repeat
    for package in ("Python", "firstfactor", "numpy", "scipy", "scikit-learn", "numba"):
        assert package in repeat
    assert ["rule", "paper"] in rows_of(section(page, "repeat").find(".//table"))
    assert "doi:10.1080/00401706.2025.2483531" in text_of(section(page, "cite"))
    assert "@article{" in text_of(section(page, "cite"))
    for word in ("need not sum to 1", "too low", "stand in for the others", "pure noise"):
        assert word in text_of(section(page, "reading"))


def test_data_and_notes_are_summed_up(full):
    selector, X, y, path = full
    data = section(page_of(path), "data")
    assert "300 rows × 10 columns" in text_of(data) and "9 factors" in text_of(page_of(path).find(".//header"))
    assert [text_of(note) for note in data.iter("li")] == ["3 rows with missing values were <dropped>."]
    (response, *factors) = rows_of(data.find("table"))
    assert response[:2] == ["</title><script>alert(3)</script>", "response"]
    assert response[3].startswith(f"{format_number(y.min())} to {format_number(y.max())}, median ")
    summaries = {name: (kind, values) for name, kind, _, values in factors}
    assert {X.columns[i] for i in selector.selected_} <= {*summaries}
    pictures = data.findall(".//svg[@class='histogram']/path")
    assert len(pictures) == len(factors) + 1
    assert next(picture.get("d").count("M") for picture in pictures) > 10
    assert summaries["wet"][1].startswith("2 levels: ")
    counts = X["region"].value_counts()
    assert f"north & <b>west</b> ({counts['north & <b>west</b>']})" in summaries["region"][1]
    assert summaries["count"] == ("number", f"0 to 5, median {X['count'].median():.4g}")
    assert summaries["fixed"] == ("constant", "about 1")


def test_a_stand_in_is_told_where_it_stands(full):
    page, indices = page_of(full[3]), full[0].indices_
    told = [member["name"] for row in chart_rows(page) for member in row["members"]]
    said = " ".join(others_of(page, "close"))
    twin = indices.names.index("twin of size")
    assert indices.support[twin] or "twin of size" in told or "twin of size stands in for size" in said


def test_names_and_values_are_never_markup(full):
    text = full[3].read_text(encoding="utf-8")
    page = Tree(text).root
    (script,) = page.iter("script")
    digest = base64.b64encode(hashlib.sha256(script.text.encode()).digest()).decode()
    policy = page.find(".//meta[@http-equiv='Content-Security-Policy']").get("content")
    assert f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}';" in policy
    assert not list(page.iter("img"))
    assert all(text_of(one) in ("Technometrics", "") for one in page.iter("i"))
    for element in page.iter():
        assert not [name for name in element.attrib if name.startswith("on")]
        for name in ("src", "href"):
            assert element.get(name, "#").startswith(("#", "data:,"))
    assert "{{ 7 * 7 }}" in text
    assert NASTY in [each["name"] for row in chart_rows(page) for each in [row, *row["members"]]]


def test_figures_can_stand_side_by_side(full):
    page = page_of(full[3])
    ids = [element.get("id") for element in page.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    for svg in pictures(page):
        inside = {element.get("id") for element in svg.iter()}
        used = set(re.findall(r'(?:href="#|url\(#)([\w-]+)', ET.tostring(svg, encoding="unicode")))
        assert used and used <= inside
        colours = set(re.findall("#[0-9a-f]{6}", ET.tostring(svg, encoding="unicode")))
        assert not colours  # all of them come from the page, which knows light and dark


def test_the_same_input_gives_the_same_bytes(full, tmp_path):
    selector, X, y, path = full
    with matplotlib.rc_context({"font.size": 30, "axes.facecolor": "red", "svg.fonttype": "path"}):
        selector.report(tmp_path / "again.html", X, y, notes=["3 rows with missing values were <dropped>."])
    assert (tmp_path / "again.html").read_bytes() == path.read_bytes()


def test_any_table_gives_the_same_page(full, tmp_path):
    _, X, y, path = full
    table = pl.from_pandas(X)
    FIRST().fit(table, y).report(tmp_path / "polars.html", table, pl.Series(y.name, y.to_numpy()), notes=[])
    ref, comp = (page_of(one) for one in (path, tmp_path / "polars.html"))
    for name in ("importance", "effects", "path"):
        assert ET.tostring(section(comp, name)) == ET.tostring(section(ref, name))


def test_without_data_the_page_says_how_to_get_the_rest(full, tmp_path):
    selector, X, y, _ = full
    selector.report(tmp_path / "short.html")
    page = page_of(tmp_path / "short.html")
    names = [one.get("id") for one in page.iter("section")]
    assert names == ["ceiling", "importance", "path", "data", "repeat", "reading", "cite"]
    assert "report(path, X, y)" in text_of(page.find(".//p[@id='no-data']"))
    with pytest.raises(ValueError, match="X and y must be given together; got only one of them"):
        selector.report(tmp_path / "half.html", X)
    with pytest.raises(ValueError, match=r"X must have the rows that were analysed \(300\); got 200"):
        selector.report(tmp_path / "half.html", X[:200], y[:200])
    assert not (tmp_path / "half.html").exists()


def test_title_call_and_settings_are_shown_as_given(full, tmp_path):
    selector, *_ = full
    call = "firstfactor rank 'a & b.csv' \\\n  --target <y>"
    path = tmp_path / "page.html"
    write_report(selector, path, title="A <b>title</b>", call=call, settings={"n_outer": 100, "seed": 7})
    page = page_of(path)
    assert text_of(page.find(".//title")) == "A <b>title</b>"
    assert page.find(".//pre[@id='call']").text == call
    assert rows_of(section(page, "repeat").find(".//table")) == [["n_outer", "100"], ["seed", "7"]]
    assert "drawn at random. Random seed: 7" in text_of(section(page, "repeat"))


def test_what_is_random_is_said(tmp_path):
    X, y = mixed()
    FIRST(n_outer=100).fit(X, y).report(tmp_path / "page.html")
    repeat = text_of(section(page_of(tmp_path / "page.html"), "repeat"))
    assert "FIRST(n_outer=100).fit(X, y)" in repeat
    assert "without a seed: a repeat will differ slightly" in repeat
    FIRST(n_outer=100, random_state=np.random.default_rng(0)).fit(X, y).report(tmp_path / "page.html")
    repeat = text_of(section(page_of(tmp_path / "page.html"), "repeat"))
    assert "random_state=Generator(PCG64)" in repeat and "0x" not in repeat
    assert "a repeat needs the same generator in the same state" in repeat


def test_total_indices_have_no_path_and_noise_free_ones_no_ceiling(tmp_path):
    X, y = mixed()
    write_report(total_indices(X, y), tmp_path / "total.html", X, y)
    page = page_of(tmp_path / "total.html")
    assert section(page, "path") is None and section(page, "effects") is not None
    assert f"From all {X.shape[1]} factors together, models can explain" in text_of(section(page, "ceiling"))
    assert page.find(".//pre[@id='call']") is None
    write_report(total_indices(X, y, noise=False), tmp_path / "clean.html")
    page = page_of(tmp_path / "clean.html")
    assert section(page, "ceiling") is None
    assert "taken to be free of noise" in text_of(page.find(".//p[@id='clean']"))
    write_report(backward_elimination(X, y), tmp_path / "backward.html")
    assert section(page_of(tmp_path / "backward.html"), "path") is not None


def wages():
    """Wages with their logarithm, the square of a factor, and noise."""
    rng = np.random.default_rng(0)
    exper, educ = rng.integers(0, 40, 250), rng.integers(8, 18, 250)
    wage = np.exp(0.02 * exper + 0.1 * educ + 0.1 * rng.normal(size=250))
    return pl.DataFrame(
        {"educ": educ, "exper": exper, "other": rng.normal(size=250), "log(wage)": np.log(wage), "wage": wage}
    )


def test_leaks_stand_above_the_answer_and_the_ranking_without_them_below(tmp_path):
    ranking = rank(wages(), "wage")
    ranking.report(tmp_path / "r.html", call="firstfactor rank wages.csv --target wage")
    page = page_of(tmp_path / "r.html")
    header = list(page.find(".//header"))
    leak, answer = header[1:3]
    assert text_of(leak).startswith("Leak. log(wage) is wage in another form")
    assert text_of(leak.find("code")) == "--drop 'log(wage)'" and answer.get("id") == "answer"
    whole, without = section(page, "importance"), section(page, "without")
    assert [row["name"] for row in chart_rows(whole)] == ["log(wage)"]
    assert text_of(without.find("h2")) == "Without log(wage)"
    alone = rank(wages().drop("log(wage)"), "wage").indices
    assert text_of(page.find(".//p[@id='answer-without']")) == f"Without log(wage): {say_drivers(alone, 'wage')}"
    assert say_ceiling(alone, "wage") == text_of(without.find("p"))
    assert {row["name"] for row in chart_rows(without)} == {"educ", "exper"}
    assert [row["lost-number"] for row in chart_rows(without)] == [line.importance_text for line in alone.drivers]
    assert "<b>Leak:</b> log(wage) is wage in another form" in ranking._repr_html_()
    ranking.report(tmp_path / "r.html")  # from Python, the remedy is a parameter
    assert text_of(page_of(tmp_path / "r.html").find(".//p[@id='leak1']/code")) == 'drop=["log(wage)"]'


@pytest.mark.parametrize("leaks", ["drop", "keep"])
def test_without_a_warning_of_leaks_the_page_has_one_ranking(tmp_path, leaks):
    rank(wages(), "wage", leaks=leaks).report(tmp_path / "r.html")
    page = page_of(tmp_path / "r.html")
    assert section(page, "without") is None and page.find(".//p[@id='leak1']") is None


def test_five_remarks_are_shown_and_the_others_folded(full, tmp_path):
    found = [Finding("function", f"x{j} is a function of y.", (f"x{j}",), remedy={"drop": [f"x{j}"]}) for j in range(6)]
    found.append(Finding("leak", "z is y.", ("z",), remedy={"drop": ["z"]}))
    write_report(replace(full[0].indices_, findings=tuple(found)), tmp_path / "r.html")
    page = page_of(tmp_path / "r.html")
    shown = [text_of(each) for each in page.findall(".//p") if re.match("leak|finding", each.get("id", ""))]
    assert shown[0] == 'Leak. z is y. Without it: drop=["z"]' and len(shown) == 5
    assert others_of(page, "more-findings") == [
        f'x{j} is a function of y. To keep one of them: drop=["x{j}"]' for j in (4, 5)
    ]


def test_two_classes(tmp_path):
    X, y = mixed()
    labels = pd.Series(np.where(y > np.median(y), "<yes>", "no"), name="sold")
    FIRST().fit(X, labels).report(tmp_path / "page.html", X, labels)
    page = page_of(tmp_path / "page.html")
    assert "with sold = no; the line is the share of these" in text_of(section(page, "effects"))
    assert "one of two classes; its variance" in text_of(section(page, "data"))
    assert rows_of(section(page, "data").find("table"))[0] == ["sold", "response", "", "<yes> (100) and no (100)"]
    assert pictures(section(page, "effects"))[0].get("aria-label").startswith("share of sold = no against ")


def test_nothing_selected(tmp_path):
    X, y = np.arange(30.0)[:, None], np.tile([0.0, 1.0, 0.5], 10)
    FIRST().fit(X, y).report(tmp_path / "page.html", X, y)
    page = page_of(tmp_path / "page.html")
    answer = text_of(page.find(".//p[@id='answer']"))
    assert answer == "In 30 rows, no factor explains anything of the variance of y."
    assert "These rows give no sign that a model could do better than the mean." in text_of(page)
    assert chart_rows(page) == []
    assert "The only factor was left out" in text_of(page.find(".//details[@id='others']"))
    for name in ("ceiling", "path", "effects"):
        assert section(page, name) is None
    assert page.find(".//p[@id='no-evidence']") is None


def test_nothing_more_than_chance_is_an_answer(tmp_path):
    X, y = np.random.default_rng(0).normal(size=(100, 3)), np.random.default_rng(1).normal(size=100)
    FIRST(rule="calibrated", alpha=0.05, random_state=0).fit(X, y).report(tmp_path / "page.html", X, y)
    page = page_of(tmp_path / "page.html")
    answer = text_of(page.find(".//p[@id='answer']"))
    assert answer == "In 100 rows, there is not enough evidence that y depends on any factor (alpha = 0.05)."
    assert "These rows give no sign that a model could do better than the mean." in text_of(page)
    assert "Method: FIRST (calibrated, alpha = 0.05)." in text_of(section(page, "repeat"))
    assert "All 3 factors were left out" in text_of(section(page, "importance"))
    assert page.find(".//div[@class='row head']") is None  # nothing has no columns
    assert "Null distributions were simulated. Random seed: 0" in text_of(section(page, "repeat"))
    assert "selects some factor from pure noise with probability alpha" in text_of(section(page, "reading"))


def test_weak_factors_are_marked_and_intervals_explained(tmp_path):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(150, 8))
    selector = FIRST().fit(X, X[:, 0] + 0.8 * X[:, 1] + 0.8 * rng.normal(size=150))
    selector.report(tmp_path / "page.html")
    page, indices = page_of(tmp_path / "page.html"), selector.indices_
    rows = {each["name"]: each for row in chart_rows(page) for each in row["members"] or [row]}
    marked = {i for i in indices.selected.tolist() if "weak evidence" in rows[indices.names[i]]["marks"]}
    assert marked == set(np.flatnonzero(indices.weak).tolist())
    assert 0 < len(marked) < indices.selected.size
    assert "Weak evidence: the interval reaches 0." in text_of(section(page, "importance"))
    told = text_of(page)
    for words in (
        "95 % interval",
        "No p-values: on the rows that also selected the factors, they would be too small.",
        "account for chance and for bias",
        "inflates their importance somewhat",
        "The option split avoids that.",
    ):
        assert words in told


def test_p_values_are_shown_where_other_rows_selected_or_none_did(tmp_path):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(150, 8))
    indices = total_indices(X, X[:, 0] + 0.8 * X[:, 1] + 0.8 * rng.normal(size=150), uncertainty=True)
    write_report(indices, tmp_path / "page.html")
    page = page_of(tmp_path / "page.html")
    rows = {each["name"]: each for row in chart_rows(page) for each in row["members"] or [row]}
    for i in indices.selected.tolist():
        row, p = rows[indices.names[i]], indices.p_values[i]
        assert row["p"] == ("<0.001" if p < 0.0005 else f"{p:.3f}")
        assert ("weak evidence" in row["marks"]) == indices.weak[i]
    assert "Weak evidence: p > 0.05." in text_of(section(page, "importance"))
    assert "p is the probability of such an effect" in text_of(section(page, "reading"))
    assert "No p-values" not in text_of(page)


@pytest.mark.parametrize("rule", ["paper", "calibrated"])
def test_only_a_selection_by_the_paper_s_rule_is_said_to_be_no_evidence(tmp_path, rule):
    selector = FIRST(rule=rule, random_state=0).fit(*friedman(200))
    selector.report(tmp_path / "page.html")
    page = page_of(tmp_path / "page.html")
    box = page.find(".//p[@id='no-evidence']")
    assert (box is not None) == (rule == "paper")
    answer = text_of(page.find(".//p[@id='answer']"))
    assert ("y depends most on " in answer) == (rule == "calibrated")
    assert ("selected to explain y" in answer) == (rule == "paper")
    if box is not None:
        assert "even from pure noise, so a selection by it is no evidence." in text_of(box)
        assert "is no evidence." in selector._repr_html_()


def test_a_bound_has_its_interval_in_the_bar(tmp_path):
    selector = FIRST(rule="calibrated", random_state=0).fit(*friedman(200))
    selector.report(tmp_path / "page.html")
    ceiling = section(page_of(tmp_path / "page.html"), "ceiling")
    low, high = selector.indices_.r2_interval()
    assert f"(95 % interval {percent(low).removesuffix(' %')}–{percent(high)})" in text_of(ceiling)
    solid, between = ceiling.findall(".//div[@class='track']/span")
    r2 = selector.indices_.r2_ceiling
    assert solid.get("style") == f"width: {100 * r2:.1f}%" and solid.get("class") == "fill"
    assert between.get("style") == f"left: {100 * low:.1f}%; width: {100 * (high - low):.1f}%"
    assert text_of(ceiling.find(".//span[@class='estimate']")) == f"{100 * r2:.0f} %"
    spoken = ceiling.find("div").get("aria-label").replace("\u00a0", " ")
    assert spoken == f"{percent(r2)} of the variance can be explained, 95 % interval {percent(low)} to {percent(high)}"


def test_a_split_needs_all_rows_and_is_said(tmp_path):
    X, y = friedman(301)
    selector = FIRST(split=True, random_state=0).fit(X, y)
    assert selector.indices_.n_rows == 150
    selector.report(tmp_path / "page.html", X, y)
    page = page_of(tmp_path / "page.html")
    assert "301 rows" in text_of(page.find(".//header"))
    assert "selecting on one half of the rows and estimating on the other." in text_of(section(page, "repeat"))
    assert "the selection does not inflate their importance" in text_of(section(page, "importance"))
    assert "Rows were drawn at random. Random seed: 0" in text_of(section(page, "repeat"))
    with pytest.raises(ValueError, match=r"rows that were analysed \(150, and 151 to select on\); got 150"):
        selector.report(tmp_path / "page.html", X[:150], y[:150])


def test_indices_know_that_rows_were_split(tmp_path):
    X, y = friedman(301)
    write_report(FIRST(split=True, random_state=0).fit(X, y).indices_, tmp_path / "page.html", X, y)
    page = page_of(tmp_path / "page.html")
    assert "301 rows" in text_of(page.find(".//header"))
    assert "selecting on one half of the rows and estimating on the other." in text_of(section(page, "repeat"))


def test_too_few_rows_and_bias_are_said_in_boxes(tmp_path):
    X, y = friedman(60)
    crowded = total_indices(X, y, uncertainty=True)
    write_report(crowded, tmp_path / "page.html")
    page = page_of(tmp_path / "page.html")
    box = text_of(page.find(".//p[@id='too-few-rows']"))
    assert "60 rows are too few for 10 factors at once" in box
    assert f"The rows are enough for about {crowded.sample_size.supported}." in box
    assert page.find(".//p[@id='bias']") is None
    X, y = friedman(1000)
    selector = FIRST().fit(X, y)
    selector.report(tmp_path / "page.html")
    page = page_of(tmp_path / "page.html")
    assert page.find(".//p[@id='too-few-rows']") is None
    bias = f"higher, by {100 * selector.indices_.sample_size.distance_bias:.0f} points or more"
    assert bias in text_of(page.find(".//p[@id='bias']")) and "“adaptive”" in text_of(page.find(".//p[@id='bias']"))
    FIRST(variance_estimator="adaptive").fit(X, y).report(tmp_path / "page.html")
    assert page_of(tmp_path / "page.html").find(".//p[@id='bias']") is None


def test_stability_has_a_section_with_its_picture(full, tmp_path):
    selector, X, y, _ = full
    found = stability(X, y, n_pairs=2, random_state=0)
    selector.report(tmp_path / "page.html", X, y, stability=found)
    page = page_of(tmp_path / "page.html")
    told = text_of(section(page, "stability"))
    assert "repeated on 4 random half-samples" in told
    assert f"{X.columns[found.selected[0]]}, " in told and "were selected in at least 60 % of them" in told
    shown = {each["name"]: each for row in chart_rows(page) for each in row["members"] or [row]}
    assert all(shown[X.columns[i]]["halves"] == f"{found.frequencies[i]:.2f}" for i in selector.selected_)
    svg_text = [text_of(one) for one in section(page, "stability").iter("text")]
    assert "selection frequency" in svg_text
    colours = re.findall("#[0-9a-f]{6}", ET.tostring(section(page, "stability").find(".//svg"), encoding="unicode"))
    assert not colours
    with pytest.raises(ValueError, match="stability must be of the same factors as the result; got others"):
        selector.report(tmp_path / "page.html", stability=replace(found, names=found.names[1:]))


def test_what_may_be_luck_is_said_where_it_can_be():
    first_two = np.eye(100)[:2].sum(axis=0)
    many = Stability(
        names=tuple("abcdefgh") + tuple(map(str, range(92))),
        frequencies=first_two,
        simultaneous=first_two,
        n_pairs=50,
        threshold=0.9,
        n_candidates=100,
    )
    told = describe_stability(many)
    assert told["often"] == "a and b" and told["expected_false"] == "0.05"
    assert describe_stability(replace(many, n_candidates=2))["expected_false"] == ""
    assert describe_stability(replace(many, frequencies=np.zeros(100)))["often"] == ""
    assert describe_stability(replace(many, frequencies=np.ones(100)))["often"].endswith("20 and 71 more")


def test_thousands_of_factors_stay_a_small_page(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2000))
    y = X[:, 3] + X[:, 5] + 0.1 * rng.normal(size=60)
    selector = FIRST(forward="fast").fit(X, y)
    selector.report(tmp_path / "page.html", X, y)
    assert (tmp_path / "page.html").stat().st_size < 200_000
    page = page_of(tmp_path / "page.html")
    others = [line for line in ranking_lines(selector.indices_) if line.rank is None]
    assert len(others) > 1500
    said = others_of(page)
    assert len(said) == 101 and said[-1] == f"And {len(others) - 100:,} more."
    assert f"{len(others):,} others were left out" in text_of(page.find(".//details[@id='others']/summary"))
    assert len(rows_of(section(page, "data").find("table"))) == 40 + 1


def test_many_rows_keep_the_page_small(tmp_path):
    X, y = friedman(8000)
    result = total_indices(X, y, n_outer=100)
    write_report(result, tmp_path / "page.html", X, y)
    assert (tmp_path / "page.html").stat().st_size < 500_000


def test_a_page_is_written_whole_or_not_at_all(full, tmp_path, monkeypatch):
    selector, *_ = full
    path = tmp_path / "page.html"
    path.write_text("before")
    path.chmod(0o640)
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        selector.report(path)
    assert [one.name for one in tmp_path.iterdir()] == ["page.html"]
    assert path.read_text() == "before"
    monkeypatch.undo()
    selector.report(path)
    assert path.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_no_figure_is_left_to_pyplot(full, tmp_path, monkeypatch):
    in_use = types.ModuleType("matplotlib.pyplot")  # without any function that could be called
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", in_use)
    full[0].report(tmp_path / "page.html", *full[1:3])
    with pytest.raises(AttributeError, match="figure"):
        full[0].plot()


@pytest.mark.parametrize("name", ["日本語の列", "a\x00b\x1b", "two\nlines", "$x_1$", "", "\ud800", "a" * 3000])
def test_odd_names_make_a_page(name, tmp_path):
    X, y = friedman(100, factors=10)
    result = replace(total_indices(X, y), names=(name, *"bcdefghij"))
    write_report(result, tmp_path / "page.html")
    page = page_of(tmp_path / "page.html")
    shown = [row["name"] for row in chart_rows(page)] + others_of(page)
    assert len(shown) == 10 and all(one.isprintable() and one for one in shown)


def test_missing_packages_are_said(full, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r"a report needs jinja2: pip install 'firstfactor\[cli\]'"):
        full[0].report(tmp_path / "page.html")


def test_percent_never_claims_all_or_nothing():
    shown = [percent(share) for share in (0, 1e-12, 0.0001, 0.004, 0.5, 0.8349, 0.997, 0.99999, 1 - 1e-12, 1)]
    some, most = ["0 %", "0.0001 %", "0.01 %", "0.4 %", "50 %", "83 %"], ["99.7 %", "99.999 %", "99.9999 %", "100 %"]
    assert shown == some + most


# --- the data ---------------------------------------------------------------------------------------------------------


def categories(codes):
    return OriginalColumn(np.asarray(codes, dtype=float), tuple(f"level {i}" for i in range(int(max(codes)) + 1)))


def test_summaries():
    assert summarise(OriginalColumn(np.array([-1.5, 0, 2]), ())) == "−1.5 to 2, median 0"
    assert summarise(OriginalColumn(np.array([326, 2401, 18823.0]), ())) == "326 to 18,820, median 2401"
    assert summarise(categories([0, 1, 1, 2, 2, 2, 3])).startswith("4 levels: level 2 (3), level 1 (2), level 0 (1), …")


def test_where_the_table_comes_from(full, tmp_path, monkeypatch):
    selector, X, y, _ = full
    data = tmp_path / "wood & <paper>.csv"
    X.to_csv(data, index=False)
    source = describe_file(data)
    digest = hashlib.sha256(data.read_bytes()).hexdigest()
    assert source == {"name": data.name, "size": say_size(data.stat().st_size), "sha256": digest[:16]}
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "951782400")
    selector.report(tmp_path / "page.html", X, y, source=source)
    page = page_of(tmp_path / "page.html")
    told = text_of(section(page, "data"))
    for words in (data.name, f"300 rows × 10 columns, {source['size']}", digest[:16], "29 February 2000"):
        assert words in told
    assert text_of(page.find(".//p[@id='asked']")) == f"{data.name} · 300 rows · 9 factors · 29 February 2000"
    selector.report(tmp_path / "page.html", source={"date": "yesterday"})
    assert "dateyesterday" in text_of(section(page_of(tmp_path / "page.html"), "data"))


def test_a_table_in_memory_has_a_digest_too():
    X, y = pl.DataFrame({"a": [1, 2]}), pl.Series("y", [0.5, 1.5])
    assert describe_table(X, y, "the table") == {
        "name": "the table",
        "sha256": hashlib.sha256(b"a,y\n1,0.5\n2,1.5\n").hexdigest()[:16],
    }
    assert describe_table(X, pl.DataFrame({"y": y})) == {"sha256": describe_table(X, y)["sha256"]}


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 bytes"), (999, "999 bytes"), (1234, "1.2 kB"), (99_960, "100 kB"), (2_468_000, "2.5 MB")]
)
def test_sizes_are_said_in_words(size, text):
    assert say_size(size) == text


def test_settings_and_classes_are_plain_words(tmp_path):
    X, y = mixed()
    labels = np.where(y > np.median(y), 1.0, 0.0)
    settings = {
        "rule": "paper",
        "split": False,
        "drop": ["a", "b"],
        "period": {"day": 7},
        "na": [],
        "weight": None,
        "sample": 10_000,
        "decimal": ".",
    }
    write_report(FIRST().fit(X, labels), tmp_path / "page.html", X, labels, settings=settings)
    page = page_of(tmp_path / "page.html")
    assert rows_of(section(page, "repeat").find(".//table")) == [
        ["rule", "paper"],
        ["split", "no"],
        ["drop", "a, b"],
        ["period", "day: 7"],
        ["sample", "10,000"],
        ["decimal", "a point"],
    ]
    assert rows_of(section(page, "data").find("table"))[0][3] == "0 (100) and 1 (100)"
    page.find(".//section[@id='repeat']").clear()
    assert not re.search(r"\de[+-]\d|None|\[\]", text_of(page.find(".//main")))


def test_dates_are_written_as_dates(tmp_path):
    X, y = mixed()
    X["day"] = pd.date_range("2020-02-28", periods=len(X), freq="12h")
    X["took"] = X["day"] - X["day"].iloc[0]
    FIRST().fit(X, y).report(tmp_path / "page.html", X, y)
    summaries = {row[0]: row[3] for row in rows_of(section(page_of(tmp_path / "page.html"), "data").find("table"))}
    assert summaries["day"] == "2020-02-28 to 2020-06-06, median 2020-04-17"
    assert summaries["took"] == "0 to 99.5, median 49.75"


def test_ranks_are_said_to_be_explained(tmp_path):
    X, y = mixed()
    FIRST(response_scale="ranks", rule="calibrated", random_state=0).fit(X, y).report(tmp_path / "page.html")
    page = page_of(tmp_path / "page.html")
    assert text_of(page.find(".//p[@id='answer']")).startswith("The ranks of y depend most on ")
    assert "of the variance of the ranks of y" in text_of(section(page, "ceiling"))
    assert text_of(page.find(".//h1")) == "What does y depend on?"


# --- in a notebook ------------------------------------------------------------------------------------------------


def test_a_notebook_shows_a_table_and_the_diagram(full):
    selector = full[0]
    shown = selector._repr_html_()
    assert selector._repr_mimebundle_()["text/html"].count('class="firstfactor"') == 1
    assert "sk-container" in shown
    ours = Tree(re.search(r'<div class="firstfactor">.*?</table><p[^>]*>.*?</p></div>', shown, re.DOTALL).group()).root
    rows = rows_of(ours.find(".//table"))
    expected = selector.indices_.drivers
    assert [row[1] for row in rows] == [row.name for row in expected]
    assert [row[0] for row in rows] == [str(rank) for rank in range(1, len(rows) + 1)]
    assert f"R² ceiling: about {selector.r2_ceiling_:.2f}." in text_of(ours)
    assert [row[4].removesuffix(" ?") for row in rows] == [row.interval_text for row in expected]
    assert [row[5] for row in rows] == [row.alone_text for row in expected]
    assert "95 % intervals." in text_of(ours) and "weak" not in text_of(ours)
    assert not list(ours.iter("script"))


def test_a_notebook_marks_what_may_be_chance():
    X, y = np.random.default_rng(0).normal(size=(40, 6)), np.random.default_rng(1).normal(size=40)
    ours = Tree(compact_table(FIRST().fit(X, y).indices_)).root
    assert any(row[4].endswith("?") for row in rows_of(ours.find(".//table")))
    assert "? weak: the interval reaches 0." in text_of(ours)


def test_unfitted_or_as_text_it_is_what_scikit_learn_shows(full):
    assert "firstfactor" not in FIRST()._repr_html_().replace("firstfactor.first", "")
    assert 'class="firstfactor"' not in FIRST()._repr_mimebundle_()["text/html"]
    with sklearn.config_context(display="text"):
        assert not hasattr(full[0], "_repr_html_")
        assert full[0]._repr_mimebundle_() == {"text/plain": repr(full[0])}


def test_a_pipeline_shows_its_diagram():
    X, y = friedman(100)
    pipeline = make_pipeline(FIRST(), "passthrough").fit(X, y)
    shown = pipeline._repr_html_()
    assert "FIRST" in shown and 'class="firstfactor"' not in shown


def test_the_table_needs_the_core_install_only():
    printed = run_script(
        """
        from missing import hide
        hide("matplotlib", "jinja2", "pandas", "polars")
        import firstfactor, numpy
        X = numpy.random.default_rng(0).normal(size=(50, 2))
        print('class="firstfactor"' in firstfactor.FIRST().fit(X, X[:, 0])._repr_html_())
        """
    )
    assert printed == "True\n"


# --- in a browser -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser():
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("chromium is not installed")
    flags = ("no-sandbox", "disable-gpu", "no-first-run", "disable-background-networking")
    flags += ("disable-component-update", "disable-sync")
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=[f"--{flag}" for flag in flags])
        yield browser
        browser.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_in_a_browser(full, browser, width, scheme):
    selector, X, _, path = full
    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    messages, requests = [], []
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.on("dialog", lambda dialog: (messages.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(path.as_uri())
    page.wait_for_load_state("networkidle")
    page.evaluate("document.querySelectorAll('details').forEach(details => { details.open = true; })")
    shown = page.locator("#chart .row:not(.head) .name").all_inner_texts()
    scroll = page.evaluate("document.documentElement.scrollWidth")
    ink, paper = page.evaluate(
        """() => [document.querySelector("#path svg text"), document.documentElement].map(
            (element, i) => getComputedStyle(element)[i ? "backgroundColor" : "fill"])"""
    )
    beyond = page.evaluate(
        """() => [...document.querySelectorAll("figure svg")].flatMap(svg => [...svg.querySelectorAll("text")]
          .filter(text => {
            const [inner, outer] = [text.getBoundingClientRect(), svg.getBoundingClientRect()];
            return inner.left < outer.left - 1 || inner.right > outer.right + 1;
        })).map(text => text.textContent)"""
    )
    page.close()
    assert messages == []
    assert [url for url in requests if not url.startswith(("file:", "data:"))] == []
    assert {X.columns[i] for i in selector.selected_} <= set(shown) and NASTY in shown
    assert scroll <= width
    assert beyond == []
    light, dark = sorted([brightness(ink), brightness(paper)], reverse=True)
    assert light - dark > 150
    assert (brightness(paper) > brightness(ink)) == (scheme == "light")


def brightness(colour):
    return sum(int(part) for part in re.findall(r"\d+", colour)[:3]) / 3


def open_page(browser, path, **options):
    """A page and what it complains about."""
    page = browser.new_page(**options)
    page.on("console", lambda message: pytest.fail(message.text))
    page.on("pageerror", lambda error: pytest.fail(str(error)))
    page.goto(path.as_uri())
    return page


def names_shown(page):
    return page.locator("#chart ol.rows > li > .row .name, #chart ol.rows > li > details > summary .name")


@pytest.mark.parametrize("width", [390, 1280])
def test_rows_open_and_sort(alike, browser, width):
    page = open_page(browser, alike[1], viewport={"width": width, "height": 800})
    rows = page.locator("#chart ol.rows > li")
    by_lost = names_shown(page).all_inner_texts()
    assert rows.count() == 4 and by_lost[0] == "a, b or c"
    assert page.locator(".members").is_hidden()
    page.locator("summary", has_text="a, b or c").click()
    assert page.locator(".members .name").all_inner_texts() == ["c", "a", "b"]
    assert page.locator(".members").is_visible()
    page.get_by_role("button", name="factor").click()
    assert names_shown(page).all_inner_texts() == sorted(by_lost)
    page.get_by_role("button", name="alone").click()
    alone = [float(text) for text in rows.evaluate_all("rows => rows.map(row => row.dataset.alone)")]
    assert alone == sorted(alone, reverse=True)
    page.get_by_role("button", name="lost without").click()
    assert names_shown(page).all_inner_texts() == by_lost
    assert page.locator("#others > summary").inner_text() == "1 other was left out"
    page.close()


def test_without_scripts_the_page_shows_the_same(alike, browser):
    page = open_page(browser, alike[1], java_script_enabled=False)
    assert names_shown(page).all_inner_texts()[0] == "a, b or c"
    assert page.get_by_role("button", name="alone").is_disabled()
    page.locator("summary", has_text="a, b or c").click()
    assert page.locator(".members").is_visible()
    page.close()


def test_in_print_it_is_black_on_white(full, browser):
    page = browser.new_page(color_scheme="dark")
    page.goto(full[3].as_uri())
    page.emulate_media(media="print")
    paper = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    pages = len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4")))
    page.close()
    assert brightness(paper) == 255
    assert 2 <= pages <= 6


# --- everyday data ----------------------------------------------------------------------------------------------------


def everyday(tmp_path, X, y, more=None, **options):
    """The page of a fit, and the fit."""
    selector = FIRST(**options).fit(X, y, **(more or {}))
    selector.report(tmp_path / "page.html", X, y)
    return page_of(tmp_path / "page.html"), selector


def test_several_classes_and_missing_values_are_told(tmp_path):
    X, y = mixed(300)
    X.loc[:29, "size"], X.loc[5:9, "make"] = np.nan, None
    kinds = np.array(["low", "middle", "high"])[np.digitize(y, np.quantile(y, [0.3, 0.7]))]
    page, selector = everyday(tmp_path, X, pd.Series(kinds, name="grade"))
    assert "of the Gini impurity of grade" in text_of(section(page, "ceiling"))
    data = text_of(section(page, "data"))
    assert "one of 3 classes; its Gini impurity is" in data
    assert "high (90), low (90) and middle (120)" in data
    assert "Missing values: size 30 and make 5. A missing value counts as a level of its own" in data
    summaries = {row[0]: row[3] for row in rows_of(section(page, "data").find("table"))}
    assert "30 missing" in summaries["size"]
    assert "each line is the share of a class" in text_of(section(page, "effects"))
    assert selector.selected_.size


def test_outputs_and_groups_of_columns_have_panels_of_their_own(tmp_path):
    X, y = mixed(300)
    outputs = pd.DataFrame({"first": y, "second": X["load"]})
    page, selector = everyday(tmp_path, X, outputs, factor_groups={"both": ["size", "load"]}, forced=["count"])
    assert "What do first and second depend on?" in text_of(page.find(".//h1"))
    effects = section(page, "effects")
    assert "each line is the local mean of an output" in text_of(effects)
    captions = [text_of(caption) for caption in effects.iter("figcaption")]
    assert captions[:2] == ["both: size", "both: load"]
    assert "Always in: count." in text_of(section(page, "importance"))
    assert "2 outputs, standardised and explained together; its variance" in text_of(section(page, "data"))
    assert rows_of(section(page, "data").find("table"))[0][3] == "first and second"
    assert selector.indices_.names[0] == "both"


def test_rows_that_were_left_out_are_not_on_the_page(tmp_path):
    X, y = mixed(300)
    y = y.copy()
    X.loc[:9, "load"], y[100:120] = np.nan, np.nan
    page, selector = everyday(tmp_path, X, y, missing="drop")
    assert selector.indices_.n_rows == 270
    assert "270 rows × 6 columns" in text_of(section(page, "data"))
    assert "20 rows without a response were left out." in text_of(page)
    with pytest.raises(ValueError, match="X must have the rows that were analysed"):
        selector.report(tmp_path / "page.html", X.iloc[:200], y[:200])


@pytest.mark.parametrize("goal", ["explain", "predict"])
def test_a_page_says_which_factors_only_help_to_predict(goal, tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 12))).add_prefix("x")
    X["y"] = 2 * X["x0"] + 0.15 * X.loc[:, "x1":"x10"].sum(axis=1) + rng.normal(size=300)
    rank(X, "y", goal=goal).report(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert ("Factors that help to predict, without enough evidence, come last" in text) == (goal == "predict")
    assert ("For prediction, " in text) == (goal == "predict")


@pytest.mark.parametrize(("for_report", "times"), [(True, 1), (False, 2)])
def test_a_report_encodes_the_table_once_at_most(monkeypatch, tmp_path, for_report, times):
    encoded, encode = [], observations.encode_table
    monkeypatch.setattr(observations, "encode_table", lambda *given: encoded.append(given) or encode(*given))
    X, y = problems.friedman.sample(300, seed=0, frame="polars")
    make_ranking(X.with_columns(y), "y", None, {}, for_report).report(tmp_path / "report.html")
    assert len(encoded) == times
    assert 'aria-label="y over' in (tmp_path / "report.html").read_text()  # two factors together were looked at, too


# --- your model, a sensitive table, and what to do next ---------------------------------------------------------------


@pytest.fixture(scope="module")
def patients():
    """A table with a rare level, a unique number and a row that holds the variance."""
    rng = np.random.default_rng(0)
    ward = np.where(np.arange(300) < 4, "rare disease", rng.choice(["heart", "lung"], 300))
    frame = pl.DataFrame({"ward": ward, "age": rng.integers(18, 90, 300).astype(float), "bmi": rng.normal(25, 3, 300)})
    cost = frame["age"] + 20 * (frame["ward"] == "heart").cast(pl.Float64) + rng.normal(0, 3, 300)
    table = frame.with_columns(cost=cost, visit=pl.int_range(300).cast(pl.String) + " visits")
    table[7, "age"], table[9, "cost"] = 117.25, 4321.5
    return table


def test_a_sensitive_page_shows_nothing_of_single_rows(patients, tmp_path):
    ranking = rank(patients, "cost", response_scale="ranks")
    plain, hidden = tmp_path / "plain.html", tmp_path / "hidden.html"
    ranking.report(plain)
    ranking.report(hidden, sensitive=True)
    before, after = (path.read_text(encoding="utf-8") for path in (plain, hidden))
    for told in ("rare disease", "117.2", "4322", "Row 10 holds", "all different", "dots are rows"):
        assert told in before and told not in after, told
    assert (
        "One row holds" in after and "Single rows are not shown, nor bins and cells with fewer than 10 rows." in after
    )
    effects = section(page_of(hidden), "effects")
    assert "1 other" in [text_of(one) for one in effects.iter("text")]
    n_dots = [
        sum(len(list(svg.iter("use"))) for svg in section(page_of(path), "effects").iter("svg"))
        for path in (plain, hidden)
    ]
    assert n_dots[0] > 600 and n_dots[1] < 100
    row = next(row for row in rows_of(section(page_of(hidden), "data").find("table")) if row[0] == "ward")
    assert row[3].startswith("3 levels: ") and row[3].endswith(", …")


def test_the_score_of_a_model_is_on_the_bar(tmp_path):
    selector = FIRST(rule="calibrated", random_state=0).fit(*friedman(200))
    write_report(selector, tmp_path / "page.html", model_score=0.9)
    ceiling = section(page_of(tmp_path / "page.html"), "ceiling")
    mark = ceiling.find(".//span[@class='model right']")
    assert mark.get("style") == "left: 90.0%" and text_of(mark) == "your model 90 %"
    assert "; your model has 0.90" in ceiling.find("div").get("aria-label")
    assert text_of(ceiling.find("p[@id='model']")).startswith("Your model: an R² of 0.90 is ")
    write_report(selector, tmp_path / "page.html")
    assert "your model" not in (tmp_path / "page.html").read_text(encoding="utf-8").lower()


@pytest.mark.parametrize(
    ("options", "how"),
    [
        ({}, "Each row is compared with those nearest to it; no model is fitted."),
        (
            {"variance_estimator": "extrapolated"},
            "Local linear functions are fitted to each row and those nearest to it.",
        ),
        (
            {"rule": "calibrated"},
            "Smooth functions of the factors are fitted to all rows, and their residuals compared",
        ),
    ],
)
def test_the_page_says_how_the_rows_were_used(tmp_path, options, how):
    FIRST(random_state=0, **options).fit(*friedman(100)).report(tmp_path / "page.html")
    page = page_of(tmp_path / "page.html")
    assert how in text_of(page.find(".//p[@id='method']")) and how in text_of(section(page, "reading"))


@pytest.mark.parametrize(
    ("noise", "todo"), [(0.5, "it should come close to"), (3, "compare its R²"), (12, "Other models")]
)
def test_the_next_step_depends_on_the_ceiling(tmp_path, noise, todo):
    X, y = friedman(600)
    y = y + np.random.default_rng(0).normal(scale=noise, size=600)
    FIRST(rule="calibrated", random_state=0).fit(X, y).report(tmp_path / "page.html")
    assert todo in text_of(page_of(tmp_path / "page.html").find(".//p[@id='next']"))


def test_columns_stand_in_the_order_of_the_chart(full):
    page = page_of(full[3])
    drivers = [
        name for row in chart_rows(page) for name in [member["name"] for member in row["members"]] or [row["name"]]
    ]
    table = [row[0] for row in rows_of(section(page, "data").find("table"))[1:]]
    assert table[: len(drivers)] == drivers


def test_the_next_step_is_not_to_train_on_what_contains_the_response(tmp_path):
    rng = np.random.default_rng(0)
    table = pl.DataFrame(rng.normal(size=(300, 2)), schema=["a", "b"])
    table = table.with_columns(y=(pl.col("a") + 5).exp() * 1e6).with_columns(z=pl.col("y").log())
    make_ranking(table, "y", None, {}).report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Train a model without" in page and "known before y." in page and "Train a model of z" not in page


@pytest.mark.parametrize("scale", [1, 1e5])
def test_numbers_beside_an_effect_are_not_cut_off(scale, tmp_path):
    X, y = friedman(200)
    FIRST().fit(X, scale * y).report(tmp_path / "report.html", X, scale * y)
    effects = re.findall(r'<svg viewBox="0 0 216 .*?</svg>', (tmp_path / "report.html").read_text(), re.DOTALL)
    beside = [re.findall('text-anchor: end[^>]* x="([0-9.-]+)"[^>]*>([^<]+)<', effect) for effect in effects]
    assert len(effects) > 3 and all(beside)
    assert all(float(end) > 5.2 * len(text) for numbers in beside for end, text in numbers if text.isascii())
