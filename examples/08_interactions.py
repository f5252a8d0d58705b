"""
Interactions: factors that matter only together
===============================================

A light on the stairs has two switches. Neither tells alone whether the light is on; both together do.
Can firstfactor find such pairs, and say that they work together?

Here the response is high if exactly one of ``a`` and ``b`` is positive (XOR).
A third factor adds to it, and five more have no effect.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.feature_selection import f_regression

from firstfactor import FIRST, interactions
from firstfactor.plots import plot_effects, plot_pair

rng = np.random.default_rng(0)
X = pd.DataFrame(rng.normal(size=(1000, 8)), columns=list("abcdefgh"))
y = ((X["a"] > 0) ^ (X["b"] > 0)) + 0.3 * X["c"] + rng.normal(0, 0.2, len(X))

# %%
# A test of one factor at a time does not detect ``a`` and ``b``.

_, p_values = f_regression(X, y)
print(pd.Series(p_values, X.columns).round(3).to_string())

# %%
# :class:`firstfactor.FIRST` finds them.
# ``alone_`` says that ``a`` and ``b`` explain next to nothing by themselves.

selector = FIRST(rule="calibrated", random_state=0).fit(X, y)
print(selector.indices_)
print("alone:", dict(zip("abc", selector.alone_[:3].round(2).tolist(), strict=True)))

# %%
# The importances of ``a``, ``b`` and ``c`` add up to far more than 1.
# What a pair does together is lost without either of them, and counts in both.
#
# Which factors work together?
# ----------------------------
# :func:`firstfactor.interactions` compares the joint index of each pair with the indices of both.
# A negative value says that they work together, a positive one that they carry the same information.
# With the selected factors only, the estimates are more precise.

pairs = interactions(X[["a", "b", "c"]], y)
print(pairs)

# %%
# ``a`` and ``b`` work together. The other two pairs are within what chance would show.
#
# What it looks like
# ------------------
# One factor at a time, ``a`` and ``b`` have no effect. The lines are flat.

plot_effects(X, y, selector)
plt.show()

# %%
# Two factors at once show what is going on: two bright and two dark corners.

plot_pair(X, y, selector, "a", "b")
plt.show()
