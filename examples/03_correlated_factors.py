"""
Correlated factors: why is the importance of a strong factor 0?
===============================================================

In the breast cancer table of scikit-learn, the mean radius of cell nuclei tells most tumours apart.
Its importance comes out as 0.
Is that a mistake? No: other columns carry the same information.
This example shows how to see that.
"""

import matplotlib.pyplot as plt
import pandas as pd
from scipy.cluster.hierarchy import dendrogram
from sklearn.datasets import load_breast_cancer

from firstfactor import FIRST, total_indices

cells = load_breast_cancer(as_frame=True)
X, y = cells.data, cells.target.map(dict(enumerate(cells.target_names)))
selector = FIRST(rule="calibrated", random_state=0).fit(X, y)
print(", ".join(selector.factor_names_[selector.selected_]))

# %%
# Two numbers for each factor
# ---------------------------
# ``importances_`` are the shares lost without each factor, ``alone_`` the shares that it explains by itself.
# Both are shares of what the selected factors explain together.
# Here are the ten factors that explain most alone.

numbers = pd.DataFrame({"lost without": selector.importances_, "alone": selector.alone_}, index=selector.factor_names_)
print(numbers.sort_values("alone", ascending=False).head(10).round(2))

# %%
# Small in the first column and large in the second: such a factor matters, but others carry the same information.
# ``explain`` says which.

for factor in ["mean radius", "worst perimeter"]:
    print(selector.explain(factor))

# %%
# Clusters
# --------
# ``clusters_`` has the factors that can replace each other.
# ``joint`` is the share that is lost without all of them.
# ``kept`` is how much of that each factor keeps if it replaces all others.

for cluster in selector.clusters_:
    print(f"joint index: {cluster.joint:.2f} ± {cluster.standard_error:.2f}")
    print(pd.Series(cluster.kept, cluster.factors).round(2).to_string())

# %%
# Three columns measure the size of the largest nuclei, and two their texture.
# Any one of them keeps most of their joint index, and one of each is selected, so its importance is the joint index.
# Without the three of size, 14 % of what is explained is lost: concave points carry much of the same information.
#
# You can ask for the joint index of any set of columns.
# This is the same question, for a table of the columns of size and the two other selected factors. The answer agrees.

size = list(selector.clusters_[0].factors)
small = X[[*size, "worst concave points", "mean texture"]]
print(total_indices(small, y, subset=size, variance_estimator="adaptive", uncertainty=True))

# %%
# The tree
# --------
# ``tree_`` shows which factors share information.
# The farther to the left two of them meet, the better they explain each other.
# Columns that measure the same meet far to the left. Selected factors are bold.

fig, ax = plt.subplots(figsize=(7, 7), layout="constrained")
leaves = [selector.tree_.names[i] for i in selector.tree_.leaves]
dendrogram(selector.tree_.linkage, labels=leaves, orientation="right", color_threshold=0, ax=ax)
ax.set_xlabel("1 − dependence: 0 where two factors explain each other fully")
ax.spines[["top", "right", "left"]].set_visible(False)
chosen = set(selector.factor_names_[selector.selected_])
for label in ax.get_yticklabels():
    label.set_fontweight("bold" if label.get_text() in chosen else "normal")
plt.show()

# %%
# Which number to report depends on the question:
#
# - What is lost without this factor, if I have the other selected ones? The importance.
# - What does the response depend on? Clusters and single factors, with joint indices.
# - How should the credit be divided? ``rank(X, y, importance="shapley")`` gives shares that add up to 1.
