"""
A first look: what does the response depend on?
===============================================

You have a table and one column that you want to explain.
On which of the other columns does it depend, how much, and how much can any model explain?
:func:`firstfactor.rank` answers all three and needs only your data.

The table has 442 patients with diabetes.
The response is how far the disease had progressed a year later.
The factors are age, sex, body mass index, blood pressure and six blood measurements.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes

from firstfactor import rank
from firstfactor.plots import plot_effects

table = load_diabetes(as_frame=True, scaled=False).frame.rename(
    columns={
        "bp": "blood pressure",
        "s1": "cholesterol",
        "s2": "ldl",
        "s3": "hdl",
        "s4": "cholesterol / hdl",
        "s5": "log triglycerides",
        "s6": "glucose",
        "target": "progression",
    }
)
print(table.iloc[:5, :6])

# %%
# From the table to the answer
# ----------------------------
# Give the table and the name of the column to explain.
# A path, such as ``rank("patients.csv", "progression")``, works too.

ranking = rank(table, "progression")
print(ranking)

# %%
# Four of the ten factors are selected.
# The **importance** of a factor is the share of the explainable variance that no model could reach without it.
# The **p-values** are the probability of such an effect if the factor adds nothing.
# The others have importance 0: there is not enough evidence for them beside these four.
#
# How well could any model do?
# The **R² ceiling** is the best R² that any model can reach with the selected factors.

low, high = ranking.indices.r2_interval()
print(f"R² ceiling: {ranking.indices.r2_ceiling:.2f}, 95 % interval from {low:.2f} to {high:.2f}")

# %%
# These four factors can explain about half of the variance of the response.
# If the R² of a model of the four is well above this interval, it was measured on rows that the model has seen.
#
# The picture
# -----------
# Dark bars are importances with 95 % intervals.
# Pale bars show what each factor explains alone.

ranking.plot()
plt.show()

# %%
# For the first three factors the pale bar is much longer than the dark one: their information overlaps.
# That is also why importances need not add up to 1.
#
# Why was a factor left out?
# --------------------------
# ``explain`` says it in a sentence.

for factor in ["blood pressure", "cholesterol / hdl", "sex"]:
    print(ranking.explain(factor))

# %%
# The ratio of cholesterol to hdl is related to the response: alone it explains 40 % of what the four selected factors
# explain together. But these 442 rows are not enough evidence that it adds anything to the four.
# That is no proof that it adds nothing; more rows could show it.
#
# What do the effects look like?
# ------------------------------
# Each dot is a patient. The line is the mean of the response in bins of about as many rows each.

plot_effects(table.drop(columns="progression"), table["progression"], ranking.indices)
plt.show()

# %%
# The response rises with triglycerides, body mass index and blood pressure.
# ``ranking.report("report.html")`` writes all of this to one page that you can send to a colleague.
