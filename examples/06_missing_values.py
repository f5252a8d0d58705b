"""
Missing values: keep the rows
=============================

Every factor has gaps. Do I have to drop rows or fill the gaps in?
No: firstfactor takes "not known" as a value of its own.
No row is lost and nothing is made up.

Five of the ten factors of the Friedman function matter: x1, x7, x8, x9 and x10.
We draw 1,000 rows and remove 30 % of all values at random.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from firstfactor import FIRST
from firstfactor.problems import friedman

complete, y = friedman.sample(1000, seed=0, frame="pandas")
rng = np.random.default_rng(0)
X = complete.mask(rng.uniform(size=complete.shape) < 0.3)
print(X.head().round(2))
print(f"{len(X.dropna())} of {len(X)} rows are complete")

# %%
# Nothing to do
# -------------

selector = FIRST(rule="calibrated", random_state=0).fit(X, y)
print(selector.indices_)

# %%
# All five are found, and no others.
#
# The alternatives
# ----------------
# What if we fill in the mean, or drop incomplete rows?
# The last alternative cannot be had in practice: the table before values were removed.

few = X.dropna()
tables = {"as it is": (X, y), "mean filled in": (X.fillna(X.mean()), y), "complete rows": (few, y[few.index])}
tables["nothing missing"] = complete, y
results = []
for name, (factors, response) in tables.items():
    fitted = FIRST(rule="calibrated", random_state=0).fit(factors, response)
    low, high = fitted.indices_.r2_interval()
    found = ", ".join(sorted(fitted.factor_names_[fitted.selected_], key=lambda factor: int(factor[1:])))
    results.append((name, len(factors), found, fitted.r2_ceiling_, low, high))
results = pd.DataFrame(results, columns=["table", "rows", "selected", "ceiling", "low", "high"]).set_index("table")
print(results.round(2).to_string())

# %%
# - *As it is*: the five true factors, and no others.
# - *Mean filled in*: the five, and in this table two that do not matter, x2 and x3.
# - *Complete rows*: 24 rows are too few; nothing is found.
#
# The ceiling falls from 0.95 to 0.65, and it should: missing values lower what can be explained.
# It is what a model can reach on rows with such gaps.

fig, ax = plt.subplots(figsize=(6.4, 2.4), layout="constrained")
errors = [results["ceiling"] - results["low"], results["high"] - results["ceiling"]]
ax.errorbar(results["ceiling"], results.index, xerr=errors, fmt="o", capsize=4)
ax.set(xlabel="R² ceiling with 95 % interval", xlim=(0, 1))
ax.invert_yaxis()
ax.margins(y=0.2)
plt.show()

# %%
# Values that are missing for a reason
# ------------------------------------
# Sometimes a gap says something itself.
# Here a laboratory test is ordered only for patients who look ill, and its result has nothing to do with how long they
# stay in hospital.

looks_ill = rng.uniform(size=1000) < 0.4
patients = pd.DataFrame({"test": np.where(looks_ill, rng.normal(size=1000), np.nan), "age": rng.uniform(20, 90, 1000)})
days = 3 + 4 * looks_ill + 0.05 * patients["age"] + rng.normal(0, 1.5, 1000)
for name, rows in {"all rows": patients, "rows with a result": patients.dropna()}.items():
    fitted = FIRST(rule="calibrated", random_state=0).fit(rows, days[rows.index])
    shares = ", ".join(f"{factor} {share:.2f}" for factor, share in zip(rows, fitted.importances_, strict=True))
    print(f"{name}: {shares}")

# %%
# From all rows, the test is the most important factor: whether it was made tells how ill a patient is.
# In the rows with a result, nothing of that is left.
# ``missing="drop"`` drops incomplete rows for you, with a warning that says how many; ``missing="error"`` refuses them.
