"""Score tests on residuals, for whether factors add more to a base than chance would."""
