"""
Selecting factors in a pipeline, and tuning it
==============================================

How do I use firstfactor in front of a model, and choose its parameters by cross-validation?
:class:`firstfactor.FIRST` is a scikit-learn selector, so it goes into a pipeline and a grid search like any other.

We take the diabetes table of scikit-learn and add 40 columns of noise.
A nearest-neighbour model suffers from them, because noise counts in its distances.
"""

from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from firstfactor import FIRST

X, y = load_diabetes(as_frame=True, return_X_y=True)
rng = np.random.default_rng(0)
noise = pd.DataFrame(rng.normal(size=(len(X), 40)), columns=[f"noise {j}" for j in range(40)])
X = pd.concat([X, noise], axis=1)
print(f"{X.shape[0]} rows, {X.shape[1]} factors")

# %%
# With and without selection
# --------------------------
# The selector is part of the pipeline, so factors are selected anew from the training rows of each fold.
# If they were selected from all rows before, the score would be too good.

model = make_pipeline(StandardScaler(), KNeighborsRegressor(n_neighbors=20))
selector = FIRST(rule="calibrated", random_state=0)
plain = cross_val_score(model, X, y, cv=3)
selected = cross_val_score(make_pipeline(selector, *model), X, y, cv=3)
print(f"R² with all factors:      {plain.mean():.2f}")
print(f"R² with selected factors: {selected.mean():.2f}")

# %%
# A grid search
# -------------
# Parameters have the usual names: ``first__alpha`` is ``alpha`` of the selector.
# ``alpha`` is the probability that the calibrated rule selects anything where there is only noise.
# With ``memory``, the pipeline keeps fitted selectors, so that each is fitted once for all numbers of neighbours.

neighbors = [5, 10, 20, 40]
with TemporaryDirectory() as folder:
    pipeline = make_pipeline(selector, StandardScaler(), KNeighborsRegressor(), memory=folder)
    grid = {"first__alpha": [0.01, 0.1, 0.5], "kneighborsregressor__n_neighbors": neighbors}
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
print(f"best: {search.best_params_}, R² {search.best_score_:.2f}")

# %%
# The picture shows all scores of the grid, and those of the model with all factors.

scores = pd.DataFrame(search.cv_results_).pivot(
    index="param_kneighborsregressor__n_neighbors", columns="param_first__alpha", values="mean_test_score"
)
everything = GridSearchCV(model, {"kneighborsregressor__n_neighbors": neighbors}, cv=3).fit(X, y)

fig, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
for alpha, style in zip(scores, ("o-", "s--", "^:"), strict=True):
    ax.plot(scores.index, scores[alpha], style, label=f"selected, alpha = {alpha}")
ax.plot(neighbors, everything.cv_results_["mean_test_score"], "o-", color="grey", label="all factors")
ax.set(xlabel="neighbours of the model", ylabel="R² (3 folds)", xticks=neighbors, ylim=(0, 0.5))
ax.legend()
plt.show()

# %%
# The model does better with selected factors for every number of neighbours.
# From 10 neighbours on, it hardly matters for the predictions how strict the selection is.
#
# Prediction is not evidence
# --------------------------
# A grid search looks for good predictions. One useless factor more costs a model little, so it may get in.
# The fitted selector is the first step of the best pipeline. Here is what each ``alpha`` selects from all rows.

best = search.best_estimator_["first"]
for alpha in scores:
    fitted = best if alpha == best.alpha else FIRST(rule="calibrated", alpha=alpha, random_state=0).fit(X, y)
    print(f"alpha = {alpha}: {', '.join(fitted.get_feature_names_out())}")

# %%
# A column of noise gets in with ``alpha=0.5``, and in this table with ``alpha=0.1`` as well: among 40 columns of noise,
# one looked good enough by chance. ``alpha=0.01`` keeps it out.
# Tune ``alpha`` if you want predictions. If you want to know what the response depends on, choose it beforehand.
