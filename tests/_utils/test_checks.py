"""Errors that name parameters."""

import copy
import pickle

import pytest

from firstfactor._utils.checks import InputError, InputTypeError, Mention, Message, at_least, number
from firstfactor.cluster.client import ClusterError


def shout(parameter):
    return f"<{parameter.name.upper()}|{parameter.value}>"


def test_a_message_is_written_for_python_and_rendered_for_others():
    error = InputError(
        "{n_outer} must be {least:,} or more; got {given!r}. {way_out}",
        least=1000,
        given="{y}",
        way_out=Message("Use {scale=True} or {other}.", other=Mention("method", "")),
    )
    assert str(error) == "n_outer must be 1,000 or more; got '{y}'. Use scale=True or method=."
    assert error.render(shout) == "<N_OUTER|None> must be 1,000 or more; got '{y}'. Use <SCALE|True> or <METHOD|>."
    assert repr(error) == f"InputError({str(error)!r})"


@pytest.mark.parametrize("kind", [InputError, InputTypeError, ClusterError])
@pytest.mark.parametrize("twin", [copy.copy, lambda error: pickle.loads(pickle.dumps(error))])
def test_errors_survive_a_copy(kind, twin):
    error = twin(kind("{y} is {what}.", what="{odd}"))
    assert (
        type(error) is kind
        and str(error) == error.args[0] == "y is {odd}."
        and error.render(shout) == "<Y|None> is {odd}."
    )


def test_kinds_of_errors():
    assert issubclass(InputError, ValueError) and issubclass(InputTypeError, TypeError)
    assert issubclass(ClusterError, ConnectionError)


def test_checks_name_the_parameter_or_a_part_of_it():
    with pytest.raises(ValueError, match=r"^sample must be a whole number of at least 3; got 2\.$") as caught:
        at_least("sample", 2, 3)
    assert caught.value.render(shout).startswith("<SAMPLE|None> must be")
    with pytest.raises(ValueError, match=r"^period of 'a' must be a number of at least 0; got -1\.$") as caught:
        number(Message("{period} of {name!r}", name="a"), -1, 0)
    assert caught.value.render(shout).startswith("<PERIOD|None> of 'a' must be")
