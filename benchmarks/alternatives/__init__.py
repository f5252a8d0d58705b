"""How firstfactor compares with other ways to rank and select factors, side by side in one run."""
