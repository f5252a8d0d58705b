"""Every parameter is defined once, and all that takes it agrees on its name and default."""

import ast
import inspect
import re
from dataclasses import fields
from pathlib import Path
from string import Formatter

import pytest
from sklearn.base import clone

import firstfactor
from firstfactor import FIRST, rank, total_indices
from firstfactor._utils.checks import InputError
from firstfactor.cli.errors import as_typed
from firstfactor.cli.options import flag
from firstfactor.first import DEPRECATED
from firstfactor.problems import friedman
from firstfactor.settings import (
    RANK,
    Options,
    OptionsDict,
    RankSettings,
    Settings,
    find,
    help_text,
)


def test_first_has_all_parameters_with_their_defaults():
    signature = inspect.signature(FIRST).parameters
    known = {each.name: each.default for each in fields(Settings) if each.name not in DEPRECATED}
    assert {name: each.default for name, each in signature.items()} == known
    assert len(known) <= 20


def test_rank_has_its_parameters_with_their_defaults():
    signature = inspect.signature(rank).parameters
    assert [*signature][:3] == ["data", "target", "progress"] and tuple(signature)[3:] == RANK
    assert all(signature[name].default == find(name).default for name in RANK)


def test_only_the_rule_has_another_default_in_rank():
    differ = [each.name for each in fields(Settings) if find(each.name) != each]
    assert differ == ["rule"] and (Settings.rule, RankSettings.rule) == ("paper", None)
    there, here = find("rule", Settings).metadata, find("rule").metadata
    assert here["choices"] == there["choices"] and here["help"].startswith(there["help"])
    with pytest.raises(ValueError, match=re.escape("rule must be one of 'paper', 'calibrated'; got 'best'.")):
        RankSettings(rule="best")


def test_type_checkers_know_the_same_names():
    assert set(OptionsDict.__annotations__) == {each.name for each in fields(Options)}
    shared = {each.name for each in fields(Settings)}
    assert (
        {each.name for each in fields(RankSettings)} - shared
        <= set(RANK)
        <= {each.name for each in fields(RankSettings)}
    )


def test_rank_decides_what_follows_from_its_parameters():
    settings = RankSettings.parse({"method": "first-fast", "jobs": 2, "seed": 5})
    assert (settings.n_jobs, settings.random_state, settings.rule, settings.forward) == (2, 5, "paper", "fast")
    assert RankSettings.parse({}).rule == "calibrated" and RankSettings.parse({"rule": "paper"}).rule == "paper"
    assert RankSettings.parse({}).resolve_estimator().variance_estimator == "adaptive"


@pytest.mark.parametrize("item", [FIRST, rank])
def test_help_texts_are_filled_into_docstrings(item):
    settings = RankSettings if item is rank else Settings
    for name in RANK if item is rank else [each.name for each in fields(Settings) if each.name not in DEPRECATED]:
        words, kind = " ".join(item.__doc__.split()), find(name, settings).metadata["kind"]
        assert f"{name} : {kind} {help_text(name, settings)}" in words
    assert "{parameters}" not in item.__doc__


def test_mentions_in_errors_and_help_texts_are_parameters():
    """A field that is neither a value nor a parameter would be shown as it is."""
    sources = [path.read_text() for path in Path(firstfactor.__file__).parent.rglob("*.py")]
    calls = [node for text in sources for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    known = {*(each.name for each in fields(RankSettings)), "target", "sample_weight", "X", "y"}
    known |= {"None, ", "None or ", " of X", "Use scale", "use scale"}
    found = 0
    for call in calls:
        name = getattr(call.func, "attr", getattr(call.func, "id", None))
        if name not in ("InputError", "InputTypeError", "Message", "ClusterError", "parameter") or not call.args:
            continue
        values = {keyword.arg for keyword in call.keywords} | {"example"}
        texts = call.args[2:3] if name == "parameter" else call.args
        for text in (each.value for each in texts if isinstance(each, ast.Constant)):
            marked = [field for _, field, _, _ in Formatter().parse(str(text)) if field is not None]
            assert {field.partition("=")[0] for field in marked} <= known | values, text
            found += len(marked)
    assert found > 200


@pytest.mark.parametrize("name", RANK)
def test_every_parameter_of_rank_has_an_option_with_its_help(name, capsys, monkeypatch):
    from firstfactor.cli import main

    monkeypatch.setattr("sys.argv", ["firstfactor", "rank", "--help"])
    main._main()
    shown = " ".join(capsys.readouterr().out.split())
    assert f" {flag(name)} " in shown


@pytest.mark.parametrize(
    ("template", "typed"),
    [
        ('Use {missing="drop"} to leave out rows, or {drop=} to leave out columns.',
         "Use --missing drop to leave out rows, or --drop to leave out columns."),
        ("Use {na='?'} if it stands for missing values.", "Use --na '?' if it stands for missing values."),
        ("{target}: t.csv has no column 'x'.", "--target: t.csv has no column 'x'."),
        ("{n_neighbors} must be at least 2.", "--n-neighbors must be at least 2."),
        ("{n_outer} must be {None, }a number.", "--n-outer must be a number."),
        ("{scale=False} is for small values. {Use scale=True}.",
         "--no-scale is for small values. Leave out --no-scale."),
        ("{factor_groups}: column 'x'{ of X} is in none.", "--factor-groups: column 'x' is in none."),
        ("{max_factors} must be 1, or use {date_parts=}.", "--max-factors must be 1, or use --date-parts."),
        ("{sample_weight} or {random_state=} for {y}: n_jobs=1", "--weight or --seed for the target: n_jobs=1"),
        ("column 'n_jobs=1' of y has {{scale=False}}", "column 'n_jobs=1' of y has {scale=False}"),
    ],
)  # fmt: skip
def test_messages_name_options_as_they_are_typed(template, typed):
    assert InputError(template).render(as_typed) == typed


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_neighbour": 3}, "there is no option 'n_neighbour'. Did you mean 'n_neighbors'?"),
        ({"rule": "calibrated"}, "there is no option 'rule'"),
    ],
)
def test_functions_refuse_what_they_do_not_know(options, message):
    with pytest.raises(TypeError, match=re.escape(message)):
        total_indices([[0.0], [1.0], [3.0]], [0.0, 1.0, 3.0], **options)


def test_public_names_have_docstrings_with_sections():
    for name in ("FIRST", "rank", "total_indices", "backward_elimination", "explained_variance", "stability"):
        assert "Parameters\n" in inspect.getdoc(getattr(firstfactor, name))


def test_old_names_work_and_warn_in_everything_that_takes_them():
    X, y = friedman.sample(80, seed=0, frame="pandas")
    now = total_indices(X, y, variance_estimator="extrapolated", response_scale="ranks")
    with pytest.warns(FutureWarning, match="response is now called response_scale; the old name works until 0.5"):
        before = total_indices(X, y, variance_estimator="extrapolated", response="ranks")
    assert before.values.tolist() == now.values.tolist()
    with pytest.warns(FutureWarning, match="estimator is now called variance_estimator") as caught:
        assert rank(X.assign(y=y), "y", estimator="nearest").settings["variance_estimator"] == "nearest"
    assert caught[0].filename == __file__
    with pytest.warns(FutureWarning, match="estimator is now called"):
        selector = FIRST(estimator="extrapolated")
    assert clone(selector).get_params() == FIRST(variance_estimator="extrapolated").get_params()
    with pytest.warns(FutureWarning, match="estimator is now called"):
        assert FIRST().set_params(estimator="nearest").variance_estimator == "nearest"
    with pytest.raises(TypeError, match=r"cluster= and scheduler= are the same parameter\. Leave out one of them."):
        rank(X, y, cluster="tcp://a", scheduler="tcp://a")


def test_rank_takes_names_of_scikit_learn():
    given = {"random_state": 3, "n_jobs": 1, "sample_weight": "w"}
    assert RankSettings.parse(given) == RankSettings.parse({"seed": 3, "jobs": 1, "weight": "w"})
    with pytest.raises(TypeError, match=r"random_state= and seed= are the same parameter\. Leave out one of them."):
        RankSettings.parse({"random_state": 3, "seed": 3})
    with pytest.raises(TypeError, match=r"there is no option 'randomstate'. Did you mean 'random_state'\?$"):
        RankSettings.parse({"randomstate": 3})
