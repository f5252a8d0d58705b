"""What is written at axes."""

import pytest
from matplotlib.figure import Figure

from firstfactor.plots.axes import separate_thousands


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        ((0, 18_820), ["0", "5,000", "10,000", "15,000"]),
        ((-20_000, 0), ["−20,000", "−10,000", "0"]),
        ((1900, 2100), ["1900", "2000", "2100"]),
        ((0, 1), ["0.0", "0.2", "1.0"]),
    ],
)
def test_numbers_of_more_than_four_digits_have_separators(ends, expected):
    figure = Figure()
    ax = figure.add_subplot()
    ax.set_ylim(*ends)
    separate_thousands(ax)
    figure.canvas.draw()
    texts = [text.get_text() for text in ax.get_yticklabels()]
    assert set(expected) <= set(texts)
