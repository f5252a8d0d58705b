"""The methods that are compared, each as `(X, y, seed) -> Outcome`."""
