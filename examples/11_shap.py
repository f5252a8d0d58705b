"""
Before and after SHAP
=====================

SHAP values say how a fitted model uses its factors.
What changes if the model gets only the factors that firstfactor selects?

We fit a random forest to the breast cancer table of scikit-learn, once with all 30 columns and once with the selected
ones, and compare what SHAP says.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import shap
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from firstfactor import FIRST

X, y = load_breast_cancer(as_frame=True, return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)


def explain(columns):
    """Fit a forest to some columns; return mean |SHAP| of each, and how well it ranks the test rows."""
    forest = RandomForestClassifier(100, min_samples_leaf=3, random_state=0).fit(X_train[columns], y_train)
    values = shap.TreeExplainer(forest).shap_values(X_test[columns])[..., 1]
    area = roc_auc_score(y_test, forest.predict_proba(X_test[columns])[:, 1])
    return pd.Series(np.abs(values).mean(axis=0), columns).sort_values(ascending=False), area


# %%
# Before: all 30 columns
# ----------------------

before, area_before = explain(list(X.columns))
print(before.head(10).round(3).to_string())
print(f"area under the ROC curve: {area_before:.3f}")

# %%
# Many columns get a little. Radius, perimeter and area carry the same information, and the forest uses now one and now
# another, so they share the credit.
#
# Selecting first
# ---------------
# ``FIRST`` looks at the training rows only, and at no model.

selector = FIRST(rule="calibrated", random_state=0).fit(X_train, y_train)
print(selector.indices_.to_frame().query("importance > 0").round(3).to_string(index=False))
for cluster in selector.clusters_:
    print("any one of these can replace the others:", ", ".join(cluster.factors))

# %%
# After: the selected columns
# ---------------------------

after, area_after = explain(list(selector.get_feature_names_out()))
print(after.round(3).to_string())
print(f"area under the ROC curve: {area_after:.3f}")

# %%
# Side by side
# ------------
# The 14 largest values with all columns, next to those with the selected ones.

both = pd.DataFrame({"all 30 columns": before, "selected columns": after}).sort_values("all 30 columns")
ax = both.tail(14).plot.barh(figsize=(7, 5), width=0.8, xlabel="mean |SHAP value|")
ax.figure.set_layout_engine("constrained")
plt.show()

# %%
# Three columns predict about as well as 30.
# SHAP divides each prediction among the columns that the model has.
# With fewer columns, what went to near copies goes to the one that is left: area and concave points gain most.
#
# Texture is not among the ten largest values with all columns.
# But without it about 5 % of what is explained is lost: no other column replaces it.
#
# SHAP explains a model, and :class:`firstfactor.FIRST` the data. Use the second to choose what goes into the first.
