"""Selection of factors: forward selection, elimination, the calibrated rule, stability."""
