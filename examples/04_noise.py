"""
Noise: does it find drivers where there are none?
=================================================

The best of many useless factors looks useful by chance.
How often does a selection fall for that?
We draw tables in which nothing depends on anything, and count.

The paper's rule, ``FIRST()``, accepts the best factor if it seems to help at all.
The calibrated rule, ``FIRST(rule="calibrated")``, asks whether it helps more than the best factor would by chance.
:func:`firstfactor.rank` and the command use the calibrated rule unless you say otherwise.
"""

import matplotlib.pyplot as plt
import numpy as np

from firstfactor import FIRST
from firstfactor.problems import friedman

rules = {
    "paper": FIRST(rule="paper", random_state=0),
    "calibrated": FIRST(rule="calibrated", alpha=0.1, random_state=0),
}

# %%
# Nothing to find
# ---------------
# 100 tables with 300 rows and 10 factors, and a response that has nothing to do with them.
# ``choose`` returns which factors ``fit`` would select, without estimating how important they are.

rng = np.random.default_rng(0)
found = {rule: [] for rule in rules}
for _ in range(100):
    X, y = rng.normal(size=(300, 10)), rng.normal(size=300)
    for rule, selector in rules.items():
        found[rule].append(np.count_nonzero(selector.choose(X, y)))
for rule, counts in found.items():
    share = np.mean(np.array(counts) > 0)
    print(f"{rule:>10}: something selected in {share:.0%} of the tables, {np.mean(counts):.1f} factors on average")

# %%
# The paper's rule selects something from nearly every table.
# The calibrated rule does so in about one table of ten, as ``alpha=0.1`` says.
# With ``alpha=0.01`` it would be about one of a hundred.
#
# Something to find
# -----------------
# A rule that never selects anything would pass this test.
# So here are 30 tables in which five of ten factors matter: the Friedman function with noise.

true = np.isin(np.arange(10), friedman.true_factors)
n_true, n_false = ({rule: [] for rule in rules} for _ in range(2))
for seed in range(30):
    X, y = friedman.sample(300, seed=seed)
    for rule, selector in rules.items():
        chosen = selector.choose(X, y)
        n_true[rule].append(np.count_nonzero(chosen & true))
        n_false[rule].append(np.count_nonzero(chosen & ~true))
for rule in rules:
    print(f"{rule:>10}: {np.mean(n_true[rule]):.2f} of 5 true factors found, {np.mean(n_false[rule]):.2f} false ones")

# %%
# The picture shows both: at the left, how many factors are selected from noise; at the right, how many of the true ones
# are found.

fig, (left, right) = plt.subplots(1, 2, figsize=(7.5, 3), layout="constrained")
for offset, rule in ((-0.2, "paper"), (0.2, "calibrated")):
    for ax, counts in ((left, found[rule]), (right, n_true[rule])):
        shares = np.bincount(counts, minlength=6) / len(counts)
        ax.bar(np.arange(len(shares)) + offset, shares, width=0.4, label=rule)
left.set(title="noise: selected factors", xlabel="factors", ylabel="share of tables")
right.set(title="Friedman: true factors found", xlabel="factors")
left.legend(title="rule")
plt.show()

# %%
# If you want the paper's rule and evidence, use ``FIRST(split=True)``.
# It selects on one half of the rows, and estimates importances and p-values on the other.
