"""Every parameter is defined once, and all that takes it agrees on its name and default."""

import inspect
import re
from dataclasses import fields

import pytest

import firstfactor
from firstfactor import FIRST, rank, total_indices
from firstfactor.cli.options import as_typed, flag
from firstfactor.parameters import (
    RANK,
    RANKING,
    SELECTOR,
    Options,
    OptionsDict,
    Procedure,
    RankDict,
    RankParameters,
    document,
    find,
)


def test_first_has_all_parameters_with_their_defaults():
    signature = inspect.signature(FIRST).parameters
    known = {each.name: each.default for group in (Options, Procedure) for each in fields(group)}
    assert {name: each.default for name, each in signature.items() if name != "verbose"} == known


def test_rank_has_its_parameters_with_their_defaults():
    signature = inspect.signature(rank).parameters
    assert [*signature][:3] == ["data", "target", "progress"] and tuple(signature)[3:] == RANK
    assert all(signature[name].default == find(name).default for name in RANK)


def test_only_the_rule_has_another_default_in_rank():
    shared = [each for group in SELECTOR for each in fields(group) if each.name in RANK]
    differ = [each.name for each in shared if find(each.name).default != each.default]
    assert differ == ["rule"] and (Procedure.rule, RankParameters.rule) == ("paper", None)
    for name in differ:
        there, here = find(name, SELECTOR).metadata, find(name, RANKING).metadata
        assert here["choices"] == there["choices"] and here["help"].startswith(there["help"])
    with pytest.raises(ValueError, match=re.escape("rule must be one of 'paper', 'calibrated'; got 'best'.")):
        RankParameters(rule="best")


def test_type_checkers_know_the_same_names():
    assert set(OptionsDict.__annotations__) == {each.name for each in fields(Options)}
    assert set(RankDict.__annotations__) == set(RANK)
    assert {each.name for each in fields(RankParameters)} <= set(RANK)


@pytest.mark.parametrize("item", [FIRST, rank])
def test_help_texts_are_filled_into_docstrings(item):
    names = RANK if item is rank else [each.name for group in SELECTOR for each in fields(group)]
    for name in names:
        words, details = " ".join(item.__doc__.split()), find(name, RANKING if item is rank else SELECTOR).metadata
        assert f"{name} : {details['kind']} {details['help']}" in words
    assert not re.search(r"^ *\{\w+\}$", item.__doc__, re.MULTILINE)


def test_an_unknown_name_in_a_docstring_is_an_error():
    def function():
        """Do nothing.

        {n_neighbours}
        """

    with pytest.raises(StopIteration):
        document(function)


@pytest.mark.parametrize("name", RANK)
def test_every_parameter_of_rank_has_an_option_with_its_help(name, capsys, monkeypatch):
    from firstfactor.cli import main

    monkeypatch.setattr("sys.argv", ["firstfactor", "rank", "--help"])
    main._main()
    shown = " ".join(capsys.readouterr().out.split())
    assert f" {flag(name)} " in shown


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ('Use missing="drop" to leave out rows, or drop= to leave out columns.',
         "Use --missing drop to leave out rows, or --drop to leave out columns."),
        ("Use na='?' if it stands for missing values.", "Use --na '?' if it stands for missing values."),
        ("target: t.csv has no column 'x'.", "--target: t.csv has no column 'x'."),
        ("sample must be a whole number of at least 3.", "--sample must be a whole number of at least 3."),
        ("n_neighbors must be at least 2.", "--n-neighbors must be at least 2."),
        ("leave out scale=False.", "leave out --no-scale."),
        ("factor_groups: t.csv has no column 'x'.", "--group: t.csv has no column 'x'."),
        ("period of 'x' must be above 0.", "--period of 'x' must be above 0."),
        ("scale is for numbers.", "--scale is for numbers."),
        ("max_factors must be 1, or use date_parts=.", "--max-factors must be 1, or use --date-parts."),
        ("is also named in groups=.", "is also named in --groups."),
        ("column 'a=b' of t.csv has 3 gaps", "column 'a=b' of t.csv has 3 gaps"),
    ],
)  # fmt: skip
def test_messages_name_options_as_they_are_typed(text, typed):
    assert as_typed(text) == typed


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
