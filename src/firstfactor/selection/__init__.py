"""Which factors: forward selection, elimination, the calibrated rule, stability."""
