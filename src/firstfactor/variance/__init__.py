"""Conditional variances E[Var(Y | X_u)], from which all other quantities are computed."""
