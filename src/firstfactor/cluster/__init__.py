"""A table spread over the workers of a Dask cluster."""
