"""What a search on a cluster takes: measured on small ones, predicted for large ones."""
