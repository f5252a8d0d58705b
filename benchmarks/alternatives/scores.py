"""What an answer is worth where the truth is known."""

import numpy as np


def is_exact(selected, true_factors):
    """Whether the true factors are selected and no others."""
    return set(selected) == set(true_factors)


def is_on_top(importances, true_factors):
    """Whether every true factor is more important than every other."""
    is_true = np.isin(np.arange(len(importances)), true_factors)
    importances = np.asarray(importances)
    return bool(importances[is_true].min() > importances[~is_true].max())


def found_share(selected, true_factors):
    """The share of the true factors that are selected."""
    return len(set(selected) & set(true_factors)) / len(true_factors)


def has_false(selected, true_factors):
    """Whether any selected factor is false."""
    return not set(selected) <= set(true_factors)


def false_share(selected, true_factors):
    """The share of the selected factors that are false; 0 if none is selected."""
    return len(set(selected) - set(true_factors)) / max(len(selected), 1)


def shares(importances):
    """Importances divided by their sum, negative ones as 0; all 0 if none is positive."""
    positive = np.maximum(importances, 0.0)
    return positive / (positive.sum() or 1.0)


def distance(importances, true_indices):
    """How far shares are from the true ones: 0 if all are right, 1 if all went to factors that have none."""
    return float(np.abs(shares(importances) - shares(true_indices)).sum() / 2)
