"""The command ``firstfactor``."""
