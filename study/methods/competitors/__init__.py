"""The methods that the paper compares FIRST with, each as `(X, y, seed) -> Outcome`."""
