"""Uncertainty of estimates: standard errors, p-values and allowances for bias."""
