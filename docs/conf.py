"""How the documentation is built: `sphinx-build -W -b html docs docs/_build/html`."""

from importlib.metadata import version as version_of
from pathlib import Path

project = "firstfactor"
author = "The firstfactor developers"
copyright = f"2026, {author}"  # noqa: A001
version = release = version_of("firstfactor")

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "sphinx-mathjax-offline",  # equations are shown without a network, too
]
exclude_patterns = ["_build"]
nitpicky = False

# Markdown, with equations and headings that can be linked to
myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4

# Reference
default_role = "py:obj"  # `rank` in a docstring is a link
autodoc_typehints = "none"  # docstrings have them
autosummary_generate = True
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

# Examples are run when the pages are built.
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/\d\d_",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_signature": False,
    "remove_config_comments": True,
    "write_computation_times": False,
    "abort_on_example_error": True,
}

html_theme = "pydata_sphinx_theme"
html_title = "firstfactor"
html_static_path = ["_static"]
html_favicon = html_logo = "_static/logo.svg"
html_css_files = ["site.css"]
html_show_sourcelink = False
html_context = {"default_mode": "auto"}
# Pages without pages below them need no navigation at the side.
html_sidebars = {page: [] for page in ("install", "five-minutes", "theory", "changelog")}
html_theme_options = {
    "logo": {"text": f"firstfactor {version}"},
    "external_links": [{"name": "Source", "url": "https://github.com/firstfactor/firstfactor"}],
    "navbar_align": "left",
    "navbar_persistent": ["search-button"],
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "header_links_before_dropdown": 9,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}


def write_report(app, failure):
    """Write the report that the first page shows."""
    if failure is None and app.builder.name == "html":
        from sklearn.datasets import load_diabetes

        from firstfactor import rank

        table = load_diabetes(as_frame=True, scaled=False).frame.rename(columns={"s5": "triglycerides"})
        call = 'rank(table, "target")'
        rank(table, "target").report(Path(app.outdir) / "diabetes.html", title="Diabetes", call=call)


def setup(app):
    """Register what is written beside the pages."""
    app.connect("build-finished", write_report)
