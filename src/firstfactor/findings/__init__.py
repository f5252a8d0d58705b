"""Findings: what a colleague would notice about a table before believing a ranking."""
