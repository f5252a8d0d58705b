"""Which rows are near which: searches for nearest neighbours."""
