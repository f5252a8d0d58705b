"""
Screening 5,000 columns
=======================

Gene expression, spectra or sensor logs have thousands of columns and few rows.
Can the handful that matter be found?

This table has 500 rows and 5,000 columns. Four columns matter:

- ``x10``, as a wave;
- ``x4000``, as a parabola, so that its correlation with the response is 0;
- ``x200`` and ``x3000``, as a product, so that neither matters alone.
"""

import time

import matplotlib.pyplot as plt
import numpy as np

from firstfactor import FIRST
from firstfactor.plots import plot_path

rng = np.random.default_rng(0)
X = rng.normal(size=(500, 5000)).astype(np.float32)
signal = 1.5 * np.sin(2 * X[:, 10]) + 0.7 * X[:, 4000] ** 2 + X[:, 200] * X[:, 3000]
y = signal + rng.normal(0, 0.5, len(X))

# %%
# What correlation sees
# ---------------------
# Ranking columns by their correlation with the response is the usual way to screen.
# The picture shows where the four columns come out among 5,000.

correlation = np.abs((X - X.mean(0)).T @ (y - y.mean())) / (len(y) * X.std(0) * y.std())
true = [10, 200, 3000, 4000]
places = np.argsort(np.argsort(-correlation)) + 1
fig, ax = plt.subplots(figsize=(6.4, 3), layout="constrained")
ax.plot(np.arange(1, 5001), np.sort(correlation)[::-1], color="grey", label="all columns, sorted")
for j in true:
    ax.plot(places[j], correlation[j], "o", label=f"x{j} (place {places[j]:,})")
ax.set(xlabel="place", ylabel="|correlation| with the response", xscale="log", xlim=(0.8, 6500))
ax.legend()
plt.show()

# %%
# Only ``x10`` stands out. The other three are hidden among hundreds of columns of noise.
#
# What FIRST sees
# ---------------

start = time.perf_counter()
selector = FIRST(rule="calibrated", random_state=0).fit(X, y)
seconds = time.perf_counter() - start
for j in selector.selected_:
    print(f"{selector.factor_names_[j]:>6}  importance {selector.importances_[j]:.2f}  p {selector.p_values_[j]:.1g}")
print(f"R² ceiling: {selector.r2_ceiling_:.2f}, true {1 - 0.25 / (signal.var() + 0.25):.2f}")
print(f"{seconds:.0f} seconds")

# %%
# All four are found, and none of the other 4,996.
# The path shows in which order: ``x200`` and ``x3000`` enter together.

plot_path(selector)
plt.show()

# %%
# The calibrated rule estimates how good the best of 5,000 columns of noise would look, so that many columns do not mean
# many false ones.
# The paper's rule, ``FIRST()``, is faster, but here it selects ``x10``, ``x4000`` and a column of noise.
# For tables that do not fit into memory, see the parameter ``memory`` of :func:`firstfactor.rank`.
