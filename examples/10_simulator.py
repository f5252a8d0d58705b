"""
Your own simulator: the true indices
====================================

You have a function or a simulator that you can run at any input.
How important is each input, and how many runs does it take to find out?

The function here is the deflection of a beam that is fixed at one end and carries a load at the other.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.stats import norm

from firstfactor import total_indices
from firstfactor.problems import CopulaInputs, monte_carlo_total_indices


def deflection(x):
    """Return how far the end of the beam moves, in millimetres, for each row of inputs."""
    load, length, stiffness, width, height = x.T
    return 1000 * 4 * load * length**3 / (stiffness * width * height**3)


# %%
# How the inputs vary
# -------------------
# Each input has a distribution. Width and height come from the same saw and are correlated (0.7).

names = ["load", "length", "stiffness", "width", "height"]
correlation = np.eye(5)
correlation[3, 4] = correlation[4, 3] = 0.7
inputs = CopulaInputs(
    [norm(1000, 200), norm(2, 0.05), norm(11e9, 1.5e9), norm(0.10, 0.004), norm(0.15, 0.006)], correlation, names
)

# %%
# The truth, from many runs
# -------------------------
# :func:`firstfactor.problems.monte_carlo_total_indices` runs the function where it needs it.
# Correlated inputs are no problem.

truth = monte_carlo_total_indices(deflection, inputs, seed=0)
print(truth)

# %%
# The load matters most. Width and height have small indices, because they are correlated.
# Their joint index says what is lost without both.

print(monte_carlo_total_indices(deflection, inputs, subset=["width", "height"], seed=0))

# %%
# The estimate, from a table
# --------------------------
# A slow simulator cannot be run 600,000 times.
# Often there is only a table of runs that were made for another purpose.
# Here are 1,000 random runs, less than 0.2 % of that.

runs = pd.DataFrame(inputs.sample(1000, seed=0), columns=names)
response = deflection(runs.to_numpy())
estimate = total_indices(runs, response, uncertainty=True, variance_estimator="adaptive")
print(estimate)

# %%
both = total_indices(runs, response, subset=["width", "height"], uncertainty=True, variance_estimator="adaptive")
print(both)

# %%
# Side by side
# ------------

fig, ax = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
low, high = estimate.interval().T
place = np.arange(len(names))
ax.barh(place, truth.values, color="lightsteelblue", label="truth, 600,000 runs")
errors = [estimate.values - low, high - estimate.values]
ax.errorbar(estimate.values, place, xerr=errors, fmt="o", capsize=4, label="estimate with 95 % interval, 1,000 runs")
ax.set_yticks(place, names)
ax.invert_yaxis()
ax.set_xlabel("total index")
ax.legend()
plt.show()

# %%
# Every interval holds the truth, and the order is right.
# The joint index of width and height is right as well: 0.27.
#
# If you can choose where to run your simulator, draw the inputs as they vary in reality, as here.
# For a response with noise, make the same call. ``estimate.noise_variance`` is then what the inputs cannot explain.
