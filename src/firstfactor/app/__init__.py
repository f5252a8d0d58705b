"""The local page of ``firstfactor app``."""
