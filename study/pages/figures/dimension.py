"""FIRST with 50 to 1,000 factors: time."""

from matplotlib.figure import Figure

from ...data.labels import NAMES
from ...paper import printed_numbers
from ...runs.experiments import CORRELATIONS, DIMENSIONS
from ...scores.results import Results, at
from .style import EMPHASIS, GREY, add_legend, panels, use_log_scale


def draw_dimension(results: Results) -> Figure:
    """Time of FIRST against the number of factors, here and in the paper."""
    figure, grid = panels(1, 2, 3.6, sharey=True)
    markers = dict(zip(CORRELATIONS, "os^", strict=True))
    for axes, source in zip(grid[0], ("ishigami", "friedman"), strict=True):
        for rho, marker in markers.items():
            printed = [printed_numbers.DIMENSION[source, p, rho][2].value for p in DIMENSIONS]
            ours = [results.mean("FIRST", at(source, rho, p), "seconds").value for p in DIMENSIONS]
            axes.plot(DIMENSIONS, printed, marker=marker, color=GREY, linewidth=1.2, label=f"paper, ρ = {rho}")
            axes.plot(DIMENSIONS, ours, marker=marker, color=EMPHASIS, linewidth=2, label=f"here, ρ = {rho}")
        axes.set(xscale="log", xlabel="factors", title=NAMES[source])
        use_log_scale(axes)
        axes.set_xticks(DIMENSIONS, [f"{p:,}" for p in DIMENSIONS])
        axes.minorticks_off()
    grid[0, 0].set_ylabel("mean seconds of FIRST")
    add_legend(figure, grid.flat, 3)
    return figure
