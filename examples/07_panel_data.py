"""
Panel data: several rows of one person
======================================

Many tables have several rows of one person, batch, site or machine.
Such rows are alike in more than the factors tell. What does that do to the answer?

Here are 50 patients with 20 visits each.
The response depends on the dose, which changes from visit to visit, and on the patient in ways that no column tells.
Age and height are the same at all visits of a patient and have no effect.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from firstfactor import FIRST, DataQualityWarning

rng = np.random.default_rng(0)
n_patients, n_visits = 50, 20
patient = np.repeat(np.arange(n_patients), n_visits)
X = pd.DataFrame(
    {
        "dose": rng.uniform(0, 10, len(patient)),
        "age": rng.uniform(20, 70, n_patients)[patient],
        "height": rng.normal(170, 10, n_patients)[patient],
        "hour": rng.uniform(8, 18, len(patient)),
    }
)
of_patient = rng.normal(size=n_patients)[patient]
y = 0.3 * X["dose"] + of_patient + rng.normal(0, 0.5, len(patient))
variances = {"dose": 0.3**2 * 10**2 / 12, "patient": 1, "noise": 0.5**2}
true_ceiling = variances["dose"] / sum(variances.values())
print(f"true R² ceiling: {true_ceiling:.2f}")

# %%
# Without groups
# --------------
# First, as if the rows had nothing to do with each other. There is a warning; we catch it and print it.

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always", DataQualityWarning)
    without = FIRST(rule="calibrated", random_state=0).fit(X, y)
print(caught[0].message)
print()
print(without.indices_)

# %%
# Age seems to matter most, and the ceiling is far too high.
# Age identifies the patient, so what is due to the patient looks as if age explained it.
# For a new patient it would predict nothing.
#
# With groups
# -----------
# Say which rows belong together.
# Rows of one group are never each other's neighbours, and standard errors take account of the groups.

grouped = FIRST(rule="calibrated", random_state=0).fit(X, y, groups=patient)
print(grouped.indices_)

# %%
# Only the dose is left, as it should be, and there is no warning.
# The ceilings are far apart, and only the interval with groups holds the true one.

for name, fitted in (("without groups", without), ("with groups", grouped)):
    low, high = fitted.indices_.r2_interval()
    print(f"{name}: ceiling {fitted.r2_ceiling_:.2f}, 95 % interval from {low:.2f} to {high:.2f}")

# %%
fig, axes = plt.subplots(2, 1, figsize=(6.4, 5), layout="constrained")
for ax, name, fitted in zip(axes, ("without groups", "with groups"), (without, grouped), strict=True):
    fitted.plot(ax)
    ax.set_title(f"{name}: R² ceiling {fitted.r2_ceiling_:.2f}, true {true_ceiling:.2f}", loc="left")
    ax.set_xlim(0, 1.15)
plt.show()

# %%
# ``rank(table, "y", groups="patient")`` does the same for a table that has a column for it, and so does
# ``firstfactor rank visits.csv --target y --groups patient``.
# For rows in order of time, use blocks, such as months, as groups.
