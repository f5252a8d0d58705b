"""
Classes: how do the wines differ?
=================================

The response need not be a number.
The wine table of scikit-learn has 178 wines of three cultivars, and 13 chemical measurements of each.
Which measurements distinguish the cultivars?
"""

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from firstfactor import FIRST
from firstfactor.plots import plot_effects, plot_pair

wines = load_wine(as_frame=True)
X = wines.data.rename(columns={"od280/od315_of_diluted_wines": "od280/od315"})
y = wines.target.map({0: "first", 1: "second", 2: "third"}).rename("cultivar")

# %%
# Text, booleans and categories are classes.
# The labels 0, 1, 2 of the original table would be taken for a quantity, with a warning: only you know whether 2 is
# more than 1. ``FIRST(task="classification")`` is the other way to say it.

selector = FIRST(rule="calibrated", random_state=0).fit(X, y)
print(selector.task_, selector.classes_)
print(selector.indices_)

# %%
# What is explained here is the Gini impurity: the chance that two wines drawn at random are of different cultivars.
# Seven of the 13 measurements are selected, and together they explain nearly all of it.

low, high = selector.indices_.r2_interval()
print(f"explained: {selector.r2_ceiling_:.2f}, 95 % interval from {low:.2f} to {high:.2f}")

# %%
# Each importance is small, because the information of the seven overlaps.
# The pale bars show what each explains alone: up to 64 %.

selector.plot()
plt.show()

# %%
# How the classes differ
# ----------------------
# Each colour is one cultivar, each line its share.

plot_effects(X, y, selector)
plt.show()

# %%
# The dashed lines show what is seen, the thick ones have the other selected factors held fixed.
# Wines with few flavanoids are mostly of the third cultivar.
#
# Two factors at once: the share of the third cultivar over flavanoids and colour.

plot_pair(X, y, selector, "flavanoids", "color_intensity")
plt.show()

# %%
# The third cultivar has few flavanoids and a strong colour.
#
# What the figures mean for a classifier
# --------------------------------------
# The variance that is left over is the smallest Brier score that any classifier can reach with the selected factors:
# the mean over wines of the squared errors of the predicted probabilities, summed over the cultivars.
# Here it is next to that of a logistic regression with all 13 measurements.

classifier = make_pipeline(StandardScaler(), LogisticRegression())
probabilities = cross_val_predict(classifier, X, y, cv=5, method="predict_proba")
errors = pd.get_dummies(y).to_numpy() - probabilities
print(f"logistic regression: {(errors**2).sum(axis=1).mean():.3f}")
impurity = selector.indices_.response_variance
print(f"best possible:       {selector.noise_variance_:.3f}, 95 % interval")
print(f"                     from {(1 - high) * impurity:.3f} to {(1 - low) * impurity:.3f}")

# %%
# The logistic regression is near the best possible.
# With 178 wines, the interval is too wide to say more.
