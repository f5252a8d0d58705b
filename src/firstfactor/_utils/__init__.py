"""Helpers that every stage may use, and that know nothing of factors."""
