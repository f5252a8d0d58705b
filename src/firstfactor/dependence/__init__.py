"""Dependence of factors: shares explained alone, clusters, Shapley effects and interactions."""
