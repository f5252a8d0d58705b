"""Is there more in what a set of factors leaves of y than chance? Score tests on residuals."""
