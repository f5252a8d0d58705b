"""Tables distributed over the workers of a Dask cluster."""
