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
# ``interval`` accounts for chance and for bias.

for level in (0.80, 0.95):
    for j in selector.selected_:
        low, high = selector.interval(level)[j]
        print(f"{level:.0%} interval of {selector.factor_names_[j]}: {low:.2f} to {high:.2f}")

# %%
# The intervals of triglycerides and body mass index overlap, so these rows cannot order the two.
# Those of blood pressure and sex reach 0, although their p-values are small.
# It is clear that they add something, but not how much.
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
# All 50 halves select body mass index, and most of them triglycerides and blood pressure. Sex needs all rows.
#
# The second line bounds how many of these factors are selected no more often than a factor drawn at random.
# Here the bound is above 3, the number of frequent factors, so it says nothing.
# It helps where few of many factors are selected.
#
# If a selection is not stable, look at ``selector.clusters_``: factors that can replace each other take turns.
