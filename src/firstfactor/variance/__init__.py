"""Conditional variances E[Var(Y | X_u)], from which everything else is computed."""
