"""
How sure is it? Intervals and stability
=======================================

An importance is an estimate.
How far off may it be, and would other rows select the same factors?

We look at the diabetes table of scikit-learn again: 442 rows are not many.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes

from firstfactor import FIRST, stability
from firstfactor.plots import plot_stability

X, y = load_diabetes(as_frame=True, return_X_y=True, scaled=False)
X = X.rename(columns={"s1": "cholesterol", "s2": "ldl", "s3": "hdl", "s4": "tc/hdl", "s5": "triglycerides"})
X = X.rename(columns={"s6": "glucose", "bp": "blood pressure"})
selector = FIRST(rule="calibrated", random_state=0).fit(X, y)

# %%
# Intervals
# ---------
# ``interval`` takes account of chance, and of the bias that comes from neighbours that are not at the same place.

for level in (0.80, 0.95):
    for j in selector.selected_:
        low, high = selector.interval(level)[j]
        print(f"{level:.0%} interval of {selector.factor_names_[j]}: {low:.2f} to {high:.2f}")

# %%
# The intervals of the two overlap, so these rows do not tell for sure which of them is more important.
# Neither reaches 0: both matter.
#
# Stability
# ---------
# Would half of the rows have selected the same?
# :func:`firstfactor.stability` splits the rows at random into halves, many times, and selects on each.

halves = stability(X, y, selector=selector, n_pairs=25, random_state=0)
print(halves)

# %%
plot_stability(halves)
plt.show()

# %%
# All 50 halves select the same two factors. Others get in by chance, now and then.
#
# The second line bounds how many of the selected factors may be there although they are selected no more often than
# if factors were drawn by lot. Here the bound is above 2, the number selected, so it says nothing.
# It helps where few of many factors are selected.
#
# A selection that is not stable is no reason to give up: factors that stand in for each other take turns.
# Look at ``selector.clusters_`` then.
