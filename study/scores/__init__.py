"""How good the stored answers are: the truth, and measures that hold answers against it."""
