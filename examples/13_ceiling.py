"""
How well could any model do?
============================

Your model has an R² of 0.45. Is that bad, or is there nothing more to find?
The R² ceiling is what the best possible model would reach with these factors.
It needs no model, so it tells whether the search for a better one is worth it.

We compare it with the scores of five models, once on simulated data where the ceiling is known, and once on real data.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from firstfactor import FIRST
from firstfactor.problems import friedman

models = {
    "ridge": RidgeCV(np.logspace(-3, 3, 7)),
    "neighbours": KNeighborsRegressor(10),
    "forest": RandomForestRegressor(50, min_samples_leaf=3, random_state=0),
    "boosting": GradientBoostingRegressor(random_state=0),
    "support vectors": SVR(C=10),
}


def compare(X, y):
    """Return the fitted selector and the R² of each model on the selected factors, by cross-validation."""
    selector = FIRST(rule="calibrated", random_state=0).fit(X, y)
    chosen = selector.transform(X)
    scores = {
        name: cross_val_score(make_pipeline(StandardScaler(), model), chosen, y, cv=5).mean()
        for name, model in models.items()
    }
    return selector, scores


def draw(ax, title, selector, scores):
    """Draw the score of each model and the ceiling with its interval."""
    ax.barh(list(scores), scores.values(), color="lightsteelblue")
    ax.axvspan(*selector.indices_.r2_interval(), color="tab:orange", alpha=0.3, label="95 % interval")
    ax.axvline(selector.r2_ceiling_, color="tab:orange", label="R² ceiling")
    ax.set(title=title, xlabel="R² (5 folds)", xlim=(0, 1))


# %%
# Simulated data
# --------------
# 600 rows of the Friedman function with noise of standard deviation 1.
# The variance of the function is known from a large sample, and so is the true ceiling.

X, y = friedman.sample(600, seed=0)
large, _ = friedman.sample(100_000, seed=1)
signal = np.var(friedman.function(large))
simulated, simulated_scores = compare(X, y)
print(f"true ceiling {signal / (signal + 1):.2f}, estimate {simulated.r2_ceiling_:.2f}")
for name, score in simulated_scores.items():
    print(f"{name:>18}: {score:.2f}")

# %%
# The estimate agrees with the truth. Support vectors are near the ceiling, and the others are well below it: here it is
# worth looking for a better model.
#
# Real data
# ---------

X, y = load_diabetes(as_frame=True, return_X_y=True)
real, real_scores = compare(X, y)
low, high = real.indices_.r2_interval()
print(f"ceiling {real.r2_ceiling_:.2f}, 95 % interval from {low:.2f} to {high:.2f}")
for name, score in real_scores.items():
    print(f"{name:>18}: {score:.2f}")

# %%
fig, axes = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained", sharey=True)
draw(axes[0], "Friedman function", simulated, simulated_scores)
draw(axes[1], "diabetes", real, real_scores)
axes[1].legend(loc="lower right", fontsize="small")
plt.show()

# %%
# On the diabetes table ridge regression and support vectors are within the interval of the ceiling.
# There is little to gain from a better model of these factors. To explain more, other factors are needed.
#
# The factors were selected from all rows, which flatters the models a little. None of them passes the ceiling even so.
